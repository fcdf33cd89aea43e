import AttributeValues
import SceneModel

// Layers that clients apply under names, between the scenes and the edits.

/// What a named layer says of one node.
final class LayerPart {
    /// The number of the layer. Those with greater numbers are above.
    let layer: Int
    /// True if it makes the node; else it completes the node that the layers below have.
    let isMade: Bool
    /// Where a node that it makes stands among the children that the layer makes there.
    let place: Int
    let slot: Slot
    /// Its row in the store.
    let row: ValueMap
    /// What it says; nil until it has been read where the node stands, or if it does not fit there.
    var content: PartContent?
    /// Why it does not fit.
    var failure: Failure?

    init(layer: Int, isMade: Bool, place: Int, slot: Slot, row: ValueMap, content: PartContent?) {
        (self.layer, self.isMade, self.place, self.slot) = (layer, isMade, place, slot)
        (self.row, self.content) = (row, content)
    }

    /// - Parameter row: as it is stored.
    convenience init(layer: Int, stored row: ValueMap) {
        let position = if case .int(let position)? = row["place"] { Int(position) } else { 0 }
        self.init(
            layer: layer, isMade: row["makes"] != nil, place: position,
            slot: row["slot"]?.string.flatMap { Slot(rawValue: $0) } ?? .content, row: row, content: nil)
    }
}

/// The parts of a node in all named layers, lower ones first.
final class LayeredNode {
    let parts: [LayerPart]
    /// The definition that was composed last, and what it was composed from: nodes compare definitions by identity.
    private var composed: (bottom: NodeDefinition?, isInUse: Bool, definition: NodeDefinition?)?

    init(_ parts: [LayerPart]) { self.parts = parts }

    /// The definition of the node with what the layers say; nil if there is no such node.
    /// - Parameters:
    ///   - bottom: what scenes, templates and components say.
    ///   - isInUse: the parent is made from a component, to which the layers give the node.
    func compose(over bottom: NodeDefinition?, isInUse: Bool) -> NodeDefinition? {
        if let composed, composed.bottom === bottom, composed.isInUse == isInUse { return composed.definition }
        var definition = compose(over: bottom, below: .max)
        if let made = definition, made.isContent != isInUse, made !== bottom, isMade {
            let own = NodeDefinition(copyOf: made, id: made.id)
            own.isContent = isInUse
            definition = own
        }
        composed = (bottom, isInUse, definition)
        return definition
    }

    /// What scenes, templates and components said of the node when it was composed last.
    var bottom: NodeDefinition? { composed?.bottom }

    /// True if a layer makes the node.
    private var isMade: Bool { parts.contains { $0.isMade && $0.content != nil } }

    /// The same without the layers from a number on.
    func compose(over bottom: NodeDefinition?, below layer: Int) -> NodeDefinition? {
        var definition = bottom
        for part in parts where part.layer < layer {
            guard let content = part.content, part.isMade || definition != nil else { continue }
            definition = content.compose(over: definition)
        }
        return definition
    }

    func forgetComposed() { composed = nil }
}

/// The named layers of a tree. Their parts belong to keys of nodes: a part waits while its node is missing.
public struct NamedLayers {
    /// A layer without its parts.
    public struct Layer {
        /// The path of the node at which it was applied.
        public let at: String
        public let name: String
        /// Layers with greater numbers are above.
        let number: Int
        /// The last revision that changed it.
        public fileprivate(set) var revision: UInt64

        init(at: String, name: String, number: Int, revision: UInt64) {
            (self.at, self.name, self.number, self.revision) = (at, name, number, revision)
        }
    }

    public private(set) var layers: [Layer] = []
    private var nodes: [Name: LayeredNode] = [:]
    /// The keys of nodes with parts, by the key of their parent.
    private var below: [Name: Set<Name>] = [:]

    public var isEmpty: Bool { layers.isEmpty }

    public func layer(_ name: String, at path: String) -> Layer? {
        layers.first { $0.name.hasSameBytes(as: name) && $0.at.hasSameBytes(as: path) }
    }

    func layer(_ number: Int) -> Layer? { layers.first { $0.number == number } }

    var nextNumber: Int { (layers.last?.number ?? 0) + 1 }

    /// What the layers say of the node of a key.
    subscript(key: String) -> LayeredNode? { isEmpty ? nil : nodes[Name(key)] }

    /// The keys of nodes with parts whose parent has a key.
    func keys(below parent: String) -> Set<Name> { isEmpty ? [] : below[Name(parent)] ?? [] }

    /// The keys of the nodes of which a layer says something.
    func keys(of layer: Int) -> [String] {
        nodes.filter { $0.value.parts.contains { $0.layer == layer } }.map(\.key.text)
    }

    /// All nodes with parts, by key.
    var all: some Sequence<(key: Name, value: LayeredNode)> { nodes }

    mutating func add(_ layer: Layer) {
        layers.append(layer)
        layers.sort { $0.number < $1.number }
    }

    mutating func removeLayer(_ number: Int) { layers.removeAll { $0.number == number } }

    mutating func note(_ revision: UInt64, of number: Int) {
        if let position = layers.firstIndex(where: { $0.number == number }) { layers[position].revision = revision }
    }

    /// Sets what a layer says of a node; nil if it says nothing any more.
    mutating func set(_ part: LayerPart?, of number: Int, at key: String) {
        let key = Name(key)
        var parts = nodes[key]?.parts.filter { $0.layer != number } ?? []
        if let part { parts.append(part) }
        parts.sort { $0.layer < $1.layer }
        let parent = Name(StoredKey.parentKey(of: key.text) ?? "")
        if parts.isEmpty {
            nodes[key] = nil
            below[parent]?.remove(key)
            if below[parent]?.isEmpty == true { below[parent] = nil }
        } else {
            nodes[key] = LayeredNode(parts)
            below[parent, default: []].insert(key)
        }
    }

    // MARK: Children

    /// The children of a node with what the layers say of them, and those that only layers make.
    /// - Parameters:
    ///   - children: what scenes, templates and components give the node.
    ///   - key: of the node.
    ///   - isUse: the node is made from a component.
    func layered(
        _ children: [(definition: NodeDefinition, slot: Slot)], below key: String, isUse: Bool
    ) -> [(definition: NodeDefinition, slot: Slot)] {
        let keys = keys(below: key)
        if keys.isEmpty { return children }
        var found: Set<Name> = []
        var all: [(definition: NodeDefinition, slot: Slot)] = []
        for (definition, slot) in children {
            let own = Name(key + "/" + StoredKey.escape(definition.id.text))
            guard keys.contains(own), let node = nodes[own] else {
                all.append((definition, slot))
                continue
            }
            found.insert(own)
            let made = node.parts.last { $0.isMade && $0.content != nil }
            all.append((node.compose(over: definition, isInUse: isUse) ?? definition, made?.slot ?? slot))
        }
        let others = keys.subtracting(found).compactMap { key -> (part: LayerPart, key: Name, node: LayeredNode)? in
            guard let node = nodes[key], let part = node.parts.first(where: { $0.isMade && $0.content != nil }) else {
                return nil
            }
            return (part, key, node)
        }
        let ordered = others.sorted {
            ($0.part.layer, $0.part.place, $0.key.text) < ($1.part.layer, $1.part.place, $1.key.text)
        }
        for (part, _, node) in ordered {
            if let definition = node.compose(over: nil, isInUse: isUse) { all.append((definition, part.slot)) }
        }
        return all
    }

    // MARK: The store

    /// Rows of the store under this key and the number of a layer are the layer's own row, which has no name, and its
    /// parts, which have the keys of their nodes as names.
    private static let prefix = "@layer "

    static func key(of layer: Int) -> String { prefix + String(layer) }

    static func isKey(_ key: String) -> Bool { key.utf8.starts(with: prefix.utf8) }

    init() {}

    /// - Parameter rows: of a store.
    init(_ rows: [StoredRow]) {
        func number(_ row: StoredRow) -> Int? { Int(row.key.dropFirst(NamedLayers.prefix.count)) }
        for row in rows where row.name.isEmpty {
            guard let number = number(row), let at = row.value.map?["at"]?.string,
                let name = row.value.map?["name"]?.string
            else { continue }
            add(Layer(at: at, name: name, number: number, revision: row.revision))
        }
        for row in rows where !row.name.isEmpty {
            guard let number = number(row), let layer = layer(number), let fields = row.value.map else { continue }
            note(max(row.revision, layer.revision), of: number)
            set(LayerPart(layer: number, stored: fields), of: number, at: row.name)
        }
    }
}
