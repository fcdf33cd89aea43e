import AttributeValues
import Testing
@testable import Timelines

@Suite("Drawn motions")
struct TrajectoryTests {
    @Test("samples are JSON with 17 significant digits that read back as the same doubles")
    func json() throws {
        let trajectory = Trajectory(from: 0, to: 1, animation: .bouncy)
        let line = trajectory.json(at: 0.1)
        #expect(line.hasPrefix(#"{"t":0.10000000000000001,"value":0.42330212307456"#))
        let value = try JSONParser.parseOnce(Array(line.utf8))
        let state = trajectory.state(at: 0.1)
        #expect(value.real("value") == state.value && value.real("velocity") == state.velocity && value.real("t") == 0.1)
        #expect(text17(1e300) == "1.0000000000000001e+300" && text17(-0.5) == "-0.5" && text17(0) == "0")
    }

    @Test("a change is read from its text, commas in its curve included")
    func change() throws {
        let change = try Trajectory.Change("at=0.1,to=-2,curve=spring(duration: 0.5, bounce: 0.3).delay(0.2),mode=chain")
        #expect(change == Trajectory.Change(time: 0.1, target: -2, animation: try Animation("spring(duration: 0.5, bounce: 0.3).delay(0.2)"), mode: .chain))
        #expect(try Trajectory.Change("at=0,to=1").animation == .default)
        for text in ["", "at=1", "to=1", "at=x,to=1", "at=-1,to=1", "at=1,to=inf", "at=1,to=1,mode=x", "at=1,to=1,bounce=2", "at=1,at=2,to=1", "at=1,to=1,curve=spring(", "at=nan,to=1"] {
            #expect(throws: AnimationError.self, "\(text)") { try Trajectory.Change(text) }
        }
    }

    @Test("a motion through changes is continuous and ends at the last target")
    func changes() throws {
        var trajectory = Trajectory(from: 0, to: 1, animation: .bouncy)
        trajectory.retarget(try Trajectory.Change("at=0.1,to=2,curve=smooth"))
        trajectory.retarget(try Trajectory.Change("at=0.2,to=0.5,curve=easeInOut(duration: 1)"))
        for time in [0.1, 0.2] {
            let (before, after) = (trajectory.state(at: time.nextDown), trajectory.state(at: time))
            #expect((before.value - after.value).magnitude < 1e-12 && (before.velocity - after.velocity).magnitude < 1e-10)
        }
        #expect((trajectory.end - 1.2).magnitude < 1e-12 && trajectory.state(at: trajectory.end).value == 0.5)
    }

    @Test("a plot shows the whole curve between its labels")
    func plot() throws {
        let text = Trajectory(from: 0, to: 1, animation: .bouncy).plot(width: 40, height: 10)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 13)
        #expect(lines[0].contains("1.05 ┤") && lines[9].contains("0 ┤") && lines[11].hasSuffix("0.86 s"))
        let dots = text.unicodeScalars.filter { (0x2801...0x28FF).contains($0.value) }.count
        #expect(dots > 40, "\(text)")
        // The curve begins at the lower left and ends on its target.
        #expect(lines[9].dropFirst(6).first != " ")
    }

    @Test("plots and pictures of any animation have finite size", arguments: AnimationTextTests.examples + ["spring(duration: 1, bounce: 1)", "linear(duration: 0)"])
    func finite(text: String) throws {
        for (from, to) in [(0.0, 1.0), (3, 3), (-1e300, 1e300), (1e-300, 0)] {
            let trajectory = Trajectory(from: from, to: to, velocity: 1, animation: try Animation(text))
            #expect(trajectory.plot().split(separator: "\n").count == 14)
            let svg = trajectory.svg(title: "a < b")
            #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n") && svg.contains("a &lt; b") && !svg.contains("nan") && !svg.contains("inf"))
        }
    }

    @Test("an animation cache gives what reading gives, and forgets before it grows")
    func cache() throws {
        var cache = AnimationCache()
        for i in 0..<3000 { #expect(try cache.animation("linear(duration: \(i))").duration == Double(i)) }
        #expect(try cache.animation("bouncy") == .bouncy)
        #expect(throws: AnimationError.self) { try cache.animation("bounc") }
    }
}
