public import AGClient
public import AttributeValues

/// An attribute of a node: `State`, `Binding`, `Let`, `Computed`, `Environment`, `Clock`, `Action`.
public protocol Attribute {
    var draft: AttributeDraft { get }
}

/// An attribute in the form of a document. The attributes of this module make it.
public struct AttributeDraft {
    enum Group: String {
        case state, binding, `let`, computed, inherit, clock, actions
    }

    let group: Group
    let name: String
    let value: Value
    /// True for a parameter that has only a name, or a key that is inherited under its own name. In a list of such
    /// attributes, the name suffices.
    let isBare: Bool
    let problem: String?

    init(_ group: Group, _ name: String, _ value: Value, isBare: Bool = false, problem: String? = nil) {
        self.group = group
        self.name = name
        self.value = value
        self.isBare = isBare
        self.problem = problem ?? SceneNames.problem(ofName: name, "an attribute")
    }

    init(_ group: Group, _ name: String, _ expression: SceneExpression) {
        self.init(group, name, expression.document, problem: expression.problem)
    }

    /// A parameter's declaration.
    init(parameter name: String, of group: Group, type: String?, standard: Value?) {
        var form = ValueMap()
        if let standard { form["default"] = standard.writtenLiteral }
        if let type { form["type"] = .string(type) }
        let isBare = form.isEmpty
        if isBare { form["type"] = "dyn" }
        self.init(group, name, .map(form), isBare: isBare, problem: standard?.problemInDocument)
    }
}

/// A stored value, the single source of truth. It is created and removed with its node. Also a stored property of an
/// `ObjectType`.
public struct State: Attribute {
    public let draft: AttributeDraft

    /// A write makes a missing entry of the map.
    public struct Entries: Sendable {
        /// The time after which an entry that nobody writes is removed, as `"90s"`; nil: never.
        public var expires: String?
        /// A write that would make more entries is refused.
        public var limit: Int?

        public init(expires: String? = nil, limit: Int? = nil) { (self.expires, self.limit) = (expires, limit) }

        fileprivate var form: ValueMap {
            var form = ValueMap()
            if let expires { form["expires"] = .string(expires) }
            if let limit { form["limit"] = .int(Int64(limit)) }
            return form
        }
    }

    /// - Parameters:
    ///   - type: as in documents (`"double"`, `"int?"`, `"Library"`); nil to infer it from the initial value.
    ///   - isTransient: true to exclude the state from the daemon's store.
    ///   - history: for how long its past is recorded, as `"10m"`.
    ///   - expires: after which time without a write it is the error `stale`, as `"30s"`.
    ///   - entries: for a map, what it does with entries from outside.
    public init(
        _ name: String, _ initial: Value, type: String? = nil, isTransient: Bool = false, history: String? = nil,
        expires: String? = nil, entries: Entries? = nil
    ) {
        self.init(
            name, initial: initial, type: type, isTransient: isTransient, history: history, expires: expires,
            entries: entries)
    }

    @_disfavoredOverload
    public init(
        _ name: String, _ initial: some ValueRepresentable, type: String? = nil, isTransient: Bool = false,
        history: String? = nil, expires: String? = nil, entries: Entries? = nil
    ) {
        self.init(
            name, initial: initial.value, type: type, isTransient: isTransient, history: history, expires: expires,
            entries: entries)
    }

    /// A state that begins with its type's default: null if the type accepts null, or an object with its initial
    /// properties.
    public init(
        _ name: String, type: String, isTransient: Bool = false, history: String? = nil, expires: String? = nil,
        entries: Entries? = nil
    ) {
        self.init(
            name, initial: nil, type: type, isTransient: isTransient, history: history, expires: expires,
            entries: entries)
    }

    /// A state that gets its first value from a rule or a reference when the node is made. After that it is a state
    /// like any other.
    /// - Parameter start: can read the node's parameters, bindings and inherited values, and the nodes around it.
    public init(
        _ name: String, startingWith start: SceneExpression, type: String? = nil, isTransient: Bool = false,
        history: String? = nil, expires: String? = nil, entries: Entries? = nil
    ) {
        let form = State.form(initial: start.document, type, isTransient, history, expires, entries)
        draft = AttributeDraft(.state, name, .map(form), problem: start.problem)
    }

    private static func form(
        initial: Value?, _ type: String?, _ isTransient: Bool, _ history: String?, _ expires: String?,
        _ entries: Entries?
    ) -> ValueMap {
        var form = ValueMap()
        if let initial { form["initial"] = initial }
        if let type { form["type"] = .string(type) }
        if isTransient { form["transient"] = true }
        if let history { form["history"] = .string(history) }
        if let expires { form["expires"] = .string(expires) }
        if let entries { form["entries"] = .map(entries.form) }
        return form
    }

    private init(
        _ name: String, initial: Value?, type: String?, isTransient: Bool, history: String?, expires: String?,
        entries: Entries?
    ) {
        // JSON has no form for these values. A text and the type express them.
        let ownType: String? =
            switch initial {
            case .timestamp?: "timestamp"
            case .duration?: "duration"
            case .uint?: "uint"
            default: nil
            }
        let problem = ownType == nil ? initial?.problemInDocument : nil
        let keys: Set<String> = ["initial", "type", "transient", "history", "expires", "entries", "past"]
        let isLong = initial?.looksLikeForm(keys, requiring: ["initial", "type"]) ?? true
        guard type ?? ownType != nil || isTransient || history != nil || expires != nil || entries != nil || isLong
        else {
            draft = AttributeDraft(.state, name, initial?.writtenLiteral ?? .null, problem: problem)
            return
        }
        let form = State.form(initial: initial?.writtenLiteral, type ?? ownType, isTransient, history, expires, entries)
        draft = AttributeDraft(.state, name, .map(form), problem: problem)
    }
}

/// A two-way reference to a state, to another binding, or to a part of either. In a `Component` it is a parameter.
public struct Binding: Attribute {
    public let draft: AttributeDraft

    /// - Parameter animation: the animation of writes through this binding, as text or in the JSON form.
    public init(_ name: String, to target: PlacePath, animation: Value? = nil) {
        let reference = SceneExpression(target)
        guard let animation else {
            draft = AttributeDraft(.binding, name, reference)
            return
        }
        draft = AttributeDraft(
            .binding, name, ["to": reference.document, "animation": animation],
            problem: reference.problem ?? animation.problemInDocument)
    }

    /// A binding to the place that a rule chooses: `"isLeft ? $left : $right"`, `"$items[id=selected].title"`.
    public init(_ name: String, choosing rule: String, animation: Value? = nil) {
        let target: Value = .string(rule.hasPrefix("$") ? rule : "=" + rule)
        guard let animation else {
            draft = AttributeDraft(.binding, name, target)
            return
        }
        draft = AttributeDraft(
            .binding, name, ["to": target, "animation": animation], problem: animation.problemInDocument)
    }

    /// A binding that computes.
    /// - Parameters:
    ///   - rule: gives the value of a read.
    ///   - targets: the values that a write gives to its targets, over `newValue`.
    public init(
        _ name: String, get rule: String, set targets: KeyValuePairs<PlacePath, SceneExpression>,
        animation: Value? = nil
    ) {
        let writes = targets.map { (Value.string("$" + $0.text), $1.document) }
        var form = ValueMap([("get", .string(rule)), ("set", .map(ValueMap(writes)))])
        form["animation"] = animation
        let problems = targets.map { $0.problemAsReference ?? $1.problem } + [animation?.problemInDocument]
        draft = AttributeDraft(.binding, name, .map(form), problem: problems.lazy.compactMap(\.self).first)
    }

    /// A constant: reading gives the value, writing is refused.
    public init(_ name: String, constant: Value) {
        let literal = constant.writtenLiteral
        let isAmbiguous =
            literal.looksLikeForm(["to", "animation"], requiring: ["to"])
        draft = AttributeDraft(
            .binding, name, isAmbiguous ? ["to": literal] : literal, problem: constant.problemInDocument)
    }

    /// A component's parameter, given where the component is used. With a default it need not be given.
    public init(_ name: String, type: String? = nil, default standard: Value? = nil) {
        draft = AttributeDraft(parameter: name, of: .binding, type: type, standard: standard)
    }
}

/// A read-only input, in the scope of the enclosing nodes. In a `Component` it is a parameter.
public struct Let: Attribute {
    public let draft: AttributeDraft

    public init(_ name: String, _ value: SceneExpression) { draft = AttributeDraft(.let, name, value) }

    public init(_ name: String, _ source: PlacePath) { draft = AttributeDraft(.let, name, SceneExpression(source)) }

    /// A reference that a rule chooses, for example to an object: `"isGuest ? $guest : $owner"`.
    public init(_ name: String, choosing rule: String) {
        draft = AttributeDraft(.let, name, .string(rule.hasPrefix("$") ? rule : "=" + rule))
    }

    @_disfavoredOverload
    public init(_ name: String, _ value: some ValueRepresentable) {
        draft = AttributeDraft(.let, name, .literal(value))
    }

    /// A component's parameter, given where the component is used. With a default it need not be given.
    public init(_ name: String, type: String? = nil, default standard: Value? = nil) {
        draft = AttributeDraft(parameter: name, of: .let, type: type, standard: standard)
    }

    /// A parameter whose default is a rule. The rule is evaluated where the component is used: `"env.locale"`.
    public init(_ name: String, type: String? = nil, defaultRule rule: String) {
        var form = ValueMap([(.string("default"), .string("=" + rule))])
        if let type { form["type"] = .string(type) }
        draft = AttributeDraft(.let, name, .map(form))
    }
}

/// A rule over the node's own attributes. Also a computed property of an `ObjectType`.
public struct Computed: Attribute {
    public let draft: AttributeDraft

    /// - Parameters:
    ///   - rule: CEL.
    ///   - type: for types that rules cannot make, as `"color"`; nil for the rule's type.
    ///   - history: for how long its past is recorded, as `"10m"`.
    public init(_ name: String, _ rule: String, type: String? = nil, history: String? = nil) {
        guard type != nil || history != nil else {
            draft = AttributeDraft(.computed, name, .string(rule))
            return
        }
        var form = ValueMap([(.string("rule"), .string(rule))])
        if let type { form["type"] = .string(type) }
        if let history { form["history"] = .string(history) }
        draft = AttributeDraft(.computed, name, .map(form))
    }
}

/// A value, or an object, that the node inherits from the nodes around it.
public struct Environment: Attribute {
    public let draft: AttributeDraft

    /// `Environment(\.locale)`: the attribute has the key's own name.
    public init(_ key: PlacePath) {
        draft = AttributeDraft(.inherit, key.text, .string(key.text), isBare: true)
    }

    public init(_ name: String, _ key: PlacePath) { draft = AttributeDraft(.inherit, name, .string(key.text)) }

    /// The nearest object of a type. For `"Library?"`, null if there is none.
    public init(_ name: String, object type: String) { draft = AttributeDraft(.inherit, name, .string(type)) }
}

/// A time source. Its value is the date of the last tick.
public struct Clock: Attribute {
    public let draft: AttributeDraft

    public init(_ name: String, _ schedule: Schedule) { draft = AttributeDraft(.clock, name, schedule.document) }

    public struct Schedule {
        let document: Value

        /// - Parameter span: as `"1s"`, `"500ms"`, `"1m30s"`.
        public static func every(_ span: String, from start: Timestamp? = nil) -> Schedule {
            guard let start else { return Schedule(document: .string("every \(span)")) }
            return Schedule(document: ["every": .string(span), "start": .string("\(start)")])
        }

        public static var everyMinute: Schedule { Schedule(document: "everyMinute") }

        /// Ticks at the display rate while somebody watches, or as often as `minimumInterval` allows.
        public static func animation(minimumInterval: String? = nil) -> Schedule {
            guard let minimumInterval else { return Schedule(document: "animation") }
            return Schedule(document: ["animation": ["minimumInterval": .string(minimumInterval)]])
        }

        /// Ascending.
        public static func dates(_ dates: [Timestamp]) -> Schedule {
            Schedule(document: .list(dates.map { .string("\($0)") }))
        }
    }
}
