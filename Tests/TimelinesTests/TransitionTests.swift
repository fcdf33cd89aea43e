import Testing
import Timelines

@Suite("Transitions")
struct TransitionTests {
    @Test(
        "are read as SwiftUI writes them",
        arguments: [
            ("opacity", [.opacity], [.opacity]), (".opacity", [.opacity], [.opacity]), ("identity", [], []),
            ("scale", [.scale(0)], [.scale(0)]), ("scale(0.5)", [.scale(0.5)], [.scale(0.5)]),
            ("slide", [.move(.leading)], [.move(.trailing)]),
            (".move(edge: .top)", [.move(.top)], [.move(.top)]),
            ("offset(x: 3, y: -4)", [.offset(x: 3, y: -4)], [.offset(x: 3, y: -4)]),
            (
                "asymmetric(insertion: slide, removal: opacity.combined(with: scale))", [.move(.leading)],
                [.opacity, .scale(0)]
            ),
            (
                "slide.combined(with: opacity).combined(with: scale(2))", [.move(.leading), .opacity, .scale(2)],
                [.move(.trailing), .opacity, .scale(2)]
            ),
        ] as [(String, [Transition.Effect], [Transition.Effect])])
    func read(_ text: String, _ insertion: [Transition.Effect], _ removal: [Transition.Effect]) throws {
        let transition = try Transition(text)
        #expect(transition.insertion == insertion && transition.removal == removal)
    }

    @Test(
        "a mistake says what to write",
        arguments: [
            (
                "fade",
                "there is no transition 'fade' at character 1; there are identity, opacity, slide, scale, move, offset, asymmetric"
            ),
            ("move", "'move' lacks 'edge' at character 1; it takes move(edge)"),
            ("move(edge: left)", "move needs an edge at character 1; edges are top, leading, bottom, trailing"),
            ("scale(big)", "'scale' of 'scale' is 'big' at character 7; it takes a number"),
            ("opacity(1)", "'opacity' takes no arguments at character 9; it takes opacity"),
            ("opacity.delay(1)", "there is no modifier of a transition 'delay' at character 9; there are combined"),
            (
                "opacity.combined(fade: 1)",
                "'combined' has no argument 'fade' here at character 18; it takes combined(with)"
            ),
            (
                "asymmetric(insertion: slide)",
                "'asymmetric' lacks 'removal' at character 1; it takes asymmetric(insertion, removal)"
            ),
        ])
    func mistakes(_ text: String, _ message: String) {
        #expect {
            try Transition(text)
        } throws: { "\($0)" == message }
    }
}
