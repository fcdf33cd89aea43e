import AttributeValues
import SceneModel

/// Gives new nodes their rows: what the edits say of them, and their values. It goes from the top down, so that each
/// definition is checked in its final place.
struct RowApplication {
    private let graph: ViewGraph
    /// The rows of new nodes, by the nodes' rows in the tree.
    private var found: [NodeRow: AbsentNode] = [:]
    private var pending: [NodeRow] = []
    /// The keys of all rows without a node, once a former place was looked for.
    private var keys: KeyTree?
    /// Parents whose children may be out of order.
    private var disordered: Set<NodeRow> = []
    /// Nodes that are not to be there after all.
    private var removed: Set<NodeRow> = []
    private(set) var taken: [AbsentNode] = []
    private(set) var failures: [(revision: UInt64, failure: Failure)] = []

    init(_ graph: ViewGraph) { self.graph = graph }

    private func record(_ row: NodeRow) -> NodeRecord { graph.nodes[row] }

    /// The store's rows for a new node.
    private func absent(_ row: NodeRow) -> AbsentNode? {
        found[row].flatMap { $0.made == graph.nodes.nodeID(row) ? $0 : nil }
    }

    mutating func run(_ tops: [NodeRow]) {
        for top in tops { find(below: top, graph.nodes.key(of: top)) }
        pending = tops.reversed()
        while let row = pending.popLast() { complete(row) }
        for parent in disordered { graph.sortChildren(of: parent) }
        for row in removed.sorted() { graph.destroySubtree(row) }
    }

    /// Notes new nodes that have rows.
    private mutating func find(below top: NodeRow, _ key: String) {
        graph.persistence.renameAbsentRows(formerPlaces(below: top), &keys)
        var pending = [(top, key)]
        while let (row, key) = pending.popLast() {
            if let absent = graph.persistence.absentRows[key] {
                absent.made = graph.nodes.nodeID(row)
                found[row] = absent
            }
            for child in record(row).children {
                pending.append((child, key + "/" + StoredKey.escape(record(child).id.text)))
            }
        }
    }

    /// The nodes with a former place, each with the ids of that place.
    private func formerPlaces(below top: NodeRow) -> [(former: [Name], key: String)] {
        graph.nodes.subtree(of: top).compactMap { row in
            guard record(row).definition.former != nil, let ids = formerIDs(of: row, below: top) else { return nil }
            return (ids, graph.nodes.key(of: row))
        }
    }

    /// - Parameter top: what is around it is where it was.
    private func formerIDs(of row: NodeRow, below top: NodeRow) -> [Name]? {
        if row == .root { return [] }
        var way = [row]
        while let last = way.last, last != top, record(last).parent != .root {
            way.append(record(last).parent)
        }
        var ids = way.last.map { graph.nodes.keyIDs(of: record($0).parent) } ?? []
        for row in way.reversed() {
            if let former = record(row).definition.former {
                guard let there = former.ids(below: ids) else { return nil }
                ids = there
            } else {
                ids.append(record(row).id)
            }
        }
        return ids
    }

    private mutating func complete(_ row: NodeRow) {
        if removed.contains(row) { return }
        guard let absent = absent(row) else {
            takeLayers(below: row)
            pending += record(row).children.reversed()
            return
        }
        // A node that was just made by a document has its part, which replaces the one that waits.
        if record(row).part?.isMade == true, absent.fields != nil { taken.append(absent) }
        takeOwn(row, absent)
        takeValues(of: absent, row)
        takeLayers(below: row)
        let below = inOrder(absent.children)
        for child in below where child.fields?["removed"] == true { remove(child, below: row) }
        pending += record(row).children.reversed()
        let made = below.filter { $0.fields?["makes"] != nil }
        if !made.isEmpty {
            // Their branches say which ids are free.
            for child in record(row).children where record(child).kind == .choice {
                if let absent = self.absent(child) { takeOwn(child, absent) }
            }
        }
        let definitions = readTogether(made, below: row)
        for (position, child) in made.enumerated() {
            guard let fields = child.fields else { continue }
            make(child, fields, definitions?[position], below: row)
        }
    }

    /// Takes what the edits say of a node that the layers below make, if it has not been taken.
    private mutating func takeOwn(_ row: NodeRow, _ absent: AbsentNode) {
        if record(row).part == nil, let fields = absent.fields, fields["makes"] == nil, fields["removed"] == nil {
            take(fields, into: row, absent)
        }
    }

    /// Gives a node the children that named layers complete or make.
    private mutating func takeLayers(below row: NodeRow) {
        guard !graph.nodes.layers.isEmpty, !record(row).kind.isMadeFromData, record(row).kind != .view,
            case let key = graph.nodes.key(of: row), !graph.nodes.layers.keys(below: key).isEmpty
        else { return }
        graph.readLayers(below: row, key)
        rebase(row, graph.nodes.childrenBelowEdits(of: row))
    }

    private mutating func remove(_ absent: AbsentNode, below row: NodeRow) {
        if record(row).kind.isMadeFromData { return }
        let id = Name(StoredKey.id(of: absent.key))
        taken.append(absent)
        absent.isTaken = true
        let part = graph.nodes.part(row)
        part.removed.insert(id)
        part.revision = max(part.revision, absent.revision)
        if let there = graph.nodes.child(id, of: row) { drop(there) }
    }

    /// Takes a node out of the tree that a layer below has made.
    private mutating func drop(_ row: NodeRow) {
        graph.nodes.detach(row)
        removed.insert(row)
    }

    /// The order in which nodes below another one are made: that of their places.
    private func inOrder(_ nodes: [AbsentNode]) -> [AbsentNode] {
        nodes.map { (order: $0.fields?["order"]?.string ?? "", node: $0) }.sorted {
            $0.order.hasSameBytes(as: $1.order)
                ? $0.node.key.precedesByBytes($1.node.key) : $0.order.precedesByBytes($1.order)
        }.map(\.node)
    }

    private mutating func takePlace(_ fields: ValueMap, of row: NodeRow) {
        let part = graph.nodes.part(row)
        part.isStored = true
        part.order = fields["order"]?.string
        let parent = record(row).parent
        if part.order != nil { disordered.insert(parent) }
        if let slot = fields["slot"]?.string.flatMap({ Slot(rawValue: $0) }), record(row).slot != slot {
            graph.nodes.put(row, into: slot)
            part.isElsewhere = !part.isMade
        }
    }

    /// Reads the definitions of a node's new children as one document, which costs less than one
    /// for each.
    /// - Returns: what each child is made from; equal children share it. nil if there is a fault: then each definition
    ///   is read by itself.
    private func readTogether(_ children: [AbsentNode], below parent: NodeRow) -> [NodeDefinition?]? {
        guard children.count > 1, !record(parent).kind.isMadeFromData, record(parent).kind != .view else { return nil }
        // For each child, the number of the node in the document that says the same.
        var numbers: [Int?] = []
        var nodes: [Value] = []
        var names: Set<Value> = []
        var last: Value?
        for child in children {
            guard let fields = child.fields, let written = fields["makes"], case .map(var own) = written,
                graph.nodes.child(Name(StoredKey.id(of: child.key)), of: parent) == nil
            else {
                numbers.append(nil)
                continue
            }
            if last.map({ !$0.isIdentical(to: written) }) ?? true || own["forEach"] != nil {
                own["id"] = .string(StoredKey.id(of: child.key))
                nodes.append(.map(own))
            }
            last = written
            if let more = fields["names"]?.list { names.formUnion(more) }
            numbers.append(nodes.count - 1)
        }
        var shared = ValueMap()
        shared["names"] = names.isEmpty ? nil : .list(Array(names))
        guard let made = try? definitions(nodes, shared, at: parent), made.count == nodes.count
        else { return nil }
        return numbers.map { $0.map { made[$0] } }
    }

    /// Makes a node that the edits make.
    /// - Parameter definition: the definition, if it was read already.
    private mutating func make(
        _ absent: AbsentNode, _ fields: ValueMap, _ definition: NodeDefinition?, below parent: NodeRow
    ) {
        let (key, id) = (absent.key, Name(StoredKey.id(of: absent.key)))
        if let there = graph.nodes.child(id, of: parent) {
            // A document has made it anew.
            if graph.nodes.isMade(there) { return taken.append(absent) }
            // The upper layer counts.
            drop(there)
        }
        if graph.nodes.isTaken(id, below: parent) {
            let place = graph.nodes.path(of: parent)
            return fail(absent, Failure(.conflict, "\(key): a branch at \(place) has a node \(id) already"))
        }
        guard case .map(var own)? = fields["makes"], !record(parent).kind.isMadeFromData, record(parent).kind != .view
        else {
            let place = graph.nodes.path(of: parent)
            return fail(absent, Failure(.conflict, "\(key) waits: \(place) takes no children"))
        }
        var read = definition
        if read == nil {
            own["id"] = .string(id.text)
            do throws(Failure) { read = try definitions([.map(own)], fields, at: parent).first } catch {
                return fail(absent, error)
            }
        }
        guard var made = read else { return }
        let given = givenSlot(fields)
        let layer = if case .int(let layer)? = fields["layer"] { Int(layer) } else { 0 }
        if made.givenSlot != given || made.layer != layer {
            made = NodeDefinition(copyOf: made, id: id)
            (made.givenSlot, made.layer) = (given, layer)
        }
        let slot = fields["slot"]?.string.flatMap { Slot(rawValue: $0) } ?? .content
        let row = graph.instantiate(made, id: id, under: parent, slot: slot)
        record(row).isContent = graph.nodes.isComponentRoot(parent)
        let part = graph.nodes.part(row)
        part.isMade = true
        part.isStored = true
        part.order = fields["order"]?.string
        part.revision = absent.revision
        disordered.insert(parent)
        taken.append(absent)
        if fields["members"] != nil { takeMembers(fields, into: row, absent) }
        find(below: row, key)
        pending.append(row)
    }

    private mutating func fail(_ absent: AbsentNode, _ failure: Failure) {
        failures.append((absent.revision, failure))
    }

    /// Takes what the edits say of a node that the layers below make.
    private mutating func take(_ fields: ValueMap, into row: NodeRow, _ absent: AbsentNode) {
        let says = ["completes", "members", "given"].contains { fields[.string($0)] != nil }
        if says, !takeMembers(fields, into: row, absent) { return }
        taken.append(absent)
        takePlace(fields, of: row)
        graph.nodes.part(row).revision = absent.revision
    }

    /// - Returns: false if they do not fit the node as it is now; then they wait.
    @discardableResult
    private mutating func takeMembers(_ fields: ValueMap, into row: NodeRow, _ absent: AbsentNode) -> Bool {
        let bottom = graph.nodes.bottom(of: row)
        var content = graph.nodes.content(of: row)
        func read(_ field: String) throws(Failure) -> NodeDefinition? {
            guard case .map(var members)? = fields[field] else { return nil }
            members["id"] = .string(record(row).id.text)
            return try definitions([.map(members)], fields, at: record(row).parent).first
        }
        do throws(Failure) {
            if let said = try read("completes") { content.said = said.withoutGivenChildren }
            content.members = try read("members")
        } catch {
            fail(absent, error)
            return false
        }
        if let said = content.said, said.kind != record(row).kind {
            let path = graph.nodes.path(of: row)
            fail(
                absent,
                Failure(
                    .conflict, "\(path) is a \(record(row).kind.rawValue) now: what clients made of it waits",
                    path: path))
            return false
        }
        if let slot = givenSlot(fields), !content.isMade {
            if content.members == nil, content.said == nil { content.members = NodeDefinition() }
            if let members = content.members { members.givenSlot = slot } else { content.said?.givenSlot = slot }
            disordered.insert(record(row).parent)
        }
        guard let target = content.compose(over: bottom) else { return true }
        let old = record(row).definition
        // A layer below has made instances of its own template.
        if let data = old.forEach, target.forEach?.isSame(as: data) == false { graph.removeInstances(of: row) }
        graph.nodes.set(content, over: bottom, of: row)
        _ = graph.redefineNode(row, target)
        if content.said != nil, !content.isMade { rebase(row, content.children(over: bottom)) }
        return true
    }

    /// Gives new nodes below another one the definitions of a composed list.
    private mutating func rebase(_ row: NodeRow, _ children: [(definition: NodeDefinition, slot: Slot)]) {
        var pending = [(row, children)]
        while let (row, children) = pending.popLast() {
            for (place, (definition, slot)) in children.enumerated() {
                let child: NodeRow
                if let there = graph.nodes.child(definition.id, of: row), graph.nodes.isMade(there) { continue }
                if let there = graph.nodes.child(definition.id, of: row), graph.nodes.canFollow(definition, there) {
                    child = there
                    record(child).basePlace = UInt32(place)
                    if record(there).definition === definition { continue }
                    if let data = record(there).definition.forEach, definition.forEach?.isSame(as: data) == false {
                        graph.removeInstances(of: there)
                    }
                    _ = graph.redefineNode(there, definition)
                    if !record(there).kind.isMadeFromData {
                        pending.append((there, definition.slotted.map { ($0.0, $0.1) }))
                    }
                } else {
                    if let there = graph.nodes.child(definition.id, of: row) { drop(there) }
                    child = graph.instantiate(definition, under: row, slot: slot)
                }
                record(child).basePlace = UInt32(place)
            }
            disordered.insert(row)
        }
        find(below: row, graph.nodes.key(of: row))
    }

    /// The slot that a node is given for.
    private func givenSlot(_ fields: ValueMap) -> String? {
        guard let slot = fields["given"]?.string else { return nil }
        return slot == NodeDefinition.contentSlot ? nil : slot
    }

    private func takeValues(of absent: AbsentNode, _ row: NodeRow) {
        for value in absent.values.values {
            if value.name == Persistence.frozenName, record(row).kind.isMadeFromData {
                graph.unsettled.lists.insert(row)
                continue
            }
            if take(value, row), !graph.persistence.isRestoring {
                graph.persistence.absentRows.remove(absent.key, value.name)
            }
        }
    }

    /// - Returns: whether the node has something of this name.
    private func take(_ value: StoredRow, _ row: NodeRow) -> Bool {
        guard value.name == Persistence.appearedName else { return graph.stored.give(value, to: row) }
        graph.reactions.restore(row)
        return true
    }

    /// Reads the definitions of nodes, and checks them where the nodes stand.
    /// - Parameter fields: of their rows.
    private func definitions(
        _ nodes: [Value], _ fields: ValueMap, at parent: NodeRow
    ) throws(Failure) -> [NodeDefinition] {
        var document = ValueMap([(.string("agd"), 1), (.string("nodes"), .list(nodes))])
        document["dangling"] = fields["names"]
        return try graph.read(.map(document), at: parent).nodes
    }
}

extension ViewGraph {
    /// Puts the children of a node into the order that the layers give them.
    /// - Returns: whether it is another one.
    @discardableResult
    func sortChildren(of parent: NodeRow) -> Bool {
        guard !nodes[parent].kind.isMadeFromData else { return false }
        let before = nodes[parent].children
        let children = before.enumerated().map { position, row in
            (rank: nodes.rank(of: row), order: nodes.order(of: row) ?? "~~", place: position, row: row)
        }
        func precedes(
            _ a: (rank: Int, order: String, place: Int, row: NodeRow),
            _ b: (rank: Int, order: String, place: Int, row: NodeRow)
        ) -> Bool {
            if a.rank != b.rank { return a.rank < b.rank }
            if !a.order.hasSameBytes(as: b.order) { return a.order.precedesByBytes(b.order) }
            // A node that has waited may have the key of one that was made meanwhile.
            let (first, second) = (nodes[a.row], nodes[b.row])
            if first.part?.order != nil, second.part?.order != nil {
                return first.id.text.precedesByBytes(second.id.text)
            }
            return a.place < b.place
        }
        let after = children.sorted(by: precedes).map(\.row)
        nodes.order(after, below: parent)
        unsettled.regrouped.insert(parent)
        return after != before
    }
}
