public import AttributeValues

/// The body of a message: one transaction of the owner, or several that were merged. A snapshot is a body with all
/// child lists and all values.
public struct Transaction: Hashable {
    /// An attribute below the root of the site.
    public struct Place: Hashable, Sendable {
        /// Ids from the root of the site to the node. Empty for the root.
        public var node: [String]
        public var attribute: String

        public init(node: [String], attribute: String) {
            self.node = node
            self.attribute = attribute
        }
    }

    /// What an attribute is at its owner.
    public struct Definition: Hashable, Sendable {
        /// The text form of its type.
        public var type: String
        /// True if it may have an error instead of a value, or is null then: everything but a state.
        public var mayFail: Bool
        /// Nil for attributes that no rule computes.
        public var rule: String?

        public init(type: String, mayFail: Bool, rule: String? = nil) {
            (self.type, self.mayFail, self.rule) = (type, mayFail, rule)
        }
    }

    public var label: String?
    /// The name of the client that wrote, where the daemon reports it.
    public var writer: String?
    /// The JSON form of an animation.
    public var animation: Value?
    /// When its motion began: seconds since 1970 on the wall clock of the owner.
    public var begun: Double?
    /// True if the body spans several transactions.
    public var isConflated = false
    /// Nodes that came, each with all that is below it. An older node at the same path goes first.
    public var added: Set<[String]> = []
    /// By parent: the ids of its children, in order.
    public var children: [[String]: [String]] = [:]
    public var contents: [Place: Content] = [:]
    /// Of attributes that came or became others.
    public var definitions: [Place: Definition] = [:]

    public init() {}

    public var isEmpty: Bool { added.isEmpty && children.isEmpty && contents.isEmpty && definitions.isEmpty }
}

// Merging.
extension Transaction {
    /// Adds a later transaction: the newest content of each place and the newest child list of each parent remain.
    public mutating func merge(_ later: Transaction) {
        isConflated = true
        label = later.label
        writer = later.writer
        (animation, begun) = (nil, nil)
        if !later.children.isEmpty || !later.added.isEmpty {
            contents = contents.filter { !later.removes($0.key.node) }
            definitions = definitions.filter { !later.removes($0.key.node) }
            children = children.filter { !later.removes($0.key) }
            added = added.filter { !later.removes($0) }
        }
        added.formUnion(later.added)
        children.merge(later.children) { $1 }
        contents.merge(later.contents) { $1 }
        definitions.merge(later.definitions) { $1 }
    }

    /// True if the node of before this transaction, or one of its ancestors, has gone or was replaced by a new one.
    private func removes(_ node: [String]) -> Bool {
        node.indices.contains { level in
            if added.contains(Array(node[...level])) { return true }
            return children[Array(node[..<level])].map { !$0.contains(node[level]) } ?? false
        }
    }
}

// JSON.
extension Transaction {
    /// The form of a message's body, with all values as typed JSON.
    public var json: [UInt8] {
        var members: [(Value, Value)] = []
        if let label { members.append(("label", .string(label))) }
        if let writer { members.append(("writer", .string(writer))) }
        if let animation { members.append(("animation", animation)) }
        if let begun { members.append(("begun", .double(begun))) }
        if isConflated { members.append(("conflated", true)) }
        if !added.isEmpty { members.append(("added", .list(added.map(Transaction.list)))) }
        if !children.isEmpty {
            members.append(
                ("children", .list(children.map { .list([Transaction.list($0.key), Transaction.list($0.value)]) })))
        }
        if !definitions.isEmpty {
            members.append(
                (
                    "definitions",
                    .list(
                        definitions.map { place, definition in
                            .list([
                                Transaction.list(place.node), .string(place.attribute), Transaction.json(definition),
                            ])
                        })
                ))
        }
        members.append(
            (
                "changes",
                .list(
                    contents.map { place, content in
                        .list([Transaction.list(place.node), .string(place.attribute), Transaction.json(content)])
                    })
            ))
        let buffer = ByteBuffer()
        buffer.appendJSON(.map(ValueMap(members)))
        return buffer.withBytes { Array($0) }
    }

    /// - Throws: `invalid` if the text is no body.
    public init(json text: some Collection<UInt8>) throws(Failure) {
        guard let map = try JSONParser.parseOnce(text).map else { throw Transaction.malformed("it is no object") }
        label = map["label"]?.string
        writer = map["writer"]?.string
        animation = map["animation"]
        begun = map["begun"]?.number
        isConflated = map["conflated"] == true
        for entry in map["added"]?.list ?? [] { added.insert(try Transaction.texts(entry)) }
        for entry in map["children"]?.list ?? [] {
            guard let pair = entry.list, pair.count == 2 else { throw Transaction.malformed("a child list") }
            children[try Transaction.texts(pair[0])] = try Transaction.texts(pair[1])
        }
        for entry in map["definitions"]?.list ?? [] {
            let (place, json) = try Transaction.entry(entry)
            guard let type = json["type"]?.string else { throw Transaction.malformed("a definition without a type") }
            definitions[place] = Definition(type: type, mayFail: json["mayFail"] == true, rule: json["rule"]?.string)
        }
        for entry in map["changes"]?.list ?? [] {
            let (place, json) = try Transaction.entry(entry)
            contents[place] = try Transaction.content(json)
        }
    }

    private static func entry(_ entry: Value) throws(Failure) -> (Place, ValueMap) {
        guard let parts = entry.list, parts.count == 3, let attribute = parts[1].string, let json = parts[2].map else {
            throw malformed("an attribute")
        }
        return (Place(node: try texts(parts[0]), attribute: attribute), json)
    }

    private static func json(_ definition: Definition) -> Value {
        var map = ValueMap([("type", .string(definition.type))])
        if definition.mayFail { map["mayFail"] = true }
        if let rule = definition.rule { map["rule"] = .string(rule) }
        return .map(map)
    }

    private static func json(_ content: Content) -> Value {
        switch content {
        case .value(let value): return ["value": value.typedJSON]
        case .failure(let failure):
            return ["error": ["code": .string(failure.code.rawValue), "message": .string(failure.message)]]
        }
    }

    private static func content(_ json: ValueMap) throws(Failure) -> Content {
        if let value = json["value"] { return .value(try Value(typedJSON: value, anyKeys: true)) }
        guard let error = json["error"]?.map, let code = ErrorCode(rawValue: error["code"]?.string ?? "") else {
            throw malformed("a change has neither a value nor an error")
        }
        return .failure(Failure(code, error["message"]?.string ?? ""))
    }

    private static func list(_ texts: [String]) -> Value { .list(texts.map { .string($0) }) }

    private static func texts(_ value: Value) throws(Failure) -> [String] {
        var texts: [String] = []
        for element in value.list ?? [.null] {
            guard let text = element.string else { throw malformed("an id that is no text") }
            texts.append(text)
        }
        return texts
    }

    private static func malformed(_ what: String) -> Failure { Failure(.invalid, "the body of a message: \(what)") }
}
