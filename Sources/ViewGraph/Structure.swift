import AttributeGraph
import AttributeValues
import SceneModel

/// What happened to the tree since it was last asked.
public struct StructureChange {
    public internal(set) var addedNodes: [NodeID] = []
    /// Paths, because the nodes are gone.
    public internal(set) var removedNodes: [String] = []
    public internal(set) var movedNodes: [NodeID] = []
    public internal(set) var addedAttributes: [AttributeID] = []
    public internal(set) var removedAttributes: [AttributeID] = []

    public var isEmpty: Bool {
        addedNodes.isEmpty && removedNodes.isEmpty && movedNodes.isEmpty && addedAttributes.isEmpty
            && removedAttributes.isEmpty
    }
}

/// How a document changes a living tree: worked out whole before any of it is done.
public struct ScenePlan {
    var declarations: Declarations
    var creations: [(parent: UInt32, definition: NodeDefinition)] = []
    var removals: [UInt32] = []
    var updates: [(row: UInt32, definition: NodeDefinition, isReplacing: Bool)] = []
    /// Nodes below which everything is connected anew.
    var top: UInt32

    /// Paths, for people.
    public internal(set) var added: [String] = []
    public internal(set) var removed: [String] = []
    public internal(set) var changed: [String] = []
}

public enum ApplyMode {
    /// Every node must be new.
    case create
    /// Nodes that exist are brought up to the document; what it does not mention stays.
    case merge
    /// As merge, but below the place of application nothing stays that the document does not mention.
    case replace
}

extension ViewGraph {
    /// What names mean at a node, for the check of a document that is applied there.
    public func sceneContext(at node: NodeID) -> SceneContext {
        var enclosing: [[(name: String, type: ValueType)]] = []
        var at = node.row
        while true {
            enclosing.append(
                (nodes[Int(at)].attributes.list + nodes[Int(at)].elementScope).map { ($0.name, record($0.attribute).type) })
            if at == NodeID.root.row || nodes[Int(at)].isScopeBoundary { break }
            at = nodes[Int(at)].parent
        }
        return SceneContext(declarations: declarations, enclosing: enclosing)
    }

    /// - Throws: `conflict` for an id that exists already (create), `limit` when the graph would become too large or too deep.
    public func plan(_ scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode) throws(Failure) -> ScenePlan {
        guard nodes[Int(node.row)].kind != .forEach else {
            throw Failure(
                .conflict, "\(path(of: node)) is made from data", path: path(of: node), hint: "change the list it is made from")
        }
        var plan = ScenePlan(declarations: scene.declarations, top: node.row)
        var newNodes = 0
        var pending: [(row: UInt32, definitions: [NodeDefinition], isReplacing: Bool)] = [
            (node.row, scene.nodes, mode == .replace)
        ]
        let depth = ids(of: node.row).count
        while let (row, definitions, isReplacing) = pending.popLast() {
            let parentPath = path(of: nodeID(row))
            let prefix = row == NodeID.root.row ? "/" : parentPath + "/"
            for definition in definitions {
                let name = prefix + AttributePath.quoteIfNeeded(definition.id)
                guard let existing = child(definition.id, of: row) else {
                    plan.creations.append((row, definition))
                    plan.added.append(name)
                    newNodes += try count(definition, below: depth)
                    continue
                }
                guard mode != .create else {
                    throw Failure(
                        .conflict, "\(name) exists already", path: name, hint: "apply with mode merge or replace")
                }
                let old = nodes[Int(existing)]
                guard old.kind == definition.kind, old.definition.component == definition.component else {
                    plan.removals.append(existing)
                    plan.creations.append((row, definition))
                    plan.changed.append(name)
                    newNodes += try count(definition, below: depth)
                    continue
                }
                if differs(existing, definition, isReplacing) { plan.changed.append(name) }
                plan.updates.append((existing, definition, isReplacing))
                if definition.forEach == nil {
                    pending.append((existing, definition.header + definition.children + definition.footer, isReplacing))
                }
            }
            if isReplacing {
                let kept = Set(definitions.map(\.id))
                for child in nodes[Int(row)].children where !kept.contains(nodes[Int(child)].id) {
                    plan.removals.append(child)
                    plan.removed.append(path(of: nodeID(child)))
                }
            }
        }
        guard liveNodes + newNodes <= limits.nodes else {
            throw Failure(.limit, "the graph would have more than \(limits.nodes) nodes")
        }
        return plan
    }

    /// The nodes a definition makes (instances of `forEach` not counted).
    private func count(_ definition: NodeDefinition, below depth: Int) throws(Failure) -> Int {
        var count = 0
        var pending = [(definition, depth + 1)]
        while let (next, depth) = pending.popLast() {
            count += 1
            guard depth <= limits.depth else {
                throw Failure(.limit, "the tree would be deeper than \(limits.depth) nodes", path: next.id)
            }
            for child in next.header + next.children + next.footer { pending.append((child, depth + 1)) }
        }
        return count
    }

    /// Does what was planned. Afterwards the tree is settled; nothing else has been evaluated.
    public func perform(_ plan: ScenePlan) {
        declare(plan.declarations)
        for row in plan.removals where nodes[Int(row)].isAlive {
            let parent = nodes[Int(row)].parent
            destroySubtree(row)
            shapeChanged(at: parent)
            indicesChanged(below: parent)
        }
        for (row, definition, isReplacing) in plan.updates { update(row, definition, isReplacing) }
        var parents: Set<UInt32> = []
        for (parent, definition) in plan.creations {
            let slot = slot(of: definition, in: nodes[Int(parent)].definition)
            instantiate(definition, under: parent, slot: slot)
            parents.insert(parent)
        }
        for parent in parents { shapeChanged(at: parent) }
        if !plan.updates.isEmpty {
            unboundNodes = []
            connect(subtree(of: plan.top))
            shapeChanged(at: plan.top)
        }
        settleStructure()
    }

    private func slot(of child: NodeDefinition, in parent: NodeDefinition) -> Slot {
        if parent.header.contains(where: { $0 === child }) { return .header }
        if parent.footer.contains(where: { $0 === child }) { return .footer }
        return .content
    }

    /// Adds declarations; a key declared again takes the new default and type.
    public func declare(_ new: Declarations) {
        for (name, key) in new.environment {
            declarations.environment[name] = key
            if let existing = environmentDefaults[name] { setInput(existing, .value(key.defaultValue)) }
        }
        declarations.container.merge(new.container) { $1 }
        declarations.preference.merge(new.preference) { $1 }
        declarations.types.merge(new.types) { $1 }
        declarations.components.merge(new.components) { $1 }
    }

    // MARK: Updating one node

    private func differs(_ row: UInt32, _ definition: NodeDefinition, _ isReplacing: Bool) -> Bool {
        for attribute in definition.attributes {
            guard let existing = ownAttribute(attribute.name, of: row),
                let old = record(existing).definition, old.isSame(as: attribute)
            else { return true }
        }
        let names = Set(definition.attributes.map(\.name))
        if isReplacing, nodes[Int(row)].attributes.contains(where: { !names.contains($0.name) && $0.name != "elements" }) {
            return true
        }
        let target = isReplacing ? definition : definition.merged(over: nodes[Int(row)].definition)
        return !target.hasSameModifiers(as: nodes[Int(row)].definition)
    }

    private func update(_ row: UInt32, _ definition: NodeDefinition, _ isReplacing: Bool) {
        let target = isReplacing ? definition : definition.merged(over: nodes[Int(row)].definition)
        let hasSameModifiers = target.hasSameModifiers(as: nodes[Int(row)].definition)
        nodes[Int(row)].definition = target
        for attribute in definition.attributes { update(attribute, of: row) }
        if isReplacing {
            let names = Set(definition.attributes.map(\.name))
            for (name, attribute) in nodes[Int(row)].attributes where !names.contains(name) {
                if nodes[Int(row)].instances?.elements == attribute { continue }
                destroy(attribute)
                nodes[Int(row)].attributes.remove(name)
            }
        }
        if !hasSameModifiers {
            destroyModifiers(of: row)
            createModifiers(of: row)
        }
    }

    /// A state keeps its value while its type stays; everything else takes the new definition.
    private func update(_ definition: AttributeDefinition, of row: UInt32) {
        guard let existing = ownAttribute(definition.name, of: row), let old = record(existing).definition else {
            createAttribute(definition, of: row)
            return
        }
        let isKept: Bool =
            switch (old.role, definition.role) {
            case (.state, .state): old.type == definition.type
            case (.state, _), (_, .state): false
            default: true
            }
        if isKept {
            attributes[Int(existing.index)]?.definition = definition
            attributes[Int(existing.index)]?.type = definition.type
            attributes[Int(existing.index)]?.kind = definition.kind
            if case .binding(_, let animation) = definition.role { attributes[Int(existing.index)]?.animation = animation }
            if case .state(_, let isTransient) = definition.role, case .state = record(existing).source {
                attributes[Int(existing.index)]?.source = .state(isTransient: isTransient)
            }
        } else {
            destroy(existing)
            nodes[Int(row)].attributes.remove(definition.name)
            createAttribute(definition, of: row)
        }
    }

    // MARK: Removing and moving

    /// - Throws: `conflict` for the root and for instances of a `forEach`.
    public func remove(_ node: NodeID) throws(Failure) {
        try refuseRootAndInstances(node)
        let parent = nodes[Int(node.row)].parent
        destroySubtree(node.row)
        shapeChanged(at: parent)
        indicesChanged(below: parent)
        settleStructure()
    }

    /// Gives a node another parent or another place among its siblings. It keeps its states; what it inherits and what
    /// `$names` mean is looked up anew.
    public func move(_ node: NodeID, to parent: NodeID, at index: Int?) throws(Failure) {
        try refuseRootAndInstances(node)
        let oldParent = nodes[Int(node.row)].parent
        guard nodes[Int(parent.row)].kind != .forEach, nodes[Int(parent.row)].kind != .view else {
            throw Failure(
                .conflict, "\(path(of: parent)) is a \(nodes[Int(parent.row)].kind.rawValue), which takes no children",
                path: path(of: parent))
        }
        guard !isInside(parent.row, of: node.row) else {
            throw Failure(.conflict, "\(path(of: node)) cannot move into itself", path: path(of: node))
        }
        let id = nodes[Int(node.row)].id
        if parent.row != oldParent, child(id, of: parent.row) != nil {
            throw Failure(.conflict, "\(path(of: parent)) has a child \(id) already", path: path(of: parent))
        }
        detach(node.row)
        attach(node.row, to: parent.row, at: index)
        let rows = subtree(of: node.row)
        connect(rows)
        placeChanged(of: rows)
        for changed in Set([oldParent, parent.row, node.row]) { shapeChanged(at: changed) }
        for changed in Set([oldParent, parent.row]) { indicesChanged(below: changed) }
        structureChange.movedNodes.append(node)
        settleStructure()
    }

    private func refuseRootAndInstances(_ node: NodeID) throws(Failure) {
        guard node != .root else { throw Failure(.conflict, "the root stays", path: "/") }
        guard nodes[Int(nodes[Int(node.row)].parent)].kind != .forEach else {
            throw Failure(
                .conflict, "\(path(of: node)) is made from data", path: path(of: node),
                hint: "change the list it is made from")
        }
    }

    /// What happened to the tree since the last call.
    public func takeStructureChange() -> StructureChange {
        let change = structureChange
        structureChange = StructureChange()
        return change
    }
}
