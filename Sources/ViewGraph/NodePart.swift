import AttributeValues
import SceneModel

/// What the edits say of one node. The other layers, which are below the edits, are scenes, templates and the bodies of
/// components. A part *makes* the node, or it *completes* the node that the layers below have.
struct PartContent {
    /// True if the part makes the node: then the layers below do not count.
    var isMade = false
    /// What makes the node, or says anew which component it is made from.
    var said: NodeDefinition?
    /// Members that come over `said` and the layers below.
    var members: NodeDefinition?

    var isEmpty: Bool { !isMade && said == nil && members == nil }
}

extension PartContent {
    /// The definition of the node, and of all below it that it gets from the layers below.
    /// - Parameter bottom: what the layers below say; nil if they do not have the node.
    private func base(over bottom: NodeDefinition?) -> NodeDefinition? {
        guard let said else { return bottom }
        guard !isMade, let bottom else { return said }
        return said.completing(bottom)
    }

    /// The definition of a node, composed from its layers.
    func compose(over bottom: NodeDefinition?) -> NodeDefinition? {
        guard let base = base(over: bottom), let members else { return base(over: bottom) }
        return members.merged(over: base)
    }

    /// The children that the node gets whenever it is made, without those that have parts which make them.
    func children(over bottom: NodeDefinition?) -> [(definition: NodeDefinition, slot: Slot)] {
        if isMade { return said?.base?.slotted ?? [] }
        return base(over: bottom)?.slotted ?? []
    }
}

extension PartContent {
    /// Adds what a document says of the node.
    /// - Parameters:
    ///   - definition: the node in the document.
    ///   - composed: the node as it is.
    mutating func merge(_ definition: NodeDefinition, into composed: NodeDefinition) {
        let new = definition.withoutGivenChildren
        if new.base != nil {
            said = said.map { new.sayingAnew($0) } ?? new
            members = members?.without(new)
        } else if isMade, let made = said, made.base == nil {
            said = new.differing(from: composed).merged(over: made)
        } else {
            let other = new.differing(from: composed)
            members = members.map { other.merged(over: $0) } ?? other
        }
    }

    /// The part as a document alone says it.
    /// - Parameter bottom: what the layers below say.
    static func saying(_ definition: NodeDefinition, isMade: Bool, over bottom: NodeDefinition?) -> PartContent {
        let new = definition.withoutGivenChildren
        if isMade || new.base != nil { return PartContent(isMade: isMade, said: new) }
        guard let bottom else { return PartContent(members: new) }
        let other = new.differing(from: bottom)
        let isNothing = other.attributes.isEmpty && other.isPlain
        return PartContent(members: isNothing ? nil : other)
    }
}

/// The part of the edits that concerns one node, as the store has it. Nodes of which the edits say nothing have none.
final class NodePart {
    /// The key of its place among its siblings; nil: the place that the layers below give it.
    var order: String?
    /// See `PartContent`.
    var isMade = false
    /// True if the edits put it into another part of its section.
    var isElsewhere = false
    /// True if the store has a row of the node itself.
    var isStored = false
    /// True while the node waits in `Persistence` for its row to be worked out.
    var isDue = false
    /// The last revision that changed it, or took a child away from its node; 0 for a node that came with one above it.
    var revision: UInt64 = 0
    private var rare: Rare?

    private final class Rare {
        var bottom: NodeDefinition?
        var said: NodeDefinition?
        var members: NodeDefinition?
        var removed: Set<Name> = []
    }

    private var madeRare: Rare {
        if let rare { return rare }
        let made = Rare()
        rare = made
        return made
    }

    /// The definition by the layers below the edits, while the part changes it.
    fileprivate var bottom: NodeDefinition? { rare?.bottom }

    /// Ids of children that the edits have removed.
    var removed: Set<Name> {
        get { rare?.removed ?? [] }
        _modify { yield &madeRare.removed }
    }

    /// - Parameter definition: the node's composed definition.
    fileprivate func content(of definition: NodeDefinition) -> PartContent {
        guard let rare else { return PartContent(isMade: isMade, said: isMade ? definition : nil) }
        return PartContent(isMade: isMade, said: rare.said ?? (isMade ? definition : nil), members: rare.members)
    }

    fileprivate func set(_ content: PartContent, over bottom: NodeDefinition?) {
        isMade = content.isMade
        // Then the node's definition says all, and siblings share it.
        if content.isMade, content.members == nil, rare == nil { return }
        let rare = madeRare
        rare.said = content.isMade && content.members == nil ? nil : content.said
        rare.members = content.members
        rare.bottom = content.isMade || content.isEmpty ? nil : bottom
    }
}

extension Tree<NodeRecord> {
    /// What the edits say of a node.
    func content(of row: NodeRow) -> PartContent {
        self[row].part?.content(of: self[row].definition) ?? PartContent()
    }

    /// What the layers below the edits say of a node; nil if the edits make it.
    func bottom(of row: NodeRow) -> NodeDefinition? {
        guard let part = self[row].part else { return self[row].definition }
        return part.isMade ? nil : part.bottom ?? self[row].definition
    }

    /// What the layers below a named one say of a node; nil if none of them has it.
    func definition(of row: NodeRow, below layer: Int) -> NodeDefinition? {
        guard let node = layers[key(of: row)] else { return bottom(of: row) }
        return node.compose(over: node.bottom, below: layer)
    }

    /// Sets what the edits say of a node. The caller gives the node the definition that follows.
    func set(_ content: PartContent, over bottom: NodeDefinition?, of row: NodeRow) {
        if content.isEmpty, self[row].part == nil { return }
        part(row).set(content, over: bottom)
    }

    /// The children that the layers below the edits, or the body of its component, give a node.
    func childrenBelowEdits(of row: NodeRow) -> [(definition: NodeDefinition, slot: Slot)] {
        let children = childrenBelowLayers(of: row)
        // A view takes no children: what named layers say of such nodes waits.
        if layers.isEmpty || self[row].kind == .view { return children }
        return layers.layered(children, below: key(of: row), isUse: isComponentRoot(row))
    }

    /// The definitions of the children that a new node has from its component. It gets those of named layers when it
    /// takes its rows.
    func definitionsInUse(of row: NodeRow) -> Set<ObjectIdentifier> {
        Set(childrenBelowLayers(of: row).map { ObjectIdentifier($0.definition) })
    }

    /// The children that scenes, templates, or the body of its component give a node.
    func childrenBelowLayers(of row: NodeRow) -> [(definition: NodeDefinition, slot: Slot)] {
        if self[row].kind.isMadeFromData { return [] }
        return content(of: row).children(over: bottom(of: row))
    }

    /// True if a node that the layers below the edits make becomes what they say now, with its states. If they say that
    /// another body has it, or make it from something else, it is another node.
    func canFollow(_ definition: NodeDefinition, _ row: NodeRow) -> Bool {
        let (node, bottom) = (self[row], bottom(of: row))
        // What a place shows depends on the body that it is in.
        let isPlacement = definition.forEach?.choice?.isPlacement == true
        return node.kind == definition.kind && bottom?.component == definition.component
            && node.isContent == definition.isContent && (!isPlacement || bottom?.layer == definition.layer)
    }

    /// The node's part, which is made if there is none.
    func part(_ row: NodeRow) -> NodePart {
        if let part = self[row].part { return part }
        let part = NodePart()
        self[row].part = part
        return part
    }

    /// True if the edits make a node.
    func isMade(_ row: NodeRow) -> Bool { self[row].part?.isMade == true }
}

extension NodeDefinition {
    /// The children that are given to the node, without those that its component's body has.
    var given: [(definition: NodeDefinition, slot: Slot)] {
        guard let base else { return slotted.map { ($0.0, $0.1) } }
        let inside = Set(base.slotted.map { ObjectIdentifier($0.0) })
        return slotted.filter { !inside.contains(ObjectIdentifier($0.0)) }.map { ($0.0, $0.1) }
    }

    /// The same without the children that are given to it: these have parts of their own.
    var withoutGivenChildren: NodeDefinition {
        if given.isEmpty { return self }
        let made = NodeDefinition(copyOf: self, id: id)
        func own(_ nodes: [NodeDefinition], _ inBody: [NodeDefinition]?) -> [NodeDefinition] {
            let inside = Set((inBody ?? []).map { ObjectIdentifier($0) })
            return nodes.filter { inside.contains(ObjectIdentifier($0)) }
        }
        made.header = isRepeated ? [] : own(header, base?.header)
        made.children = isRepeated ? [] : own(children, base?.children)
        made.footer = isRepeated ? [] : own(footer, base?.footer)
        return made
    }

    /// True if a document that was read without a node can complete it.
    func canComplete(_ other: NodeDefinition) -> Bool { kind == other.kind && component == other.component }

    /// This definition over another one, with all that is below both.
    func completing(_ base: NodeDefinition) -> NodeDefinition {
        if self.base != nil, base.base != nil {
            // The component is the one that this use means; what the other use gives to it stays.
            let made = sayingAnew(base)
            let ids = Set(slotted.map(\.0.id))
            func others(_ slot: Slot) -> [NodeDefinition] {
                base.given.filter { $0.slot == slot && !ids.contains($0.definition.id) }.map(\.definition)
            }
            made.header += others(.header)
            made.children += others(.content)
            made.footer += others(.footer)
            return made
        }
        let made = merged(over: base)
        func union(_ new: [NodeDefinition], _ old: [NodeDefinition]) -> [NodeDefinition] {
            let known = Dictionary(old.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
            let ids = Set(new.map(\.id))
            return new.map { node in
                guard let other = known[node.id], other !== node, node.canComplete(other) else { return node }
                return node.completing(other)
            } + old.filter { !ids.contains($0.id) }
        }
        made.header = union(header, base.header)
        made.children = union(children, base.children)
        made.footer = union(footer, base.footer)
        return made
    }

    /// This use of a component over an earlier one of the same node, of which modifiers and actions stay that this one
    /// does not have.
    fileprivate func sayingAnew(_ old: NodeDefinition) -> NodeDefinition {
        let made = merged(over: old)
        let names = Set(attributes.map(\.name))
        made.attributes =
            attributes
            + old.attributes.filter {
                guard case .action(let action) = $0.role else { return false }
                return action.isAtUse && !names.contains($0.name)
            }
        made.kind = kind
        (made.header, made.children, made.footer) = (header, children, footer)
        return made
    }

    /// The same without the attributes that another definition says alike, without its modifiers if they change
    /// nothing, and without children.
    fileprivate func differing(from other: NodeDefinition) -> NodeDefinition {
        let made = NodeDefinition(copyOf: self, id: id)
        (made.header, made.children, made.footer) = ([], [], [])
        let known = Dictionary(other.attributes.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        made.attributes = attributes.filter { attribute in
            guard let old = known[attribute.name], old == attribute else { return true }
            return attribute.author.replaces(old.author)
        }
        if isPlain { return made }
        if let forEach, let old = other.forEach, forEach.isSame(as: old) { made.forEach = nil }
        if merged(over: other).hasSameModifiers(as: other) { made.removeModifiers() }
        return made
    }

    /// The same without what a use of a component and the component's body say.
    fileprivate func without(_ use: NodeDefinition) -> NodeDefinition? {
        let names = Set(use.attributes.map(\.name))
        let made = NodeDefinition(copyOf: self, id: id)
        made.attributes = attributes.filter { !names.contains($0.name) }
        if !isPlain {
            func others(_ group: KeyPath<NodeDefinition, [KeyedExpression]>) -> [KeyedExpression] {
                self[keyPath: group].filter { entry in
                    !use[keyPath: group].contains { $0.key == entry.key && $0.steps == entry.steps }
                }
            }
            made.environment = others(\.environment)
            made.containerValues = others(\.containerValues)
            made.preferences = others(\.preferences)
            if use.tag != nil { (made.tag, made.isTagAtUse) = (nil, false) }
            if !use.transformEnvironment.isEmpty { made.transformEnvironment = [] }
            if !use.environmentObjects.isEmpty { (made.environmentObjects, made.objectsAtUse) = ([], 0) }
            if !use.animations.isEmpty { made.animations = [] }
            if use.transition != nil { made.transition = nil }
            if use.isLeftOutOfPast { made.isLeftOutOfPast = false }
        }
        return made.attributes.isEmpty && made.isPlain ? nil : made
    }

    private func removeModifiers() {
        (environment, environmentObjects, objectsAtUse, transformEnvironment) = ([], [], 0, [])
        (containerValues, preferences, animations) = ([], [], [])
        (tag, isTagAtUse, transition, isLeftOutOfPast) = (nil, false, nil, false)
    }
}
