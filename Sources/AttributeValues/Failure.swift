/// Stable names of errors. They appear as `data.code` in replies and never change their meaning.
public enum ErrorCode: String, CaseIterable, Sendable {
    /// No node, attribute, key, subscription or method has this name.
    case notFound
    /// The value has another type than the attribute.
    case typeMismatch
    /// A rule's text cannot be parsed.
    case ruleSyntax
    /// A rule uses an unknown name or combines wrong types.
    case ruleType
    /// A rule failed while it ran (division by zero, no such key, …).
    case ruleFailed
    /// The attribute depends on itself. The message names the whole path.
    case cycle
    /// The attribute refers to something that has been removed.
    case removed
    /// The target of a binding does not exist (yet).
    case dangling
    /// Nobody has written the state for as long as its `expires` says.
    case stale
    /// The request contradicts the graph: a `test` failed, an id exists already, a node has the wrong kind.
    case conflict
    /// The attribute cannot be written (a computed, a `let`, the environment).
    case readOnly
    /// The peer lacks the right.
    case denied
    /// A named limit would be exceeded.
    case limit
    /// A path, pattern, document, animation or parameter is not well formed.
    case invalid
    /// Something outside the daemon failed (disk, memory).
    case unavailable
}

/// The reason why an attribute has no value, or why a request was refused.
///
/// As the content of an attribute it behaves as a value: readers get it, and replacing it by an equal failure changes
/// nothing.
public final class Failure: Error, Hashable {
    public let code: ErrorCode
    /// One sentence for people. It does not repeat the fields below.
    public let message: String
    /// The path that caused the failure, if there is one.
    public let path: String?
    /// The rule's text and the position in it, 1-based, in code points.
    public let rule: String?
    public let line: Int?
    public let column: Int?
    /// A suggestion what to do.
    public let hint: String?

    public init(
        _ code: ErrorCode, _ message: String, path: String? = nil, rule: String? = nil, line: Int? = nil,
        column: Int? = nil, hint: String? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.rule = rule
        self.line = line
        self.column = column
        self.hint = hint
    }

    /// The same failure with `path`, unless it has a path already.
    public func located(at path: String) -> Failure {
        self.path != nil ? self : Failure(code, message, path: path, rule: rule, line: line, column: column, hint: hint)
    }

    /// The same failure, with a context before its message.
    public func within(_ what: String) -> Failure {
        Failure(code, "\(what): \(message)", path: path, rule: rule, line: line, column: column, hint: hint)
    }

    public static func == (a: Failure, b: Failure) -> Bool {
        a === b
            || a.code == b.code && a.line == b.line && a.column == b.column
                && a.message.hasSameBytes(as: b.message) && same(a.path, b.path) && same(a.rule, b.rule)
                && same(a.hint, b.hint)
    }

    private static func same(_ a: String?, _ b: String?) -> Bool { a.map { Name($0) } == b.map { Name($0) } }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(path)
    }
}

extension Failure: CustomStringConvertible {
    /// The message with all fields: path, caret under the rule, hint.
    public var description: String {
        var text = message
        if let path { text += " (\(path))" }
        if let rule, let column {
            let lines = rule.split(separator: "\n", omittingEmptySubsequences: false)
            let number = (line ?? 1) - 1
            if lines.indices.contains(number) {
                text += "\n | \(lines[number])\n | \(String(repeating: ".", count: max(0, column - 1)))^"
            }
        }
        if let hint { text += "\n hint: \(hint)" }
        return text
    }
}

/// The content of an attribute: a value, or the reason why there is none.
@frozen
public enum Content: Hashable {
    case value(Value)
    case failure(Failure)

    public var value: Value? {
        if case .value(let value) = self { value } else { nil }
    }

    public var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }

    public func get() throws(Failure) -> Value {
        switch self {
        case .value(let value): return value
        case .failure(let failure): throw failure
        }
    }
}
