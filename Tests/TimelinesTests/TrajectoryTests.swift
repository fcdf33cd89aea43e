import AttributeValues
import Testing
@testable import Timelines

@Suite("Drawn motions")
struct TrajectoryTests {
    @Test("samples are a JSON array, numbers with 17 significant digits that read back as the same doubles")
    func json() throws {
        let trajectory = Trajectory(from: 0, to: 1, animation: .bouncy)
        let text = trajectory.json(at: [0.1, 0.7])
        #expect(text.hasPrefix("[\n{\"t\":0.10000000000000001,\"value\":0.42330212307456") && text.hasSuffix("}\n]\n"))
        let values = try #require(try JSONParser.parseOnce(Array(text.utf8)).list)
        #expect(values.count == 2)
        for (value, time) in zip(values, [0.1, 0.7]) {
            let state = trajectory.state(at: time)
            #expect(
                value.real("value") == state.value && value.real("velocity") == state.velocity
                    && value.real("t") == time)
        }
        #expect(text17(1e300) == "1.0000000000000001e+300" && text17(-0.5) == "-0.5" && text17(0) == "0")
        let vertical = Trajectory(from: 0, to: 1, animation: try Animation("circularEaseOut(duration: 1)"))
        #expect(
            vertical.json(at: [0]) == "[\n{\"t\":0,\"value\":0,\"velocity\":null}\n]\n"
                && vertical.json(at: []) == "[]\n")
    }

    @Test(
        "the grid has round times from 0 to just past the end",
        arguments: [
            ("bouncy", 0.01, 0.82), ("linear(duration: 0.7)", 0.01, 0.7), ("linear(duration: 5)", 0.1, 5),
            ("linear(duration: 7)", 0.1, 7),
            ("linear(duration: 12)", 0.2, 12), ("linear(duration: 100)", 2, 100), ("linear(duration: 120)", 2, 120),
            ("linear(duration: 30000)", 500, 30000),
            ("linear(duration: 0.00031)", 5e-6, 0.00031), ("easeIn(duration: 1).repeatForever()", 0.05, 4),
        ])
    func grid(text: String, step: Double, end: Double) throws {
        let grid = Trajectory(from: 0, to: 1, animation: try Animation(text)).grid
        #expect(
            grid.first == 0 && grid[1] == step && (grid[grid.count - 1] - end).magnitude <= 1e-12 * end,
            "\(grid.suffix(2))")
        #expect((51...126).contains(grid.count))
    }

    @Test("a change after a spring has settled continues its formula, and starts anew what starts anew")
    func lateChange() throws {
        for change in ["at=1,to=3", "at=1,to=3,curve=easeIn,mode=additive", "at=1,to=3,curve=easeIn,mode=chain"] {
            var trajectory = Trajectory(from: 0, to: 1, animation: .bouncy)
            let before = trajectory.state(at: 1)
            trajectory.retarget(try Trajectory.Change(change))
            let after = trajectory.state(at: 1)
            #expect(before.value != 1 && before.velocity != 0)
            #expect(
                (before.value - after.value).magnitude < 1e-15 && (before.velocity - after.velocity).magnitude < 1e-15,
                "\(change)")
        }
        // Not eased in, as it would be from a motion.
        var trajectory = Trajectory(from: 0, to: 1, animation: .bouncy)
        trajectory.retarget(try Trajectory.Change("at=1,to=3,curve=linear(duration: 1)"))
        #expect((trajectory.state(at: 1.5).value - 2).magnitude < 1e-4 && trajectory.state(at: 2).value == 3)
    }

    @Test("one easing plays a motion through changes")
    func css() throws {
        var trajectory = Trajectory(from: 10, to: 20, animation: .bouncy)
        #expect(trajectory.css?.easing.hasPrefix("linear(0, ") == true)
        trajectory.retarget(try Trajectory.Change("at=0.1,to=30,curve=linear(duration: 0.9)"))
        let css = try #require(trajectory.css)
        #expect(css.duration == 1000)
        // Between two stops a browser draws a line.
        let stops = css.easing.dropFirst("linear(".count).dropLast().split(separator: ",").map {
            $0.split(separator: " ")
        }
        let points = try stops.enumerated().map { i, stop in
            (
                at: i == 0 ? 0 : i == stops.count - 1 ? 1 : try #require(Double(stop[1].dropLast())) / 100,
                value: try #require(Double(stop[0]))
            )
        }
        var worst = 0.0
        for (a, b) in zip(points, points.dropFirst()) {
            for part in [0, 0.2, 0.4, 0.6, 0.8, 1.0] {
                let drawn = a.value + (b.value - a.value) * part
                let exact = (trajectory.state(at: a.at + (b.at - a.at) * part).value - 10) / 20
                worst = max(worst, (drawn - exact).magnitude)
            }
        }
        #expect(worst <= 1e-3 && worst > 1e-5)
        trajectory.retarget(try Trajectory.Change("at=2,to=10"))
        #expect(trajectory.css == nil)
    }

    @Test("a change is read from its text, commas in its curve included")
    func change() throws {
        let change = try Trajectory.Change(
            "at=0.1,to=-2,curve=spring(duration: 0.5, bounce: 0.3).delay(0.2),mode=chain")
        #expect(
            change
                == Trajectory.Change(
                    time: 0.1, target: -2, animation: try Animation("spring(duration: 0.5, bounce: 0.3).delay(0.2)"),
                    mode: .chain))
        #expect(try Trajectory.Change("at=0,to=1").animation == .default)
        #expect(try Trajectory.Change("at=0,to=1", mode: .additive).mode == .additive)
        #expect(
            try Trajectory.Change(
                #"to=-1, curve={"curve": {"spring": {"duration": 1, "bounce": 0}}, "modifiers": [{"delay": 2}]},at=3"#)
                == Trajectory.Change(
                    time: 3, target: -1, animation: try Animation("spring(duration: 1, bounce: 0).delay(2)"),
                    mode: .merge))
        for text in [
            "", "at=1", "to=1", "at=x,to=1", "at=-1,to=1", "at=1,to=inf", "at=1,to=1,mode=x", "at=1,to=1,bounce=2",
            "at=1,at=2,to=1", "at=1,to=1,curve=spring(", "at=nan,to=1", "at=1e300,to=1", "at=1,to=1,",
            "at=1,to=1,curve={\"", "at=1,to=1,curve",
        ] {
            #expect(throws: AnimationError.self, "\(text)") { try Trajectory.Change(text) }
        }
    }

    @Test(
        "a fault in a change is told with its place in the whole text",
        arguments: [
            ("at=1,to=2,curve=smoth", 16), ("at=1,too=2", 5), ("at=1,to=x", 8), ("at=1,to=1, mode=jump", 16),
            ("at=-1,to=1", 3),
            ("at=1,to=1,curve=spring(duration: 1,\n bouce: 2)", 37),
        ])
    func place(text: String, offset: Int) {
        let error = #expect(throws: AnimationError.self) { try Trajectory.Change(text) }
        #expect(error?.offset == offset && error?.hint != nil)
    }

    @Test("a motion through changes is continuous and ends at the last target")
    func changes() throws {
        var trajectory = Trajectory(from: 0, to: 1, animation: .bouncy)
        trajectory.retarget(try Trajectory.Change("at=0.1,to=2,curve=smooth"))
        trajectory.retarget(try Trajectory.Change("at=0.2,to=0.5,curve=easeInOut(duration: 1)"))
        for time in [0.1, 0.2] {
            let (before, after) = (trajectory.state(at: time.nextDown), trajectory.state(at: time))
            #expect(
                (before.value - after.value).magnitude < 1e-12 && (before.velocity - after.velocity).magnitude < 1e-10)
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

    @Test(
        "plots and pictures of any animation have finite size",
        arguments: AnimationTextTests.examples + ["spring(duration: 1, bounce: 1)", "linear(duration: 0)"])
    func finite(text: String) throws {
        for (from, to) in [(0.0, 1.0), (3, 3), (-1e300, 1e300), (1e-300, 0)] {
            let trajectory = Trajectory(from: from, to: to, velocity: 1, animation: try Animation(text))
            #expect(trajectory.plot().split(separator: "\n").count == 14)
            let svg = trajectory.svg(title: "a < b")
            #expect(
                svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n") && svg.contains("a &lt; b") && !svg.contains("nan")
                    && !svg.contains("inf"))
        }
    }

    @Test("an animation cache gives what reading gives, and forgets before it grows")
    func cache() throws {
        var cache = AnimationCache()
        for i in 0..<3000 { #expect(try cache.lookUp("linear(duration: \(i))").duration == Double(i)) }
        #expect(try cache.lookUp("bouncy") == .bouncy)
        #expect(throws: AnimationError.self) { try cache.lookUp("bounc") }
    }
}
