import AttributeGraph
import AttributeValues
import SceneModel

// Rows of a store are restored by the nodes: each node that is made takes its own rows.

/// Results of restoring the rows of a store.
struct Restored {
    /// Faults in rows that have found their nodes.
    var failures: [(revision: UInt64, failure: Failure)] = []
    /// The revisions in which the states with restored values were written.
    var states: [AttributeID: UInt64] = [:]
    /// States that have got their first values from rules. These are stored after the restoring.
    var begun: [AttributeID] = []
}

extension ViewGraph {
    /// Restores the rows of a store, over the nodes that scenes have made. Rows without a node wait until data or a
    /// later start makes the node.
    /// - Returns: faults in rows that have found their nodes.
    public func restore(_ rows: [StoredRow], isSalvaged: Bool) -> [(revision: UInt64, failure: Failure)] {
        persistence.author = .store
        persistence.isSalvaged = isSalvaged
        budget.isWaived = true
        var failures = restoreDeclarations(rows.filter { StoredKey.isDeclaration($0.key) })
        persistence.begin(
            with: rows.lazy.filter { !StoredKey.isDeclaration($0.key) && !StoredKey.isUnlinked($0.key) })
        for row in rows where StoredKey.isUnlinked(row.key) { dropUnlinked(row) }
        if !persistence.absentRows.isEmpty {
            restored.failures = []
            complete([NodeID.root.row])
            unboundNodes = []
            connect(withObjects(nodes.subtree(of: NodeID.root.row)))
            // Lists have read the tree before it was restored.
            gatheringChanged()
            settleStructure()
            failures += restored.failures
            restoreTimedValues()
            settleStructure()
            persistence.forgetPresent { state($0, of: $1) != nil }
        }
        armReactions()
        budget.isWaived = false
        persistence.author = .clients
        _ = timedValues.takeForgotten()
        persistence.forgetChanges()
        keep(restored.begun.filter { engine.isAlive($0) && restored.states[$0] == nil })
        restored.begun = []
        return failures
    }

    /// The revisions in which the states with restored values were written.
    public func takeRestoredStates() -> [AttributeID: UInt64] {
        defer { restored.states = [:] }
        return restored.states.filter { engine.isAlive($0.key) }
    }

    private func restoreDeclarations(_ rows: [StoredRow]) -> [(revision: UInt64, failure: Failure)] {
        guard !rows.isEmpty else { return [] }
        func declare(_ rows: [StoredRow]) throws(Failure) {
            var document = ValueMap([(.string("agd"), 1)])
            for row in rows {
                var (group, value) = (
                    String(row.key.dropFirst()), Value.map(ValueMap([(.string(row.name), row.value)]))
                )
                if group.hasPrefix("keys/") {
                    value = .map(ValueMap([(.string(String(group.dropFirst(5))), value)]))
                    group = "keys"
                }
                document[group] = (document[group] ?? .map(ValueMap())).adding(value)
            }
            self.declareNames(try read(.map(document), at: NodeID.root.row).declarations)
        }
        do throws(Failure) {
            try declare(rows)
            return []
        } catch {
            // One by one, as long as some succeed: declarations may need each other.
            var waiting = rows
            var failures: [(revision: UInt64, failure: Failure)] = []
            while true {
                failures = []
                let before = waiting.count
                waiting = waiting.filter { row in
                    do throws(Failure) {
                        try declare([row])
                        return false
                    } catch {
                        failures.append((row.revision, error))
                        return true
                    }
                }
                if waiting.isEmpty || waiting.count == before { return failures }
            }
        }
    }

    private func read(_ document: Value, at row: UInt32) throws(Failure) -> SceneDefinition {
        do throws(SceneFaults) {
            return try SceneReader.read(
                value: document, context: sceneContext(at: nodes.nodeID(row), .merge, isKept: true))
        } catch {
            throw error.failure
        }
    }

    // MARK: Nodes

    /// Gives instances that data has made their rows, before anybody sees them.
    func completeNew() {
        while case let made = persistence.takeMade(), !made.isEmpty { complete(made) }
    }

    /// Applies the clients' changes to nodes that were just made. The caller connects the nodes afterwards.
    private func complete(_ tops: [UInt32]) {
        var completion = Completion(self)
        completion.run(tops)
        if persistence.isRestoring {
            restored.failures += completion.failures
        } else {
            for absent in completion.taken { persistence.absentRows.remove(absent.key, "") }
        }
    }

    /// The durable state of a name at a node, or in an object of the node.
    fileprivate func state(_ name: String, of row: UInt32) -> AttributeID? {
        if let own = ownAttribute(name, of: row) { return isDurable(own) ? own : nil }
        guard name.contains(".") else { return nil }
        return durableStates(of: [row]).first { storePlace(of: $0).name == name }
    }

    /// - Returns: whether the state exists and takes the value.
    fileprivate func give(_ value: StoredRow, to row: UInt32) -> Bool {
        guard let state = state(value.name, of: row),
            let accepted = declarations.accept(value.value, as: record(state).type)
        else { return false }
        rooms[state] = nil
        setInput(state, .value(accepted))
        nodes[Int(row)].hasValues = true
        restored.states[state] = value.revision
        return true
    }

    /// Gives clients' nodes that were made anew the values that are left of them in a recovered store.
    func giveSalvagedValues(below top: UInt32) {
        guard !persistence.absentRows.isEmpty else { return }
        for row in nodes.subtree(of: top) {
            let key = nodes.key(of: row)
            guard let absent = persistence.absentRows[key] else { continue }
            for value in absent.values.values where give(value, to: row) {
                persistence.absentRows.remove(key, value.name)
            }
            if nodes[Int(row)].kept?.isOwn == true { persistence.absentRows.remove(key, "") }
        }
    }

    // MARK: Lists that are held

    /// Whether the store needs the list of a `forEach` to make the instances again: its data is in a durable state, or
    /// clients have changed the instances or can write states in them.
    func isWorthHolding(_ row: UInt32) -> Bool {
        guard let state = nodes[Int(row)].instances, !state.ids.isEmpty else { return false }
        if let target = state.target, isDurable(follow(target).attribute) { return true }
        return nodes.subtree(of: row).contains { nodes[Int($0)].kept != nil }
            || !durableStates(of: nodes.subtree(of: row)).isEmpty
    }

    /// Makes the instances that existed when their data was refused.
    func makeHeld(at row: UInt32) {
        guard let list = persistence.absentList(of: row),
            let definition = nodes[Int(row)].definition.forEach, let state = nodes[Int(row)].instances,
            let failure = state.failure,
            let change = try? ListChange(
                from: state, to: list, idField: definition.idField, hasInstance: { nodes.child($0, of: row) != nil }),
            (try? refuseExcess(change, list, definition, at: row)) != nil
        else { return }
        persistence.takeAbsentList(of: row)
        perform(change, list, definition, at: row)
        nodes[Int(row)].instances?.failure = failure
        nodes[Int(row)].instances?.isHeld = true
    }
}

extension Value {
    /// The union of two maps. Maps in both are united, too.
    fileprivate func adding(_ other: Value) -> Value {
        guard case .map(var map) = self, case .map(let more) = other else { return other }
        for (key, value) in more { map[key] = map[key].map { $0.adding(value) } ?? value }
        return .map(map)
    }
}

/// Gives new nodes their rows, from the top down, so that each definition is checked in its final place.
private struct Completion {
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

    /// What the store has of a new node.
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
            guard let row = onTheirWay.min() else { break }
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
            if let absent = graph.persistence.absentRows[key] { note(absent, as: row) }
            for child in record(row).children {
                pending.append((child, record(child).kept?.key ?? key + "/" + StoredKey.part(record(child).id)))
            }
        }
    }

    private mutating func note(_ absent: AbsentNode, as row: UInt32) {
        absent.made = graph.nodes.nodeID(row)
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
            } else if let parent = fields["parent"]?.string, fields["heir"] == nil, parent != graph.nodes.key(of: row) {
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
        let below = absent.children.map { (order: $0.fields?["order"]?.string ?? "", node: $0) }.sorted {
            $0.order.hasSameBytes(as: $1.order)
                ? $0.node.key.precedesByBytes($1.node.key) : $0.order.precedesByBytes($1.order)
        }.map(\.node)
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
        guard graph.nodes.child(record(row).id, of: parent) == nil, !graph.nodes.isInside(parent, of: row),
            !record(parent).kind.isMadeFromData
        else { return }
        onTheirWay.remove(row)
        graph.persistence.noteHome(
            of: row, graph.nodes.nodeID(record(row).parent), key: key, maker: graph.nodes.maker(of: row))
        graph.releasePlaces(below: row)
        record(row).isContent = graph.isComponentRoot(parent)
        graph.nodes.adopt(row, by: parent)
        disordered.insert(parent)
        takePlace(fields, of: row, in: parent)
        pending.append(row)
    }

    private mutating func takeBack(_ row: UInt32) {
        let home = record(row).parent
        let key = graph.nodes.key(of: row)
        failures.append(
            (
                absent(row)?.own?.revision ?? 0,
                Failure(
                    .notFound, "\(key) is back where it was made, because the node that it was moved to does not exist")
            ))
        guard graph.nodes.child(record(row).id, of: home) == nil else {
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
        for child in children {
            guard let fields = child.fields, let id = fields["id"]?.string, let written = fields["own"],
                case .map(var own) = written, graph.nodes.child(id, of: parent) == nil
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
        guard let made = try? graph.definitions(nodes, names.isEmpty ? nil : .list(Array(names)), at: parent),
            made.count == nodes.count
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
        if let there = graph.nodes.child(id, of: parent) {
            // A scene or template makes the node now.
            guard record(there).kept?.key == nil, !record(parent).kind.isMadeFromData else {
                return fail(absent, Failure(.conflict, "\(key): \(graph.nodes.path(of: there)) is there already"))
            }
            let kept = graph.nodes.kept(there)
            kept.key = key
            kept.isHeir = true
            kept.isStored = true
            taken.append(absent)
            find(below: there)
            takeValues(of: absent, there)
            return
        }
        if let there = graph.nodes.visibleChild(id, of: parent) {
            return fail(absent, Failure(.conflict, "\(key): \(graph.nodes.path(of: there)) is there already"))
        }
        guard case .map(var own)? = fields["own"], !record(parent).kind.isMadeFromData, record(parent).kind != .view
        else {
            return
        }
        var read = definition
        if read == nil {
            own["id"] = .string(id)
            do throws(Failure) { read = try graph.definitions([.map(own)], fields["names"], at: parent).first } catch {
                return fail(absent, error)
            }
        }
        guard var made = read else { return }
        let (component, given) = (fields["madeFrom"]?.string ?? made.component, fields["given"]?.string)
        if made.component != component || made.givenSlot != given {
            made = NodeDefinition(copyOf: made, id: id)
            (made.component, made.givenSlot) = (component, given)
        }
        let slot = fields["slot"]?.string.flatMap { Slot(rawValue: $0) } ?? .content
        let row = graph.instantiate(made, id: id, under: parent, slot: slot)
        record(row).isContent = fields["isContent"] == true
        let kept = graph.nodes.kept(row)
        // A copy: the text itself lies between the rows, whose memory could not be given back.
        kept.key = String(decoding: key.utf8, as: UTF8.self)
        kept.isOwn = true
        kept.isStored = true
        kept.order = fields["order"]?.string
        disordered.insert(parent)
        note(absent, as: row)
        for child in record(row).children { find(below: child) }
        pending.append(row)
    }

    private mutating func fail(_ absent: AbsentNode, _ failure: Failure) {
        failures.append((absent.own?.revision ?? 0, failure))
    }

    private mutating func mergeMembers(_ fields: ValueMap, into row: UInt32, _ absent: AbsentNode) {
        taken.append(absent)
        graph.nodes.kept(row).isStored = true
        let without = fields["without"]?.list ?? []
        guard fields["members"] != nil || !without.isEmpty else { return }
        let old = record(row).definition
        var target = old
        if case .map(var members)? = fields["members"] {
            members["id"] = .string(record(row).id)
            do throws(Failure) {
                guard let read = try graph.definitions([.map(members)], fields["names"], at: record(row).parent).first
                else { return }
                target = read.merged(over: target)
            } catch {
                return fail(absent, error)
            }
        }
        if !without.isEmpty { target = target.without(without) }
        graph.nodes.kept(row).base = old
        _ = graph.update(row, target, true)
    }

    private func takeValues(of absent: AbsentNode, _ row: UInt32) {
        for value in absent.values.values {
            if value.name == Persistence.heldName, record(row).kind.isMadeFromData { continue }
            if graph.give(value, to: row), !graph.persistence.isRestoring {
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
}

extension ViewGraph {
    /// Reads the definitions of nodes, and checks them where the nodes stand.
    fileprivate func definitions(_ nodes: [Value], _ names: Value?, at parent: UInt32) throws(Failure)
        -> [NodeDefinition]
    {
        var document = ValueMap([(.string("agd"), 1), (.string("nodes"), .list(nodes))])
        document["dangling"] = names
        return try read(.map(document), at: parent).nodes
    }
}
