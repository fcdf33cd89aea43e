import AttributeValues
import RuleLanguage

/// A reference that a rule chooses: `=isLeft ? $a : $b`, `$items[id=selected]`, `$list[i]`.
///
/// The rule is compiled with a list in the place of each reference: its number, and the values of the steps that it leaves open.
public final class Selection {
    /// One of the references that can be chosen.
    public struct Target {
        public var name: String
        public var steps: [Step]
    }

    public enum Step {
        case fixed(AttributePath.Step)
        /// `[field=rule]`
        case element(field: String)
        /// `[rule]`: an index or a key.
        case part
    }

    /// As it is written, without `=`.
    public let text: String
    public let program: Program
    public let targets: [Target]

    public init(text: String, program: Program, targets: [Target]) {
        self.text = text
        self.program = program
        self.targets = targets
    }

    /// The form in a document.
    public var written: String { text.hasPrefix("$") ? text : "=" + text }

    /// The reference that a result of the rule means.
    /// - Throws: `ruleFailed` for what is no reference.
    public func reference(in result: Value) throws(Failure) -> (target: Int, steps: [AttributePath.Step]) {
        guard let parts = result.list, case .int(let number)? = parts.first, targets.indices.contains(Int(number))
        else {
            throw Failure(
                .ruleFailed, "the rule chooses no reference, but \(result)", rule: text,
                hint: "let each of its results be a $name")
        }
        var open = parts.dropFirst()
        var steps: [AttributePath.Step] = []
        for step in targets[Int(number)].steps {
            switch step {
            case .fixed(let step): steps.append(step)
            case .element(let field): steps.append(.element(field: field, value: open.popFirst() ?? .null))
            case .part:
                switch open.popFirst() {
                case .int(let index)?: steps.append(.index(Int(index)))
                case .uint(let index)?: steps.append(.index(Int(clamping: index)))
                case .string(let key)?: steps.append(.key(key))
                case let other:
                    throw Failure(
                        .typeMismatch, "\(other ?? .null) is no index and no key", rule: text)
                }
            }
        }
        return (Int(number), steps)
    }
}

extension BindingTarget {
    /// What it reads, and what it computes to write.
    public var expressions: [Expression] {
        switch self {
        case .reference(let reference): [.reference(reference)]
        case .selection(let selection): [.selection(selection)]
        case .rules(let get, let set): [.rule(get)] + set.map(\.value) + set.map { .reference($0.target) }
        case .constant: []
        }
    }

    public static let newValue = "newValue"
}

/// The text of a selection, taken apart.
struct SelectionText {
    /// With a list in the place of each reference.
    private(set) var rule = ""
    private(set) var targets: [Selection.Target] = []
    /// What is wrong with it.
    private(set) var problem: String?

    /// Whether a rule has references in it.
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

    /// Goes through a rule past its texts.
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

        /// A path from the root is a name of rules.
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
            if first.isEmpty { problem = "a name is missing behind $" }
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
                        case "$": problem = "a reference stands in another one"
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
