import AttributeValues
import Testing

@testable import SceneModel

@Suite("Objects and numbers as they are written")
struct WrittenValueTests {
    private static let types = """
        types:
          Author: { state: { name: unknown, born: 0 } }
          Article: { state: { title: "", author: { type: Author, initial: { name: Default } }, editor: { type: "Author?" } } }

        """

    @Test(
        "mistakes in an object inside an object are found",
        arguments: [
            ("{ author: { nam: Ada } }", "6:47 Author has no stored property 'nam' | did you mean 'name'?"),
            ("{ author: { born: soon } }", "6:47 'born' of Author is an int, not the text 'soon'"),
            ("{ author: 5 }", "6:39 an object of type Author starts from a map of its properties, not the int 5"),
            ("{ editor: { nam: Ada } }", "6:47 Author has no stored property 'nam' | did you mean 'name'?"),
        ])
    func nested(initial: String, fault: String) {
        let text =
            WrittenValueTests.types + "nodes:\n  - { id: n, state: { a: { type: Article, initial: \(initial) } } }"
        let found = onlyFault(text)
        #expect(found.drop { $0 != " " } == fault.drop { $0 != " " })
    }

    @Test("an object of a key's default is checked")
    func defaults() {
        let text = WrittenValueTests.types + "keys: { environment: { by: { type: Author, default: { nam: Ada } } } }"
        #expect(onlyFault(text).hasSuffix("Author has no stored property 'nam' | did you mean 'name'?"))
    }

    @Test(
        "a number that no type holds is a fault, and what has no number's form a text",
        arguments: [
            ("99999999999999999999", nil), ("-9223372036854775809", nil), ("1e999", nil), ("0x10000000000000000", nil),
            ("18446744073709551615", "18446744073709551615"), ("0xFFFFFFFFFFFFFFFF", "18446744073709551615"),
            ("0x1F", "31"), ("0o17", "15"),
            ("0x-5", #""0x-5""#), ("0o+7", #""0o+7""#), ("0x", #""0x""#), ("0o8", #""0o8""#),
            ("-9223372036854775808", "-9223372036854775808"),
            ("1e-999", "0.0"), ("1.2.3", #""1.2.3""#), ("'1e999'", #""1e999""#),
        ] as [(String, String?)])
    func numbers(text: String, value: String?) throws {
        let document = "nodes:\n  - id: n\n    state: { s: \(text) }"
        guard let value else {
            #expect(onlyFault(document).hasPrefix("3:17 the number is out of range"))
            return
        }
        guard case .state(let initial, _) = try scene(document).node("n").attribute("s").role else { return }
        #expect(initial.jsonText == value)
    }

    @Test("a mistake is named in plain words, and bytes with the form in which they are written")
    func words() {
        #expect(
            onlyFault("nodes: [{ id: n, state: { s: { type: uint, initial: -1 } } }]").hasSuffix(
                "the initial value is the int -1, not a uint"))
        #expect(
            onlyFault("nodes: [{ id: n, state: { s: { type: bytes, initial: aGk= } } }]")
                .hasSuffix(
                    "the initial value is the text 'aGk=', not bytes | bytes are written in base64, as !!binary aGk="))
    }
}
