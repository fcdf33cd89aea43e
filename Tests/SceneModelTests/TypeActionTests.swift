import SceneModel
import Testing

@Suite("Actions of types in documents")
struct TypeActionTests {
    @Test(
        "a mistake is told where it is",
        arguments: [
            (
                "state: { n: 0 }, actions: { n: { add: { $n: 1 } } }", "",
                "the node has an attribute 'n' already, a state"
            ),
            ("state: { n: 0 }, actions: { go: { add: { $m: 1 } } }", "", "no enclosing node has an attribute 'm'"),
            (
                "state: { n: 0 }, computed: { m: n }, actions: { go: { add: { $m: 1 } } }", "",
                "'$m' cannot be written: 'm' is computed"
            ),
            (
                "state: { n: 0 }, actions: { go: { of: n, perform: { add: { $n: 1 } } } }", "",
                "an action has no key 'of'"
            ),
            ("state: { n: 0 }, actions: { go: { add: { $n: 1 } } }", "do: $t.gone", "T has no action 'gone'"),
            ("state: { n: 0 }, actions: { go: { add: { $n: 1 } } }", "do: '$l[id=x].gone'", "T has no action 'gone'"),
            (
                "state: { n: 0 }, actions: { go: { add: { $n: 1 } } }", "do: $x.go",
                "'$x.go' is no action: 'go' is to be one of a string"
            ),
        ]) func mistakes(type: String, step: String, message: String)
    {
        let node =
            step.isEmpty
            ? "{ id: a }"
            : "{ id: a, state: { t: { type: T }, l: { type: list(T), initial: [] }, x: '' }, actions: { act: { \(step) } } }"
        let found = faults("types: { T: { \(type) } }\nnodes: [\(node)]")
        #expect(found.contains { $0.message.contains(message) }, "\(found.map(\.message))")
    }
}
