import AttributeValues
import RuleLanguage

/// A reference that a rule chooses: `=isLeft ? $a : $b`, `$items[id=selected]`, `$list[i]`.
///
/// The rule is compiled with a list in the place of each reference: the number of the reference, and the values of the
/// steps that it leaves open.
public final class Selection: Equatable {
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

    public static func == (a: Selection, b: Selection) -> Bool { a.text.hasSameBytes(as: b.text) }

    /// The form in a document.
    public var written: String { text.hasPrefix("$") ? text : "=" + text }

    /// The reference that a result of the rule means.
    /// - Throws: `ruleFailed` if the result is no reference.
    public func resolve(_ result: Value) throws(Failure) -> (target: Int, steps: [AttributePath.Step]) {
        guard let parts = result.list, case .int(let number)? = parts.first, targets.indices.contains(Int(number))
        else {
            throw Failure(
                .ruleFailed, "the rule gives \(result), not a reference", rule: text,
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
                    throw Failure(.typeMismatch, "\(other ?? .null) is neither an index nor a key", rule: text)
                }
            }
        }
        return (Int(number), steps)
    }
}
