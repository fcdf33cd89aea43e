import AttributeValues
import TestSupport
import Testing
@testable import Timelines

@Suite("Animations in text and JSON")
struct AnimationTextTests {
    static let examples = [
        "default", "linear(duration: 0.35)", "easeIn(duration: 1)", "easeOut(duration: 0.2)",
        "easeInOut(duration: 1).delay(0.2)",
        "circularEaseIn(duration: 0.35)", "circularEaseOut(duration: 2)", "circularEaseInOut(duration: 0.5)",
        "timingCurve(0.1, 0.2, 0.3, 1, duration: 1)", "timingCurve(0.68, -0.55, 0.265, 1.55, duration: 0.35)",
        "spring(duration: 0.5, bounce: 0.3)", "spring(response: 0.3, dampingFraction: 0.8)",
        "spring(stiffness: 100, damping: 10)",
        "spring(mass: 2, stiffness: 50, damping: 1)", "smooth", "snappy(duration: 0.25, extraBounce: 0.2)", "bouncy",
        "interactiveSpring(response: 0.15, dampingFraction: 0.86)", "interactiveSpring(duration: 0.15)",
        "interpolatingSpring(stiffness: 170, damping: 26, initialVelocity: 3)",
        "interpolatingSpring(duration: 0.5, bounce: 0.1)",
        "interpolatingSpring(stiffness: 170, damping: 26, initialVelocity: 3).delay(0.2)",
        "bouncy.speed(2).delay(1).repeatCount(3)", "linear(duration: 1).repeatCount(4, autoreverses: false)",
        "easeIn(duration: 1).repeatForever(autoreverses: reverse)", "bouncy.repeatCount(4, every: 1)",
        "easeInOut(duration: 0.35).repeatForever",
        "smooth.logicallyComplete(after: 0.1).delay(1e-05)",
        "keyframes(linear(0.5, duration: 0.2), cubic(1.2, duration: 0.3, startVelocity: 0, endVelocity: -1), spring(1, duration: 0.5, spring: bouncy, startVelocity: 2), move(0), linear(1, duration: 0.25, timingCurve: easeInOut))",
        "phases(phase(1.2, animation: easeOut(duration: 0.1)), phase(1, animation: bouncy.delay(0.05)))",
        "easeInOut(duration: 1).retarget(chain)", "bouncy.retarget(additive).delay(0.5)",
        "linear(duration: 1).retarget(merge)",
    ]

    @Test("a printed animation is read back equal, as text and as JSON", arguments: examples)
    func roundTrip(text: String) throws {
        let animation = try Animation(text)
        #expect(animation.description == text)
        #expect(try Animation(animation.description) == animation)
        #expect(try Animation(animation.json) == animation)
        #expect(try Animation(JSONParser.parseOnce(Array(animation.json.jsonText.utf8))) == animation)
        #expect(try Animation(.string(text)) == animation)
    }

    @Test("random animations read back equal in both forms")
    func randomRoundTrip() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            var animation = try randomAnimation(&random)
            if let mode = random.pick([nil, Timeline.Retargeting.merge, .additive, .chain]) {
                animation = try animation.adding(.retarget(mode))
            }
            #expect(try Animation(animation.description) == animation, "seed \(seed): \(animation)")
            #expect(try Animation(animation.json) == animation, "seed \(seed): \(animation)")
        }
    }

    @Test("the JSON form is the one of the specification")
    func jsonForm() throws {
        let animation = try Animation("easeInOut(duration: 1).delay(0.2)")
        #expect(animation.json.jsonText == #"{"curve":{"easeInOut":{"duration":1}},"modifiers":[{"delay":0.2}]}"#)
        let bare = try JSONParser.parseOnce(
            Array(#"{"curve": "bouncy", "modifiers": ["repeatForever", {"delay": {"seconds": 1}}]}"#.utf8))
        #expect(try Animation(bare) == Animation("bouncy.repeatForever.delay(1)"))
    }

    @Test(
        "a dot or the type's name in front, empty parentheses and white space change nothing",
        arguments: [
            ("bouncy", " .bouncy() "), ("bouncy.delay(1)", "Animation.bouncy\n  .delay( 1.0 )"),
            ("spring(response: 0.5, dampingFraction: 0.825)", "spring()"),
            ("easeInOut(duration: 0.35)", "easeInOut"),
            ("spring(duration: 0.5)", "spring(duration: 0.5, bounce: 0, blendDuration: 0.2)"),
            ("linear(duration: 0.35).repeatCount(2)", "linear.repeatCount(2, autoreverses: true)"),
            ("linear(duration: 0.5)", ".linear(duration: .5e0)"),
        ])
    func sameMeaning(canonical: String, written: String) throws {
        #expect(try Animation(written).description == canonical)
    }

    @Test(
        "an error says what is wrong, where, and what to write instead",
        arguments: [
            ("bounci", "there is no curve 'bounci' at character 1; did you mean 'bouncy'?"),
            ("bouncy.dely(1)", "there is no modifier 'dely' at character 8; did you mean 'delay'?"),
            (
                "spring(durration: 1)",
                "'spring' has no argument 'durration' here at character 8; did you mean 'duration'? it takes spring(response:, dampingFraction:, blendDuration:) or spring(duration:"
            ),
            (
                "easeIn(1)",
                "an argument of 'easeIn' lacks its label or is one too many at character 8; it takes easeIn(duration:)"
            ),
            ("spring(stiffness: 1)", "'spring' lacks 'damping' at character 1"),
            ("linear(duration: -1)", "a duration is -1 at character 8; it is 0 to 31622400 seconds"),
            ("linear(duration: 1e999)", "1e999 is too great at character 18"),
            ("linear(duration: bouncy)", "'duration' of 'linear' is 'bouncy' at character 8; it takes a number"),
            ("spring(duration: 0.5, bounce: -1)", "a spring's bounce is -1 at character 1; it is greater than -1"),
            ("timingCurve(2, 0, 1, 1)", "a control point's x1 is 2 at character 13; it lies between 0 and 1"),
            ("timingCurve(0, 0, 1)", "'timingCurve' lacks 'y2'"),
            ("delay(1)", "an animation begins with a curve, not with the modifier 'delay' at character 1"),
            ("linear(duration: 1", "expected ',' or ')', but the text ends at character 19"),
            ("linear)", "expected the end, or a dot and a modifier, not ')' at character 7"),
            ("", "expected the name of a curve or modifier, but the text ends at character 1"),
            ("linear.speed(0)", "a speed is 0 at character 14"),
            ("linear.repeatCount(0)", "a repeat count is 0 at character 8"),
            ("linear.repeatCount(1.5)", "a repeat count is 1.5 at character 8"),
            ("linear(duration: 0).repeatForever", "the repeated animation has no length at character 1"),
            ("spring(duration: 1, bounce: 1).repeatCount(2)", "the repeated animation never ends at character 1"),
            ("linear.repeatForever(autoreverses: maybe)", "'autoreverses' is 'maybe' at character 22"),
            ("linear.retarget(add)", "'retarget' is given 'add' at character 17; it takes merge, additive or chain"),
            (
                "phases(phase(1, animation: linear.retarget(chain)))",
                "the animation of a phase has no retarget at character 1"
            ),
            ("phases(phase(1, animation: linear.repeatForever))", "a phase cannot repeat forever at character 1"),
            ("keyframes()", "an animation has 1 to 256 keyframes, not 0 at character 1"),
            ("linear(duration: 1, duration: 2)", "'linear' is given 'duration' twice at character 21"),
        ])
    func errors(text: String, message: String) {
        #expect { try Animation(text) } throws: { error in
            let shown = (error as? AnimationError)?.description ?? ""
            if !shown.hasPrefix(message) { Issue.record("\(text): \(shown)") }
            return shown.hasPrefix(message)
        }
    }

    @Test(
        "an error in JSON points at its place",
        arguments: [
            (#"{"curve": {"easeInOut": {"duratoin": 1}}}"#, "/curve/easeInOut/duratoin"),
            (#"{"curve": "bounce"}"#, "/curve"),
            (#"{"curve": "linear", "modifiers": [{"delay": 1}, {"sped": 2}]}"#, "/modifiers/1"), (#"{"kurve": 1}"#, ""),
            (#"{"curve": {"linear": {"duration": -1}}}"#, "/curve/linear/duration"),
            (#"7"#, ""), (#"{"curve": {"linear": {}, "bouncy": {}}}"#, "/curve"),
        ])
    func jsonErrors(text: String, pointer: String) throws {
        let value = try JSONParser.parseOnce(Array(text.utf8))
        #expect { try Animation(value) } throws: { ($0 as? AnimationError)?.pointer == pointer }
    }

    @Test("nesting, lists and texts without end are refused")
    func bounded() {
        let deep =
            String(repeating: "phases(phase(1, animation: ", count: 1000) + "linear"
            + String(repeating: "))", count: 1000)
        #expect(throws: AnimationError.self) { try Animation(deep) }
        #expect(throws: AnimationError.self) { try Animation("linear" + String(repeating: ".delay(1)", count: 17)) }
        #expect(throws: AnimationError.self) {
            try Animation("keyframes(" + Array(repeating: "move(1)", count: 300).joined(separator: ",") + ")")
        }
        #expect(throws: AnimationError.self) { try Animation(String(repeating: " ", count: 70_000) + "linear") }
        var nested: Value = "linear"
        for _ in 0..<100 { nested = ["curve": ["phases": [["phase": ["to": 1, "animation": nested]]]]] }
        #expect(throws: AnimationError.self) { try Animation(nested) }
    }

    @Test("any bytes are read or refused, never more")
    func fuzz() {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        let words = [
            "linear", "spring", "(", ")", ".", ",", ":", "duration", "bounce", "1", "-0.5", "1e400", "delay", "é", " ",
            "phases", "phase", "keyframes", "true", "nan", "-", "e",
        ]
        var accepted = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in random.pick(words) }.joined()
            guard let animation = try? Animation(text) else { continue }
            accepted += 1
            let state = Timeline(from: 0, to: 1, animation: animation, start: 0).exactState(at: 0.1)
            #expect(state.value.isFinite, "seed \(seed): \(text)")
        }
        #expect(accepted > 0)
    }
}

func randomAnimation(_ random: inout SeededGenerator, repeats: Bool = true) throws -> Animation {
    let duration = random.real(0.05...2)
    let curve: Curve =
        switch Int.random(in: 0..<9, using: &random) {
        case 0:
            .timing(
                random.pick([.linear, .easeIn, .easeOut, .easeInOut, .circularEaseIn, .circularEaseInOut]),
                duration: duration)
        case 1:
            .timing(
                .bezier(
                    CubicBezier(random.real(0.1...1), random.real(-1...2), random.real(0...0.95), random.real(-1...2))),
                duration: duration)
        case 2: .spring(SpringCurve(.spring, .duration(duration, bounce: random.real(-0.9...0.95))))
        case 3: .spring(SpringCurve(.spring, .response(duration, dampingFraction: random.real(0.1...3))))
        case 4:
            .spring(
                SpringCurve(
                    .interpolatingSpring,
                    .physical(
                        mass: random.real(0.5...2), stiffness: random.real(50...500), damping: random.real(5...60))))
        case 5:
            .spring(
                random.pick([
                    .standard, SpringCurve(.smooth, .duration(0.5, bounce: 0)),
                    SpringCurve(.bouncy, .duration(duration, bounce: 0.1)),
                    SpringCurve(.snappy, .duration(0.5, bounce: 0)),
                ]))
        case 6:
            .keyframes([
                .linear(to: random.real(0...1), duration: duration, timing: .easeIn),
                .cubic(to: random.real(0...2), duration: duration),
                .spring(to: 1, duration: 1, spring: SpringCurve(.bouncy, .duration(0.5, bounce: 0))),
            ])
        case 7:
            .phases([
                Phase(to: random.real(0...2), try Animation(.timing(.easeOut, duration: duration))),
                Phase(to: 1, .bouncy),
            ])
        default: .spring(SpringCurve(.spring, .duration(duration, bounce: 0)))
        }
    var modifiers: [Modifier] = []
    while modifiers.count < 3, Int.random(in: 0..<3, using: &random) == 0 {
        switch Int.random(in: 0..<(repeats ? 5 : 2), using: &random) {
        case 0: modifiers.append(.speed(random.real(0.5...3)))
        case 1: modifiers.append(.delay(random.real(0...0.5)))
        case 2:
            modifiers.append(
                .repeatCount(
                    Int.random(in: 1...4, using: &random), autoreverses: random.pick([.none, .mirror, .reverse]),
                    every: random.pick([nil, 0.5])))
        case 3: modifiers.append(.logicallyComplete(after: random.real(0...1)))
        default:
            modifiers.append(
                .repeatForever(autoreverses: random.pick([.none, .mirror, .reverse]), every: random.pick([nil, 1])))
        }
    }
    return (try? Animation(curve, modifiers: modifiers)) ?? .default
}
