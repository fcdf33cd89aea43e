import SceneModel
import Testing

/// What people write who know other languages.
@Suite("Words of other languages")
struct HintTests {
    @Test(
        "a rule that is wrong here is told with what to write",
        arguments: [
            ("$a + 1", "unexpected '$'; a rule names an attribute without it"),
            ("len(t)", "undeclared reference to 'len' | write size(x)"),
            ("t.lenght()", "undeclared reference to 'lenght' | write size(x)"),
            ("t.length", "type 'string' does not support field selection | write size(x)"),
            ("t.siz()", "undeclared reference to 'siz' | did you mean 'size'?"),
            ("a ?? 2", "| there is no ??: write a != null ? a : b"),
            ("now()", "undeclared reference to 'now' | a clock tells the time"),
            ("max(a, 2)", "undeclared reference to 'max' | write math.greatest(a, b)"),
            ("a and a", "| 'and' is written &&"),
            ("a = 1", "unexpected '='; equality is '=='"),
            ("$/top", "'$/top' names no attribute | name one of the node's, as $/top.value"),
        ])
    func rules(_ rule: String, _ message: String) {
        let told = onlyFault("nodes:\n  - id: top\n    state: { a: 1, t: x }\n    computed:\n      c: \(rule)\n")
        #expect(told.contains(message), "\(told)")
    }

    @Test("check tells rules that always read each other in a circle, and lets others pass") func cycles() throws {
        var context = SceneContext()
        context.refusesCycles = true
        func faults(_ rules: String) -> [String] {
            do throws(SceneFaults) {
                _ = try SceneReader.read(
                    text: "nodes: [{ id: top, state: { x: true }, computed: { \(rules) } }]", context: context)
                return []
            } catch { return error.faults.map(\.message) }
        }
        #expect(faults("a: b + 1, b: c + 1, c: a + 1") == ["rules read each other in a circle: a → b → c → a"])
        #expect(faults("a: a + 1") == ["rules read each other in a circle: a → a"])
        #expect(faults("a: 'x ? 1 : b', b: a + 1") == [], "it may end")
        #expect(faults("a: previous(b), b: 'a == null ? 1 : 2'") == [])
        _ = try scene("nodes: [{ id: top, computed: { a: b + 1, b: a + 1 } }]")
    }
}
