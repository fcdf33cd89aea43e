import SceneModel
import Testing

@Suite("Names and texts for people")
struct WordsTests {
    @Test(
        "an id is words, with abbreviations in capitals",
        arguments: [
            ("busiestCore", "Busiest core"), ("cpu0", "CPU0"), ("isOK", "Is OK"), ("web-01", "Web 01"),
            ("10.0", "10.0"),
        ])
    func words(_ id: String, _ text: String) { #expect(Words.of(id) == text) }

    @Test("names in braces are found, and other braces are text")
    func placeholders() {
        #expect(Placeholders.names(in: #"{a} \{b} {c.d["e"]} { f } {1} {} {g"#) == ["a", #"c.d["e"]"#])
        #expect(Placeholders.pieces(of: "x {a}{b}.") == [.text("x "), .name("a"), .name("b"), .text(".")])
        #expect(Placeholders.pieces(of: "") == [])
    }
}
