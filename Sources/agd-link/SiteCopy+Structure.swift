import AttributeValues
import LinkProtocol
import WireProtocol

// The nodes of a mirrored site as documents.
extension SiteCopy {
    /// The requests that make the nodes, with their present values.
    func structure(_ label: String) -> [Request] {
        var states: [[Name]: ValueMap] = [:]
        func add(_ node: [Name], _ attribute: String, _ type: Value, _ value: Value) {
            states[node, default: ValueMap()][attribute] = SiteCopy.state(type, SiteCopy.initial(value))
        }
        states[[]] = ownStates(
            term: Int64(clamping: feed.position?.term ?? 0), revision: Int64(clamping: revision), .map(ValueMap()))
        var computed: [[Name]: ValueMap] = [:]
        for (place, content) in tree.contents where !SiteCopy.isOwn(place) {
            let type = SiteCopy.type(tree.definitions[place], content)
            let (node, attribute) = place.parts
            if let rule = findRule(place) {
                unverified.insert(place)
                computed[node, default: ValueMap()][attribute] = ["rule": .string(rule), "type": type]
            } else {
                add(node, attribute, type, shown(place, content))
            }
        }
        var documents: [[Name]: Value] = [:]
        var children: [Value] = []
        for node in tree.children.keys.sorted(by: { $0.count > $1.count }) {
            children = (tree.children[node] ?? []).compactMap { documents.removeValue(forKey: node + [$0]) }
            guard let id = node.last else { break }
            var document = ValueMap([("id", .string(id.text)), ("kind", "container")])
            if let states = states[node] { document["state"] = .map(states) }
            if let computed = computed[node] { document["computed"] = .map(computed) }
            if !children.isEmpty { document["children"] = .list(children) }
            documents[node] = .map(document)
        }
        var requests: [Request] = []
        let node = container + [id]
        let attributes = rootAttributes
        // The mode merge removes no attribute, and replace would remove the other sites.
        if let root = told.root, !root.keys.allSatisfy(attributes.keys.contains) {
            requests.append(.remove(path: path, TransactionOptions(label: label)))
        }
        told.root = attributes
        let root = rootDocument(states[[]] ?? ValueMap(), computed[[]] ?? ValueMap())
        // Also if its attributes are the same: after a restart of the daemon, all nodes have their initial values.
        requests.append(.apply(["nodes": [root]], at: container, .merge, label))
        if told.isLive == true {
            requests.append(
                .transact([mutation("isLive", true)], TransactionOptions(label: label, typed: true)))
        }
        // As a value, a deep document would be nested deeper than the daemon's limit for messages.
        let isDeep = tree.children.keys.contains { $0.count > SiteCopy.plainLevels }
        let document: Value = ["nodes": .list(children)]
        requests.append(.apply(isDeep ? .string(document.jsonText) : document, at: node, .replace, label))
        return requests
    }

    private static func state(_ type: Value, _ value: Value) -> Value {
        ["type": type, "initial": ["$typed": value.typedJSON], "transient": true]
    }

    /// The states of the root that the link itself writes, as they begin. After a restart of the daemon no link has
    /// told it anything, so `isLive` is false.
    func ownStates(term: Int64, revision: Int64, _ failures: Value) -> ValueMap {
        let states: [(Value, Value)] = [
            ("isLive", SiteCopy.state("bool", false)), ("lag", SiteCopy.state("double", 0.0)),
            ("term", SiteCopy.state("int", .int(term))), ("revision", SiteCopy.state("int", .int(revision))),
            ("seen", SiteCopy.state("dyn", owner.seenValue)), ("failures", SiteCopy.state("map", failures)),
            ("owner", SiteCopy.state("string", .string(owner.name))),
        ]
        return ValueMap(states)
    }

    func rootDocument(_ states: ValueMap, _ computed: ValueMap) -> Value {
        [
            "id": .string(id.text), "kind": "container", "state": .map(states), "computed": .map(computed),
            "containerValues": ["siteIsLive": "=isLive", "siteLag": "=lag", "siteRevision": "=revision"],
        ]
    }

    /// Levels of nodes up to which a document is not too deep for a message of the daemon.
    private static let plainLevels = 30

    /// The value at the beginning. Values that are too deep for the document follow in a transaction.
    private static func initial(_ value: Value) -> Value {
        guard value.isDeep else { return value }
        if case .map = value { return .map(ValueMap()) }
        return .list(ValueList())
    }

    /// Declared types of objects are not known here.
    private static func type(_ definition: Transaction.Definition?, _ content: Content) -> Value {
        guard let definition, let type = ValueType(definition.type), type.objectNames.isEmpty else { return "dyn" }
        if case .nullable = type { return .string(definition.type) }
        let isPlain = type == .dyn || !definition.mayFail && content.value != nil
        return .string(isPlain ? definition.type : definition.type + "?")
    }

    /// The attributes of the root, with their definitions at the owner.
    var rootAttributes: [String: Transaction.Definition?] {
        let places = tree.contents.keys.lazy.filter(\.isOfRoot)
        return Dictionary(uniqueKeysWithValues: places.map { ($0.parts.attribute, self.tree.definitions[$0]) })
    }
}

extension Request {
    static func apply(
        _ document: Value, at nodes: some Collection<Name>, _ mode: ApplyMode, _ label: String
    ) -> Request {
        .apply(
            .init(
                document: document, at: AttributePath.describe(nodes: nodes), mode: mode, dryRun: false,
                options: TransactionOptions(label: label)))
    }
}
