import AttributeValues

/// A node in the form of a document, under construction. The nodes of this module make it.
public struct NodeDraft {
    var id: String?
    /// nil if a document would infer the kind.
    var kind: String?
    var component: String?
    private var attributes: [AttributeDraft] = []
    private var attributeNames: Set<String> = []
    var environment: [(key: String, value: Value)] = []
    var objects: [Value] = []
    var transforms: [(key: String, value: Value)] = []
    var containerValues: [(key: String, value: Value)] = []
    var tag: Value?
    var preferences: [(key: String, value: Value)] = []
    /// The last is the nearest.
    var animations: [Value] = []
    var transition: String?
    var past: Bool?
    var former: String?
    /// Steps of actions that the daemon calls by itself.
    var appearing: [Value] = []
    var changes: [Value] = []
    var disappearing: [Value] = []
    /// `children`, or `header`, `content`, `footer`: complete nodes.
    private var slots: [(name: String, nodes: [Value])] = []
    /// The nodes that a component is given for its slots, by the slots' names.
    private var given = ValueMap()
    private var forEach: Value?
    /// `if` or `switch`, with the branches.
    private var choice = ValueMap()
    private(set) var mistakes: [SceneMistake] = []
    private var childIDs: Set<Name> = []

    init(id: String?, kind: String? = nil, component: String? = nil) {
        self.id = id
        self.kind = kind
        self.component = component
        if let problem = id.flatMap(NodeIdentifier.refusal) { tell("an id \(problem)", at: "id") }
        if let problem = component.flatMap({ SceneNames.problem(ofName: $0, "a component") }) {
            tell(problem, at: "component")
        }
    }

    mutating func tell(_ problem: String?, at place: String) {
        if let problem { mistakes.append(SceneMistake(place: place, message: problem)) }
    }

    mutating func add(_ attribute: AttributeDraft) {
        let place = "\(attribute.group.rawValue).\(attribute.name)"
        tell(attribute.problem, at: place)
        if !attributeNames.insert(attribute.name).inserted {
            tell("the node has an attribute '\(attribute.name)' already", at: place)
        }
        attributes.append(attribute)
    }

    /// Adds the parts from a builder's closure: attributes to the node itself, nodes to a slot.
    mutating func add(_ parts: [NodePart], to slot: String) {
        for part in parts {
            if case .attribute(let attribute) = part.content { add(attribute) }
        }
        add(parts.compactMap { if case .node(let node) = $0.content { node } else { nil } }, to: slot)
    }

    mutating func add(_ nodes: [NodeDraft], to slot: String) {
        if !nodes.isEmpty { slots.append((slot, documents(of: nodes, at: slot, areSiblings: true))) }
    }

    /// Adds nodes for a slot of a component.
    mutating func give(_ nodes: [NodeDraft], for slot: String) {
        tell(SceneNames.problem(ofName: slot, "a slot"), at: "slots")
        let documents = documents(of: nodes, at: "slots.\(slot)", areSiblings: true)
        given[.string(slot)] = .list((given[.string(slot)]?.list ?? []) + documents)
    }

    /// Takes over the mistakes of nodes.
    /// - Parameter areSiblings: true if no other child may have the id of one of them.
    private mutating func documents(of nodes: [NodeDraft], at place: String, areSiblings: Bool) -> [Value] {
        for (position, node) in nodes.enumerated() {
            mistakes += node.mistakes.map { $0.inside("\(place)[\(position)]") }
            if areSiblings, let id = node.id, !childIDs.insert(id).inserted {
                tell("two siblings have the id '\(id)'", at: "\(place)[\(position)]")
            }
        }
        return nodes.map(\.document)
    }

    /// Makes the node a `forEach` over data.
    mutating func repeats(_ template: NodeDraft, data: Value, id: String, element: String, index: String) {
        mistakes += template.mistakes.map { $0.inside("forEach.node") }
        if template.id != nil {
            tell("the node of a ForEach has no id; each instance gets its id from its element", at: "forEach.node.id")
        }
        forEach = [
            "in": data, "id": .string(id), "as": .string(element), "index": .string(index), "node": template.document,
        ]
    }

    /// Makes the node a choice.
    mutating func chooses(_ keyword: String, _ condition: String) { choice[.string(keyword)] = .string(condition) }

    /// Adds a branch to a choice.
    /// - Parameter place: the keys that lead to it.
    mutating func addBranch(_ nodes: [NodeDraft], at place: [String]) {
        let list = Value.list(documents(of: nodes, at: place.joined(separator: "."), areSiblings: false))
        guard place.count > 1 else {
            choice[.string(place[0])] = list
            return
        }
        var cases = choice[.string(place[0])]?.map ?? ValueMap()
        if cases[.string(place[1])] != nil { tell("there are two cases '\(place[1])'", at: place[0]) }
        cases[.string(place[1])] = list
        choice[.string(place[0])] = .map(cases)
    }

    var hasChildren: Bool { !slots.isEmpty }

    var document: Value {
        var map = ValueMap()
        map["id"] = id.map { .string($0) }
        map["was"] = former.map { .string($0) }
        map["kind"] = kind.map { .string($0) }
        map["component"] = component.map { .string($0) }
        for group in [AttributeDraft.Group.state, .binding, .let, .computed, .inherit, .clock, .actions] {
            map[group.rawValue] = NodeDraft.document(attributes.filter { $0.group == group })
        }
        func write(_ name: String, _ entries: [(key: String, value: Value)]) {
            if !entries.isEmpty { map[name] = .map(ValueMap(entries.map { (.string($0.key), $0.value) })) }
        }
        write("environment", environment + (objects.isEmpty ? [] : [("objects", .list(objects))]))
        write("transformEnvironment", transforms)
        write("containerValues", containerValues)
        map["tag"] = tag
        write("preferences", preferences)
        if !animations.isEmpty { map["animation"] = .list(animations) }
        map["transition"] = transition.map { .string($0) }
        map["past"] = past.map { .bool($0) }
        map["onAppear"] = NodeDraft.oneOrMore(appearing)
        map["onChange"] = NodeDraft.oneOrMore(changes)
        map["onDisappear"] = NodeDraft.oneOrMore(disappearing)
        for (name, nodes) in slots { map[name] = .list(nodes) }
        if !given.isEmpty { map["slots"] = .map(given) }
        map["forEach"] = forEach
        for (key, value) in choice { map[key] = value }
        return .map(map)
    }

    static func oneOrMore(_ values: [Value]) -> Value? { values.count > 1 ? .list(values) : values.first }

    private static func document(_ attributes: [AttributeDraft]) -> Value? {
        if attributes.isEmpty { return nil }
        if attributes.allSatisfy(\.isBare) { return .list(attributes.map { .string($0.name) }) }
        return .map(ValueMap(attributes.map { (.string($0.name), $0.value) }))
    }
}
