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

    @Test(
        "a text without quotes that names an attribute is a warning; what says that it is a text is none",
        arguments: [
            ("title", "'title' is a text here, but names an attribute"), ("episode.title", "'episode.title' is a"),
            ("'title'", nil), ("\"title\"", nil), ("titel", nil),
            ("Title", nil), ("=title", nil), ("{ $typed: { string: title } }", nil),
        ])
    func forgottenSigns(_ text: String, _ message: String?) throws {
        let outer = "nodes:\n  - id: a\n    state: { title: x, episode: { title: y }, items: [1] }\n"
        let read = try scene("\(outer)    tag: \(text)\n    children: [{ id: b, let: { v: \(text) } }]\n")
        let told = read.warnings?.lineByLine ?? []
        guard let message else { return #expect(told == []) }
        #expect(told.count == 2 && told.allSatisfy { $0.contains(message.drop { $0 != "'" }) }, "\(told)")
        #expect(told.first?.contains("write =\(text) or $\(text) for its value, or \"\(text)\" for the text") == true)
        #expect(read.warnings?.description.contains(":4:10: warning: '\(text)' is a text here") == true)
    }

    @Test(
        "a rule that YAML has cut needs quotes; one that is wrong by itself needs none",
        arguments: [
            ("t + ' # x'", "YAML ends the rule at the #: put quotes around it"),
            ("a +   # more", "at the #: put quotes"),
            ("a +", nil), ("$a # more", nil), ("/top.a # more", nil),
        ])
    func cutRules(_ rule: String, _ hint: String?) {
        let told = onlyFault("nodes:\n  - id: top\n    state: { a: 1, t: x }\n    computed:\n      c: \(rule)\n")
        #expect(hint.map { told.contains($0) } ?? !told.contains("put quotes around it"), "\(told)")
    }

    @Test(
        "a name that is known elsewhere is told with how to use it here",
        arguments: [
            (
                "computed: { c: a * 2 }",
                "undeclared reference to 'a' | computed reads the node's own attributes: give the node let: { a: $a } too"
            ),
            ("let: { c: =own + 1 }", "undeclared reference to 'own' | 'own' is the node's own"),
            ("let: { c: $own }", "no enclosing node has an attribute 'own' | 'own' is the node's own"),
            ("binding: { c: $own }", "no enclosing node has an attribute 'own' | 'own' is the node's own"),
            ("forEach: { in: $own, node: {} }", "no enclosing node has an attribute 'own' | 'own' is the node's own"),
            ("children: [{ if: a2 > 1, then: [] }]", "undeclared reference to 'a2' | did you mean 'a'?"),
        ])
    func otherNames(_ part: String, _ message: String) {
        let told = onlyFault(
            "nodes: [{ id: top, state: { a: 1 }, children: [{ id: x, state: { own: [] }, \(part) }] }]")
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
