import AttributeValues
import SceneModel

/// Gives new nodes their rows, from the top down, so that each definition is checked in its final place.
struct Completion {
    private let graph: ViewGraph
    /// The rows of new nodes, by the nodes' rows in the tree.
    private var found: [UInt32: AbsentNode] = [:]
    private var pending: [UInt32] = []
    /// Nodes that were moved. No parent lists them until their new parents exist.
    private var onTheirWay: Set<UInt32> = []
    /// Such nodes whose moved descendants were detached, too.
    private var released: Set<UInt32> = []
    /// Parents whose children may be out of order.
    private var disordered: Set<UInt32> = []
    private var removed: [UInt32] = []
    private(set) var taken: [AbsentNode] = []
    private(set) var failures: [(revision: UInt64, failure: Failure)] = []

    init(_ graph: ViewGraph) { self.graph = graph }

    private func record(_ row: UInt32) -> NodeRecord { graph.nodes[Int(row)] }

    /// The store's rows for a new node.
    private func absent(_ row: UInt32) -> AbsentNode? {
        found[row].flatMap { $0.made == graph.nodes.nodeID(row) ? $0 : nil }
    }

    /// The node of a key, if it has taken its rows.
    private func completed(_ key: String) -> UInt32? {
        graph.persistence.absentRows[key].flatMap { $0.isCompleted ? $0.made?.row : nil }
    }

    mutating func run(_ tops: [UInt32]) {
        for top in tops { find(below: top) }
        pending = tops.reversed()
        while true {
            while let row = pending.popLast() { complete(row) }
            // A node may have been moved into a node that was moved out of it.
            if let row = onTheirWay.subtracting(released).min() {
                released.insert(row)
                release(below: row)
                continue
            }
            // The new parents of the remaining nodes do not exist: these nodes stay where they were made.
            // One of them may have been moved into another.
            guard let row = onTheirWay.filter({ !waitsForOther($0) }).min() ?? onTheirWay.min() else { break }
            onTheirWay.remove(row)
            takeBack(row)
        }
        for parent in disordered { sort(parent) }
        for row in removed { graph.destroySubtree(row) }
        for absent in found.values { absent.isCompleted = false }
    }

    /// Notes new nodes that have rows, or rows below them.
    private mutating func find(below top: UInt32) {
        var pending = [(top, graph.nodes.key(of: top))]
        while let (row, key) = pending.popLast() {
            note(graph.persistence.absentRows[key], as: row)
            for child in record(row).children {
                pending.append(
                    (child, graph.nodes.ownKey(of: child) ?? key + "/" + StoredKey.escape(record(child).id.text)))
            }
        }
    }

    /// - Parameter absent: replaces the rows of an earlier key of the node.
    private mutating func note(_ absent: AbsentNode?, as row: UInt32) {
        self.absent(row)?.made = nil
        absent?.made = graph.nodes.nodeID(row)
        found[row] = absent
    }

    private mutating func complete(_ row: UInt32) {
        let absent = absent(row)
        if let absent {
            if let fields = absent.fields { mergeMembers(fields, into: row, absent) }
            takeValues(of: absent, row)
        }
        for child in record(row).children {
            guard let stored = self.absent(child), let fields = stored.fields, record(child).kept?.isOwn != true else {
                pending.append(child)
                continue
            }
            if fields["removed"] == true, !record(row).kind.isMadeFromData {
                graph.nodes.kept(row).removed.insert(record(child).id)
                graph.nodes.detach(child)
                taken.append(stored)
                removed.append(child)
                // Nodes that were moved out of it stay.
                release(below: child)
            } else if let parent = fields["parent"]?.string, fields["heir"] == nil,
                !parent.hasSameBytes(as: graph.nodes.key(of: row))
            {
                graph.nodes.detach(child)
                onTheirWay.insert(child)
                if let there = completed(parent) { put(child, stored.key, fields, below: there) }
            } else {
                takePlace(fields, of: child, in: row)
                pending.append(child)
            }
        }
        guard let absent else { return }
        absent.isCompleted = true
        let below = inOrder(absent.children)
        let definitions = readTogether(below, below: row)
        for (place, child) in below.enumerated() {
            guard let fields = child.fields else { continue }
            if fields["heir"] != nil || fields["own"] != nil {
                make(child, fields, definitions?[place], below: row)
            } else if let moved = child.made, graph.nodes.isAlive(moved), onTheirWay.contains(moved.row) {
                put(moved.row, child.key, fields, below: row)
            }
        }
    }

    /// The order in which nodes below another one are made: that of their places. If several have the same id, the
    /// newest one stands there, so it is made first.
    private func inOrder(_ nodes: [AbsentNode]) -> [AbsentNode] {
        let ids = Set(texts: nodes.compactMap { $0.fields?["id"]?.string })
        if ids.count < nodes.count {
            return nodes.map { (number: StoredKey.number(in: $0.key) ?? 0, node: $0) }.sorted {
                $0.number == $1.number ? $0.node.key.precedesByBytes($1.node.key) : $0.number > $1.number
            }.map(\.node)
        }
        return nodes.map { (order: $0.fields?["order"]?.string ?? "", node: $0) }.sorted {
            $0.order.hasSameBytes(as: $1.order)
                ? $0.node.key.precedesByBytes($1.node.key) : $0.order.precedesByBytes($1.order)
        }.map(\.node)
    }

    /// Detaches nodes below another node that were moved elsewhere.
    private mutating func release(below top: UInt32) {
        for row in graph.nodes.subtree(of: top) where row != top {
            guard let stored = absent(row), let fields = stored.fields, let parent = fields["parent"]?.string,
                fields["heir"] == nil
            else { continue }
            graph.nodes.detach(row)
            onTheirWay.insert(row)
            if let there = completed(parent) { put(row, stored.key, fields, below: there) }
        }
    }

    private mutating func takePlace(_ fields: ValueMap, of row: UInt32, in parent: UInt32) {
        let kept = graph.nodes.kept(row)
        kept.isStored = true
        kept.order = fields["order"]?.string
        if kept.order != nil { disordered.insert(parent) }
        if let slot = fields["slot"]?.string.flatMap({ Slot(rawValue: $0) }), record(row).slot != slot {
            graph.nodes.put(row, into: slot)
            kept.isElsewhere = true
        }
    }

    private mutating func put(_ row: UInt32, _ key: String, _ fields: ValueMap, below parent: UInt32) {
        guard !graph.nodes.isTaken(record(row).id, below: parent), !graph.nodes.isInside(parent, of: row),
            !record(parent).kind.isMadeFromData, record(parent).kind != .view
        else { return }
        onTheirWay.remove(row)
        graph.persistence.noteHome(
            of: row, graph.nodes.nodeID(record(row).parent), key: key, maker: graph.nodes.maker(of: row))
        graph.releasePlaces(below: row)
        graph.nodes.adopt(row, by: parent)
        disordered.insert(parent)
        takePlace(fields, of: row, in: parent)
        pending.append(row)
    }

    /// True if a node was moved to one that is on its way itself, or below one.
    private func waitsForOther(_ row: UInt32) -> Bool {
        let rows = graph.persistence.absentRows
        var key = absent(row)?.fields?["parent"]?.string
        // Clients' nodes in between may still have to be made. The bound is for a damaged store.
        for _ in 0..<graph.limits.depth {
            guard let next = key else { return false }
            if let there = rows[next]?.made, graph.nodes.isAlive(there) {
                return graph.nodes.upward(from: there.row).contains { $0 != row && onTheirWay.contains($0) }
            }
            key = rows.around(next)
        }
        return false
    }

    private mutating func takeBack(_ row: UInt32) {
        let (home, id, key) = (record(row).parent, record(row).id, graph.nodes.key(of: row))
        let there = graph.nodes.child(id, of: home)
        let problem =
            there.map { "\(graph.nodes.path(of: $0)) is a client's node, and" }
            ?? "\(key) is back where it was made, because"
        failures.append(
            (
                absent(row)?.revision ?? 0,
                Failure(
                    .notFound,
                    "\(problem) the node that \(key) was moved to does not exist, is a view, or has another node \(id)"
                )
            ))
        guard there == nil else {
            graph.nodes.kept(home).removed.insert(id)
            removed.append(row)
            return
        }
        graph.nodes.attach(row, to: home)
        disordered.insert(home)
        pending.append(row)
    }

    /// Reads the definitions of a node's new children as one document, which costs less than one
    /// for each.
    /// - Returns: what each child is made from; equal children share it. nil if there is a fault: then each definition
    ///   is read by itself.
    private func readTogether(_ children: [AbsentNode], below parent: UInt32) -> [NodeDefinition?]? {
        guard children.count > 1, !record(parent).kind.isMadeFromData, record(parent).kind != .view else { return nil }
        // For each child, the number of the node in the document that says the same.
        var numbers: [Int?] = []
        var nodes: [Value] = []
        var names: Set<Value> = []
        var last: Value?
        let components = children.first?.fields?["components"]
        for child in children {
            guard let fields = child.fields, let id = fields["id"]?.string, let written = fields["own"],
                case .map(var own) = written, fields["components"] == components,
                graph.nodes.child(Name(id), of: parent) == nil
            else {
                numbers.append(nil)
                continue
            }
            if last.map({ !$0.isIdentical(to: written) }) ?? true || own["forEach"] != nil {
                own["id"] = .string(id)
                nodes.append(.map(own))
            }
            last = written
            if let more = fields["names"]?.list { names.formUnion(more) }
            numbers.append(nodes.count - 1)
        }
        var shared = ValueMap()
        shared["names"] = names.isEmpty ? nil : .list(Array(names))
        shared["components"] = components
        guard let made = try? definitions(nodes, shared, at: parent), made.count == nodes.count
        else { return nil }
        return numbers.map { $0.map { made[$0] } }
    }

    /// Makes a client's node.
    /// - Parameter definition: the definition, if it was read already.
    private mutating func make(
        _ absent: AbsentNode, _ fields: ValueMap, _ definition: NodeDefinition?, below parent: UInt32
    ) {
        guard let id = fields["id"]?.string else { return }
        let key = absent.key
        if let there = graph.nodes.child(Name(id), of: parent) {
            // A scene or template makes the node now.
            guard record(there).kept?.key == nil, !record(parent).kind.isMadeFromData else {
                return fail(absent, Failure(.conflict, "\(key): \(graph.nodes.path(of: there)) is there already"))
            }
            let kept = graph.nodes.kept(there)
            graph.nodes.setKey(key, of: there)
            kept.isHeir = true
            takePlace(fields, of: there, in: parent)
            taken.append(absent)
            find(below: there)
            takeValues(of: absent, there)
            return
        }
        if graph.nodes.isTaken(Name(id), below: parent) {
            let place = graph.nodes.path(of: parent)
            return fail(absent, Failure(.conflict, "\(key): a branch at \(place) has a node \(id) already"))
        }
        guard case .map(var own)? = fields["own"], !record(parent).kind.isMadeFromData, record(parent).kind != .view
        else {
            return
        }
        var read = definition
        if read == nil {
            own["id"] = .string(id)
            do throws(Failure) { read = try definitions([.map(own)], fields, at: parent).first } catch {
                return fail(absent, error)
            }
        }
        guard var made = read else { return }
        let given = givenSlot(fields, made)
        let layer = if case .int(let layer)? = fields["layer"] { Int(layer) } else { 0 }
        if made.givenSlot != given || made.layer != layer {
            made = NodeDefinition(copyOf: made, id: Name(id))
            (made.givenSlot, made.layer) = (given, layer)
        }
        let slot = fields["slot"]?.string.flatMap { Slot(rawValue: $0) } ?? .content
        let row = graph.instantiate(made, id: Name(id), under: parent, slot: slot)
        let kept = graph.nodes.kept(row)
        graph.nodes.setKey(key, of: row)
        kept.isOwn = true
        kept.isStored = true
        kept.order = fields["order"]?.string
        disordered.insert(parent)
        note(absent, as: row)
        for child in record(row).children { find(below: child) }
        pending.append(row)
    }

    private mutating func fail(_ absent: AbsentNode, _ failure: Failure) {
        failures.append((absent.revision, failure))
    }

    private mutating func mergeMembers(_ fields: ValueMap, into row: UInt32, _ absent: AbsentNode) {
        taken.append(absent)
        graph.nodes.kept(row).isStored = true
        if case .bool(let isContent)? = fields["isContent"] { record(row).isContent = isContent }
        let without = fields["without"]?.list ?? []
        let old = record(row).definition
        let given = givenSlot(fields, old)
        let isChanged = fields["members"] != nil || fields["use"] != nil || !without.isEmpty
        guard isChanged || given != old.givenSlot else { return }
        func read(_ field: String, isAtUse: Bool = false) throws(Failure) -> NodeDefinition? {
            guard case .map(var members)? = fields[field] else { return nil }
            members["id"] = .string(record(row).id.text)
            return try definitions([.map(members)], fields, at: record(row).parent, isAtUse: isAtUse).first
        }
        var target: NodeDefinition
        do throws(Failure) {
            let members = try read("members") ?? NodeDefinition()
            if let atUse = fields["atUse"]?.list { members.noteAtUse(atUse) }
            target = members.merged(over: old, without: without)
            // What is written at the use of a component knows the component's parameters alone.
            if let use = try read("use", isAtUse: true) { target = use.merged(over: target, isOfUse: true) }
        } catch {
            return fail(absent, error)
        }
        target.givenSlot = given
        if given != old.givenSlot { disordered.insert(record(row).parent) }
        graph.nodes.kept(row).base = old
        // A scene has made instances of its own template.
        if let data = old.forEach, target.forEach?.isSame(as: data) == false { graph.removeInstances(of: row) }
        _ = graph.redefineNode(row, target, true)
    }

    /// The slot that a node is given for.
    /// - Parameter made: what it was made from.
    private func givenSlot(_ fields: ValueMap, _ made: NodeDefinition) -> String? {
        guard let slot = fields["given"]?.string else { return made.givenSlot }
        return slot == NodeDefinition.contentSlot ? nil : slot
    }

    private func takeValues(of absent: AbsentNode, _ row: UInt32) {
        for value in absent.values.values {
            if value.name == Persistence.heldName, record(row).kind.isMadeFromData {
                graph.unsettled.lists.insert(row)
                continue
            }
            if graph.stored.give(value, to: row), !graph.persistence.isRestoring {
                graph.persistence.absentRows.remove(absent.key, value.name)
            }
        }
    }

    private func sort(_ parent: UInt32) {
        guard !record(parent).kind.isMadeFromData else { return }
        let children = record(parent).children.enumerated().map { place, row in
            (rank: graph.nodes.rank(of: row), order: graph.nodes.order(of: row) ?? "~~", place: place, row: row)
        }
        func precedes(
            _ a: (rank: Int, order: String, place: Int, row: UInt32),
            _ b: (rank: Int, order: String, place: Int, row: UInt32)
        ) -> Bool {
            if a.rank != b.rank { return a.rank < b.rank }
            if !a.order.hasSameBytes(as: b.order) { return a.order.precedesByBytes(b.order) }
            return a.place < b.place
        }
        graph.nodes.order(children.sorted(by: precedes).map(\.row), below: parent)
        graph.indicesChanged(below: parent)
    }

    /// Reads the definitions of nodes, and checks them where the nodes stand.
    /// - Parameter fields: of their rows.
    private func definitions(
        _ nodes: [Value], _ fields: ValueMap, at parent: UInt32, isAtUse: Bool = false
    ) throws(Failure) -> [NodeDefinition] {
        var document = ValueMap([(.string("agd"), 1), (.string("nodes"), .list(nodes))])
        document["dangling"] = fields["names"]
        document["components"] = fields["components"]
        return try graph.read(.map(document), at: parent, isAtUse: isAtUse).nodes
    }
}
