import SceneModel

/// The tables of keys in a page: the lines between `<!-- keys: FORM -->` and `<!-- end -->`.
enum SceneReference {
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// The page with its tables made anew.
    static func page(_ text: String) throws -> String {
        var made: [Substring] = []
        var isInTable = false
        var missing = Set(SceneForm.allCases)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "<!-- end -->" { isInTable = false }
            if !isInTable { made.append(line) }
            guard line.hasPrefix("<!-- keys: ") else { continue }
            isInTable = true
            let name = String(line.dropFirst("<!-- keys: ".count).dropLast(" -->".count))
            guard let form = SceneForm(rawValue: name) else { throw Fault(description: "there is no form '\(name)'") }
            missing.remove(form)
            made += ["", "| key | meaning |", "|---|---|"]
            made += SceneGuide.rows(of: form).map { "| `\($0.key)` | \($0.row.meaning) |" }
            made.append("")
        }
        guard missing.isEmpty else {
            let names = missing.map(\.rawValue).sorted().joined(separator: ", ")
            throw Fault(description: "the page has no tables for \(names)")
        }
        return made.joined(separator: "\n")
    }
}
