import AttributeValues
import Testing

@Suite("Patterns that cover others")
struct PatternCoverTests {
    @Test(
        "a pattern covers what lies within it",
        arguments: [
            ("/**", "/"), ("/**", "/a/b.c"), ("/**", "/**/x.v"), ("/a/**", "/a"), ("/a/**", "/a.x"), ("/a/**", "/a/**"),
            ("/a/**", "/a/*/b"),
            ("/a/**", "/a/b/**.load"), ("/hosts/*.load", "/hosts/a.load"), ("/hosts/*.load", "/hosts/*.load"),
            ("/hosts/*", "/hosts/*.load"),
            ("/**/x", "/a/b/x.v"), ("/**/x", "/**/a/x"), ("/*/**", "/*/**"), ("/a/**/b/**", "/a/b/c/b"),
            ("/a.x", "/a.x.deep[0]"),
            ("/\"a.b\"/*", "/\"a.b\"/c"), ("/**.v", "/a/**.v"),
        ])
    func covered(pattern: String, other: String) throws { #expect(try PathPattern(pattern).covers(PathPattern(other))) }

    @Test(
        "a pattern does not cover what may reach beyond it",
        arguments: [
            ("/a/**", "/**"), ("/a/**", "/*/x"), ("/a/**", "/ab"), ("/a", "/a/b"), ("/a/b", "/a"),
            ("/hosts/*", "/hosts/**"), ("/hosts/*", "/hosts"),
            ("/hosts/*.load", "/hosts/*"), ("/hosts/*.load", "/hosts/a.name"), ("/hosts/*.load", "/hosts/a/b.load"),
            ("/*/**", "/**"),
            ("/**/x", "/**"), ("/**/x", "/**/*"), ("/a/*/c", "/a/**/c"), ("/", "/a"), ("/.x", "/"),
        ])
    func beyond(pattern: String, other: String) throws { #expect(try !PathPattern(pattern).covers(PathPattern(other))) }

    @Test("a covering pattern matches every node of the covered one") func sound() throws {
        var ids: [[String]] = [[]]
        for first in ["a", "b"] {
            ids.append([first])
            for second in ["a", "b"] {
                ids.append([first, second])
                for third in ["a", "b"] { ids.append([first, second, third]) }
            }
        }
        let words = ["a", "b", "*", "**"]
        var texts = ["/"]
        for first in words {
            texts.append("/\(first)")
            for second in words {
                texts.append("/\(first)/\(second)")
                for third in words { texts.append("/\(first)/\(second)/\(third)") }
            }
        }
        let patterns = try texts.map { try PathPattern($0) }
        for wide in patterns {
            for narrow in patterns where wide.covers(narrow) {
                for nodes in ids where narrow.matches(nodes: nodes.names) {
                    #expect(wide.matches(nodes: nodes.names), "\(wide) covers \(narrow), which matches \(nodes)")
                }
            }
        }
    }

    @Test("a node's subtree and an attribute are patterns, too") func made() throws {
        #expect(PathPattern(subtreeAt: ["a", "b"]) == (try PathPattern("/a/b/**")))
        #expect(PathPattern.everything == (try PathPattern("/**")))
        #expect(PathPattern(attributesAt: try AttributePath("/a.x[0].y")) == (try PathPattern("/a.x")))
        #expect(PathPattern(attributesAt: try AttributePath("/a")) == (try PathPattern("/a")))
    }
}
