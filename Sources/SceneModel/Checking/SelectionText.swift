import AttributeValues

struct SelectionText {
    /// The rule, with a list in the place of each reference.
    private(set) var rule = ""
    private(set) var targets: [Selection.Target] = []
    /// The reason why the text is no selection; nil if it is one.
    private(set) var problem: String?

    /// True if a rule has references in it.
    static func hasReferences(_ text: String) -> Bool {
        guard text.utf8.contains(UInt8(ascii: "$")) else { return false }
        var scan = Scan(text)
        while let part = scan.take() {
            if case .reference = part { return true }
        }
        return false
    }

    init(_ text: String) {
        var scan = Scan(text)
        while let part = scan.take() {
            switch part {
            case .text(let text): rule += text
            case .reference(let name, let steps):
                rule += "[dyn(\(targets.count))"
                var written: [Selection.Step] = []
                for step in steps {
                    switch step {
                    case .key(let key): written.append(.fixed(.key(key)))
                    case .bracket(let inside):
                        if let path = try? AttributePath("/.x[\(inside)]"), let fixed = path.steps.first {
                            written.append(.fixed(fixed))
                        } else if let equals = inside.firstIndex(of: "="), SelectionText.isName(inside[..<equals]) {
                            written.append(.element(field: String(inside[..<equals])))
                            rule += ", dyn(\(inside[inside.index(after: equals)...]))"
                        } else {
                            written.append(.part)
                            rule += ", dyn(\(inside))"
                        }
                    }
                }
                rule += "]"
                targets.append(Selection.Target(name: name, steps: written))
            }
        }
        problem = scan.problem
    }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }

    private enum WrittenStep {
        case key(String)
        case bracket(Substring)
    }

    private enum Part {
        case text(Substring)
        case reference(String, [WrittenStep])
    }

    /// Goes through a rule, and skips its string literals.
    private struct Scan {
        private let text: String
        private var at: String.Index
        private(set) var problem: String?

        init(_ text: String) {
            self.text = text
            at = text.startIndex
        }

        private var character: Character? { at < text.endIndex ? text[at] : nil }

        private mutating func skipText() {
            guard let quote = character else { return }
            at = text.index(after: at)
            while let character, character != quote {
                if character == "\\" { at = text.index(after: at) }
                if at < text.endIndex { at = text.index(after: at) }
            }
            if at < text.endIndex { at = text.index(after: at) }
        }

        /// False for a path from the root, which is a name that rules can read.
        private var isReference: Bool { character == "$" && !text[at...].hasPrefix("$/") }

        mutating func take() -> Part? {
            guard at < text.endIndex else { return nil }
            let start = at
            if isReference { return reference() }
            while let character, !isReference {
                if character == "\"" || character == "'" { skipText() } else { at = text.index(after: at) }
            }
            return .text(text[start..<at])
        }

        private mutating func name() -> String {
            let start = at
            while let character, character.isLetter || character.isNumber || character == "_" {
                at = text.index(after: at)
            }
            return String(text[start..<at])
        }

        private mutating func reference() -> Part {
            at = text.index(after: at)
            let first = name()
            if first.isEmpty { problem = "a name is missing after $" }
            var steps: [WrittenStep] = []
            while let character {
                if character == "." {
                    at = text.index(after: at)
                    steps.append(.key(name()))
                } else if character == "[" {
                    at = text.index(after: at)
                    let start = at
                    var depth = 1
                    while depth > 0, let inside = self.character {
                        switch inside {
                        case "\"", "'":
                            skipText()
                            continue
                        case "[": depth += 1
                        case "]": depth -= 1
                        case "$": problem = "a reference cannot contain another reference"
                        default: break
                        }
                        if depth > 0 { at = text.index(after: at) }
                    }
                    if depth > 0 { problem = "a ] is missing" }
                    steps.append(.bracket(text[start..<at]))
                    if at < text.endIndex { at = text.index(after: at) }
                } else {
                    break
                }
            }
            return .reference(first, steps)
        }
    }
}
