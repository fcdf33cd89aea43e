import AttributeValues
import RuleLanguage

/// The source of an attribute's value. Scopes: `computed`, actions and the modifiers look up the node's own attributes
/// first.
/// `let` and `binding` look up the lexically enclosing nodes, nearest first, up to the root of the component that
/// contains them.
public enum AttributeRole: Equatable {
    case state(initial: Value, isTransient: Bool)
    /// A nil target is a component's parameter without a default, which the use must give (only inside component
    /// definitions).
    indirect case binding(BindingTarget?, animation: String?)
    /// nil as for binding.
    indirect case constant(Expression?)
    case computed(Program)
    /// `inherit: {locale: locale}` reads an environment key, `{library: Library}` or `{library: "Library?"}` an object.
    case inherit(key: String)
    indirect case inheritObject(type: String, isOptional: Bool)
    indirect case clock(ClockSchedule)
    indirect case action(ActionDefinition)
}

/// The bounds of a map whose entries come from outside: a write makes a missing entry.
public struct EntryBounds: Hashable, Sendable {
    public static let standardLimit = 10_000

    /// The time after which an entry that nobody writes is removed; nil: never.
    public var expires: TimeSpan?
    /// A write that would make more entries is refused.
    public var limit: Int

    public init(expires: TimeSpan? = nil, limit: Int = standardLimit) { (self.expires, self.limit) = (expires, limit) }

    /// As a document has it.
    public var document: Value {
        var form = ValueMap()
        if let expires { form["expires"] = .string(expires.description) }
        form["limit"] = .int(Int64(limit))
        return .map(form)
    }
}

/// Immutable and shared by all instances of a node.
public final class AttributeDefinition {
    public let name: String
    public let role: AttributeRole
    /// Written or inferred; `dyn` if unknown.
    public let type: ValueType
    public let position: SourcePosition
    public let author: PartAuthor
    private let rest: Rest?

    /// The members that few attributes have.
    private final class Rest {
        let history: TimeSpan?
        let expires: TimeSpan?
        let entries: EntryBounds?
        let start: Expression?
        let isLeftOutOfPast: Bool

        init(
            _ history: TimeSpan?, _ expires: TimeSpan?, _ entries: EntryBounds?, _ start: Expression?,
            _ isLeftOutOfPast: Bool
        ) {
            (self.history, self.expires, self.entries, self.start) = (history, expires, entries, start)
            self.isLeftOutOfPast = isLeftOutOfPast
        }
    }

    /// For how long the past of a state or a rule is recorded; nil: not at all.
    public var history: TimeSpan? { rest?.history }
    /// The time after which a state that nobody writes has the error `stale` in place of its value; nil: never.
    public var expires: TimeSpan? { rest?.expires }
    /// For a state of type map whose entries come from outside.
    public var entries: EntryBounds? { rest?.entries }
    /// The expression that gives a state its first value instead of `initial`. Evaluated once, when the node is made.
    public var start: Expression? { rest?.start }
    /// True for a state whose values the archive does not get.
    public var isLeftOutOfPast: Bool { rest?.isLeftOutOfPast ?? false }

    public init(
        name: String, role: AttributeRole, type: ValueType, history: TimeSpan? = nil, expires: TimeSpan? = nil,
        entries: EntryBounds? = nil, start: Expression? = nil, isLeftOutOfPast: Bool = false, position: SourcePosition,
        author: PartAuthor = .daemon
    ) {
        self.name = name
        self.role = role
        self.type = type
        self.position = position
        self.author = author
        rest =
            history == nil && expires == nil && entries == nil && start == nil && !isLeftOutOfPast
            ? nil : Rest(history, expires, entries, start, isLeftOutOfPast)
    }

    /// On a component's root, every binding and every let is a parameter.
    public var isParameter: Bool {
        switch role {
        case .binding, .constant: true
        default: false
        }
    }

    /// True for a parameter without a default.
    var lacksValue: Bool {
        switch role {
        case .binding(nil, _), .constant(nil): true
        default: false
        }
    }
}

/// The position in the document does not count, and neither does the author.
extension AttributeDefinition: Equatable {
    public static func == (a: AttributeDefinition, b: AttributeDefinition) -> Bool {
        a === b
            || a.name == b.name && a.type == b.type && a.history == b.history && a.expires == b.expires
                && a.entries == b.entries && a.start == b.start
                && a.isLeftOutOfPast == b.isLeftOutOfPast && a.role == b.role
    }
}

extension AttributeRole {
    /// True if a write can go through the attribute to another one.
    var leadsElsewhere: Bool {
        switch self {
        case .binding(.constant?, _), .binding(nil, _): false
        case .binding, .inherit, .inheritObject, .action: true
        case .constant(.reference?), .constant(.selection?): true
        case .constant, .state, .computed, .clock: false
        }
    }

    /// The kind of the attribute, for messages.
    var noun: String {
        switch self {
        case .state: "a state"
        case .binding: "a binding"
        case .constant: "a let"
        case .computed: "a computed"
        case .inherit, .inheritObject: "an inherited value"
        case .clock: "a clock"
        case .action: "an action"
        }
    }
}
