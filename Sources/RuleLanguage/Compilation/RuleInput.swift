import AttributeValues

/// An input of a program: a variable, or a place inside one.
public struct RuleInput: Hashable {
    /// The variable as declared; in a namespace, its key.
    public let name: Name
    /// The namespace of the variable, as `env`; nil for a plain variable.
    public let namespace: String?
    /// The steps into the variable's value; empty for the whole. For a dynamic input, its constant steps.
    public let steps: [AttributePath.Step]
    /// True if the input is the presence of the last step: a bool.
    public let isPresence: Bool
    /// True if the path is known only at run time. It begins with `steps`.
    public let isDynamic: Bool
    /// True if every evaluation that does not fail reads it: it may be evaluated beforehand.
    public internal(set) var isDefinite: Bool
    /// For a value of an assembled type, or one that contains such values: the parts that the rule uses. nil means all
    /// parts.
    public let parts: UsedParts?
    /// For the map of what a pattern matches, `$/*.battery`: the pattern.
    public let pattern: PathPattern?
    /// The operator over time through which the rule reads the path; nil: the value itself.
    public let operation: TimeOperator?
    /// The input of the program that gives the operator's window; nil: the window is constant.
    public let span: Int?

    /// The variable's full name, as declared in the scope.
    public var variable: String { namespace.map { "\($0).\(name)" } ?? name.text }
    /// The first name of the path in the rule.
    public var root: String { namespace ?? name.text }
    /// The path after `root`: the namespace's key and the steps.
    public var path: [AttributePath.Step] { namespace == nil ? steps : [.key(name.text)] + steps }
}

extension RuleInput: CustomStringConvertible {
    public var description: String {
        let text = variable + steps.map(\.description).joined() + (isDynamic ? "[*]" : "")
        if let operation { return operation.text(of: text) }
        return isPresence ? "has(\(text))" : text
    }

    func sameSource(as other: RuleInput) -> Bool {
        name == other.name && namespace == other.namespace && isPresence == other.isPresence
            && isDynamic == other.isDynamic && steps == other.steps && operation == other.operation
    }
}

extension Name {
    /// The pattern of which a rule reads what it matches: of `$/*.battery`, what follows the `$`.
    var patternFromRoot: PathPattern? {
        guard text.utf8.contains(UInt8(ascii: "*")), let path = pathFromRoot else { return nil }
        return (try? PathPattern(path.text)).flatMap { $0.exact == nil ? $0 : nil }
    }

    /// The path of an attribute that is named from the root: of `$/grid/limits.high`, what follows the `$`.
    public var pathFromRoot: Name? {
        text.utf8.starts(with: "$/".utf8) ? Name(String(Substring(text.utf8.dropFirst()))) : nil
    }
}
