import AttributeValues

/// The body of a message: one transaction of the owner, or several that were merged. A snapshot is a body with all
/// child lists and all values.
package struct Transaction: Hashable {
    /// An attribute below the root of the site.
    package struct Place: Hashable, Sendable {
        /// The path relative to the root of the site: `.load` is an attribute of the root, `/disk.used` of a child.
        ///
        /// It is text because messages and requests of the daemon contain it as text. Most places are never parsed.
        package let path: String

        package init(path: String) { self.path = path }

        package static func == (a: Place, b: Place) -> Bool { a.path.hasSameBytes(as: b.path) }

        package func hash(into hasher: inout Hasher) { hasher.combine(Name(path)) }

        package var isOfRoot: Bool { path.utf8.first == UInt8(ascii: ".") }

        /// The ids from the root of the site to the node, and the attribute. For a malformed path, a node that no tree
        /// has.
        package var parts: (node: [Name], attribute: String) {
            guard let read = try? AttributePath(isOfRoot ? "/" + path : path), read.steps.isEmpty,
                let attribute = read.attribute
            else { return ([""], "") }
            return (read.nodes, attribute)
        }

        package var node: [Name] { parts.node }
    }

    /// An attribute's definition at its owner.
    package struct Definition: Hashable, Sendable {
        /// The text form of its type.
        package var type: String
        /// True if it may have an error instead of a value, or is null then: every attribute except a state.
        package var mayFail: Bool
        /// nil for attributes without a rule.
        /// Compared by bytes, as the daemon does.
        package var rule: Name?

        package init(type: String, mayFail: Bool, rule: Name? = nil) {
            (self.type, self.mayFail, self.rule) = (type, mayFail, rule)
        }
    }

    package var label: String?
    /// The name of the client that made the transaction, if the daemon reports it.
    package var writer: String?
    /// The attributes that move, by the JSON form of their animation.
    package var motions: [Value: Set<Place>] = [:]
    /// The beginning of the motions: seconds since the start of the owner's machine.
    package var begun: Double?
    /// True if the body spans several transactions.
    package var isConflated = false
    /// New nodes, each with everything below it. An older node at the same path is removed first.
    package var added: Set<[Name]> = []
    /// The ids of a node's children, in order, by parent.
    package var children: [[Name]: [Name]] = [:]
    package var contents: [Place: Content] = [:]
    /// Definitions of attributes that are new or have changed.
    package var definitions: [Place: Definition] = [:]

    package init() {}

    package var isEmpty: Bool { added.isEmpty && children.isEmpty && contents.isEmpty && definitions.isEmpty }
}

extension Transaction.Place {
    package init(node: [Name], attribute: String) {
        let path = AttributePath(nodes: node, attribute: attribute).description
        // The path of an attribute of a daemon's root begins with a slash.
        self.init(path: node.isEmpty ? String(Substring(path.utf8.dropFirst())) : path)
    }
}

// Merging.
extension Transaction {
    /// Adds a later transaction: the newest content of each place and the newest child list of each parent remain.
    package mutating func merge(_ later: Transaction) {
        isConflated = true
        label = later.label
        writer = later.writer
        (motions, begun) = ([:], nil)
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

    /// True if the node that existed before this transaction, or one of its ancestors, was removed or replaced.
    private func removes(_ node: [Name]) -> Bool {
        node.indices.contains { level in
            if added.contains(Array(node[...level])) { return true }
            return children[Array(node[..<level])].map { !$0.contains(node[level]) } ?? false
        }
    }
}

extension Value {
    /// True if plain JSON represents the value completely. Most values of a fleet are such, and cost a third of their
    /// typed JSON. The recursion is as deep as a daemon lets values be.
    package var isPlainJSON: Bool {
        switch self {
        case .null, .bool, .int, .string: true
        case .double(let number): number.isFinite
        case .list(let list): list.allSatisfy(\.isPlainJSON)
        case .map(let map): map.allSatisfy { $0.key.string != nil && $0.value.isPlainJSON }
        default: false
        }
    }

    /// True for a value whose typed JSON is nested deeper than a daemon allows by default.
    package var isDeep: Bool { isDeeper(than: 30) }

    /// True if lists and maps are nested deeper.
    package func isDeeper(than levels: Int) -> Bool {
        switch self {
        case .list(let list): levels == 0 || list.contains { $0.isDeeper(than: levels - 1) }
        case .map(let map): levels == 0 || map.contains { $0.value.isDeeper(than: levels - 1) }
        default: false
        }
    }
}

// JSON.
extension Transaction {
    /// The form of a message's body. Values that plain JSON does not represent completely are typed JSON.
    package var json: [UInt8] {
        let buffer = ByteBuffer(capacity: 256 + 64 * contents.count)
        buffer.append("{")
        func member(_ name: StaticString, _ value: Value?) {
            guard let value else { return }
            buffer.append("\"")
            buffer.append(name)
            buffer.append("\":")
            buffer.appendJSON(value)
            buffer.append(",")
        }
        member("label", label.map { .string($0) })
        member("writer", writer.map { .string($0) })
        let moving = motions.map { Value.list([$0.key, Transaction.list($0.value.map { Name($0.path) })]) }
        member("motions", moving.isEmpty ? nil : .list(moving))
        member("start", begun.map { .double($0) })
        member("conflated", isConflated ? true : nil)
        member("added", added.isEmpty ? nil : .list(added.map(Transaction.list)))
        let lists = children.map { Value.list([Transaction.list($0.key), Transaction.list($0.value)]) }
        member("children", lists.isEmpty ? nil : .list(lists))
        let types = definitions.map { Value.list([.string($0.key.path), Transaction.json($0.value)]) }
        member("definitions", types.isEmpty ? nil : .list(types))
        buffer.append("\"changes\":[")
        var isFirst = true
        for (place, content) in contents {
            buffer.append(isFirst ? "[" : ",[")
            isFirst = false
            buffer.appendJSONString(place.path)
            buffer.append(",")
            switch content {
            case .value(.map(let map)) where Value.map(map).isPlainJSON:
                buffer.append("{\"map\":")
                buffer.appendJSON(.map(map))
                buffer.append("}]")
            case .value(let value) where value.isPlainJSON:
                buffer.appendJSON(value)
                buffer.append("]")
            case .value(let value):
                buffer.append("{\"value\":")
                buffer.appendTypedJSON(value)
                buffer.append("}]")
            case .failure(let failure):
                buffer.appendJSON([
                    "error": ["code": .string(failure.code.rawValue), "message": .string(failure.message)]
                ])
                buffer.append("]")
            }
        }
        buffer.append("]}")
        return buffer.withBytes { Array($0) }
    }

    /// - Parameter parser: may be reused for many texts.
    /// - Throws: `invalid` if the text is not a body.
    package init(json text: [UInt8], _ parser: JSONParser = JSONParser(maximumDepth: nesting)) throws(Failure) {
        try text.withUnsafeBufferPointer { (bytes) throws(Failure) in
            let body = try parser.parse(bytes)
            guard body.isObject else { throw Transaction.malformed("it is no object") }
            label = body["label"]?.string
            writer = body["writer"]?.string
            try body["motions"]?.forEachElement { (entry) throws(Failure) in
                guard let pair = entry.value.list, pair.count == 2 else { throw Transaction.malformed("a motion") }
                motions[pair[0]] = Set(try Transaction.names(pair[1]).map { Place(path: $0.text) })
            }
            begun = body["start"]?.number
            isConflated = body["conflated"]?.bool == true
            try body["added"]?.forEachElement { (entry) throws(Failure) in
                added.insert(try Transaction.names(entry.value))
            }
            try body["children"]?.forEachElement { (entry) throws(Failure) in
                guard let pair = entry.value.list, pair.count == 2 else { throw Transaction.malformed("a child list") }
                children[try Transaction.names(pair[0])] = try Transaction.names(pair[1])
            }
            try body["definitions"]?.forEachElement { (entry) throws(Failure) in
                let (place, json) = try Transaction.entry(entry)
                guard let type = json["type"]?.string else {
                    throw Transaction.malformed("a definition without a type")
                }
                definitions[place] = Definition(
                    type: type, mayFail: json["mayFail"]?.bool == true, rule: json["rule"]?.string.map { Name($0) })
            }
            // Some messages change a thousand attributes.
            var count = 0
            body["changes"]?.forEachElement { _ in count += 1 }
            contents.reserveCapacity(count)
            try body["changes"]?.forEachElement { (entry) throws(Failure) in
                let (place, json) = try Transaction.entry(entry)
                contents[place] = try Transaction.content(json)
            }
        }
        try checkChildren()
    }

    /// Maximum nesting of the JSON of a body. A daemon allows values of up to 512 levels, and typed JSON is nested
    /// three times as deep.
    package static let nesting = 1600

    /// Maximum levels of nodes below the root of a site.
    package static let maximumDepth = 500

    /// Checks the child lists before anything walks them. Each node is in one list once, so their length bounds a walk.
    private func checkChildren() throws(Failure) {
        for (parent, ids) in children {
            guard parent.count < Transaction.maximumDepth else {
                throw Transaction.malformed(
                    "a node on level \(parent.count + 1), of at most \(Transaction.maximumDepth)")
            }
            var known: Set<Name> = []
            for id in ids {
                if let problem = NodeIdentifier.refusal(of: id.text) { throw Transaction.malformed("an id \(problem)") }
                guard known.insert(id).inserted else {
                    throw Transaction.malformed("two nodes with the id '\(id)' beside each other")
                }
            }
        }
    }

    private static func entry(_ entry: JSONElement) throws(Failure) -> (Place, JSONElement) {
        var path: String?
        var content: JSONElement?
        var count = 0
        entry.forEachElement { element in
            if count == 0 { path = element.string } else { content = element }
            count += 1
        }
        guard count == 2, let path, let content else { throw malformed("an attribute") }
        return (Place(path: path), content)
    }

    private static func json(_ definition: Definition) -> Value {
        var map = ValueMap([("type", .string(definition.type))])
        if definition.mayFail { map["mayFail"] = true }
        if let rule = definition.rule { map["rule"] = .string(rule.text) }
        return .map(map)
    }

    private static func content(_ json: JSONElement) throws(Failure) -> Content {
        if !json.isObject {
            let value = json.value
            guard value.isPlainJSON else { throw malformed("a change that is no object") }
            return .value(value)
        }
        if let map = json["map"] {
            guard map.isObject else { throw malformed("a map that is no object") }
            return .value(map.value)
        }
        if let value = json["value"] { return .value(try Value(typedJSON: value.value)) }
        guard let error = json["error"], let code = ErrorCode(rawValue: error["code"]?.string ?? "") else {
            throw malformed("a change has neither a value nor an error")
        }
        return .failure(Failure(code, error["message"]?.string ?? ""))
    }

    private static func list(_ names: [Name]) -> Value { .list(names.map { .string($0.text) }) }

    private static func names(_ value: Value) throws(Failure) -> [Name] {
        var names: [Name] = []
        for element in value.list ?? [.null] {
            guard let text = element.string else { throw malformed("an id that is no text") }
            names.append(Name(text))
        }
        return names
    }

    private static func malformed(_ what: String) -> Failure { Failure(.invalid, "the body of a message: \(what)") }
}
