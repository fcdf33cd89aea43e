import AttributeGraph
import AttributeValues
import SceneModel

// How rows of a store come back: each node that is made takes its own.

extension ViewGraph {
    /// Puts back what a store has kept, over the nodes that scenes have made. Rows without a node wait until data or a later start
    /// makes one.
    /// - Returns: what is wrong with rows that have found their place.
    public func restore(_ rows: [StoredRow], isSalvaged: Bool) -> [(revision: UInt64, failure: Failure)] {
        isRestoring = true
        self.isSalvaged = isSalvaged
        notesChanges = false
        var failures = restoreDeclarations(rows.filter { StoredKey.isDeclaration($0.key) })
        for row in rows where !StoredKey.isDeclaration(row.key) && row.key != StoredKey.unlinked {
            absentRows.insert(row)
            nextKeyNumber = max(nextKeyNumber, StoredKey.number(in: row.key) ?? 0)
        }
        for row in rows where row.key == StoredKey.unlinked { dropUnlinked(row) }
        if !absentRows.isEmpty {
            restoringFailures = []
            complete([NodeID.root.row])
            unboundNodes = []
            connect(withObjects(nodes.subtree(of: NodeID.root.row)))
            // Lists have read the tree as scenes made it.
            gatheringChanged()
            settleStructure()
            failures += restoringFailures
            restoreTimedValues()
            settleStructure()
            forgetPresent()
        }
        armReactions()
        notesChanges = true
        isRestoring = false
        storeChanges = []
        keep(begunStates.filter { engine.isAlive($0) && restoredStates[$0] == nil })
        begunStates = []
        return failures
    }

    /// How many rows have no node.
    public var absentRowCount: Int { absentRows.count }

    /// How many of them say what clients changed of a node.
    public var absentNodeCount: Int { absentRows.rows.values.count { $0[""] != nil } }

    /// What the rows say that have no node, for people.
    public var absentKeys: [(revision: UInt64, key: String)] {
        absentRows.rows.map { ($0.value.values.map(\.revision).min() ?? 0, $0.key) }.sorted {
            $0.key.precedesByBytes($1.key)
        }
    }

    /// Deletes the rows without a node.
    /// - Returns: how many they were.
    public func prune() -> Int {
        let count = absentRows.count
        for key in absentRows.rows.keys.sorted(by: { $0.precedesByBytes($1) }) {
            storeChanges.append(StoreChange(key: key, name: nil, value: nil))
        }
        absentRows = AbsentRows()
        return count
    }

    /// When the states were written that have their values from the store.
    public func takeRestoredStates() -> [AttributeID: UInt64] {
        defer { restoredStates = [:] }
        return restoredStates.filter { engine.isAlive($0.key) }
    }

    /// The places of children that scenes have made.
    public func noteScenePlaces() {
        for row in nodes.living where !nodes[Int(row)].kind.isMadeFromData {
            for (place, child) in nodes[Int(row)].children.enumerated() { nodes[Int(child)].basePlace = UInt32(place) }
        }
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
            self.declare(try read(.map(document), at: NodeID.root.row).declarations)
        }
        do throws(Failure) {
            try declare(rows)
            return []
        } catch {
            // One by one, as long as that leads on: they may need each other.
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

    /// Instances that data has made take their rows before anybody sees them.
    func completeNew() {
        while !newInstances.isEmpty {
            let made = newInstances.filter { nodes.isAlive($0) }
            newInstances = []
            if !absentRows.isEmpty { complete(made) }
        }
    }

    /// Nodes that were just made become what clients had made of them. They are connected afterwards.
    private func complete(_ tops: [UInt32]) {
        var completion = Completion(self)
        completion.run(tops)
        restoringFailures += completion.failures
        if !isRestoring {
            for key in completion.taken { absentRows.remove(key, "") }
        }
        keptFromNow = []
    }

    /// Forgets the rows whose nodes are there by now.
    private func forgetPresent() {
        for row in nodes.living {
            let node = nodes[Int(row)]
            guard node.hasValues || node.kept?.isStored == true || node.kept?.removed.isEmpty == false else { continue }
            let key = key(of: row)
            for id in node.kept?.removed ?? [] { absentRows.remove(key + "/" + StoredKey.part(id)) }
            guard let names = absentRows.rows[key]?.keys else { continue }
            for name in names
            where name == "" || name == ViewGraph.heldName && node.instances?.isHeld == true
                || state(name, of: row) != nil
            {
                absentRows.remove(key, name)
            }
        }
    }

    /// The durable state of that name behind a node.
    fileprivate func state(_ name: String, of row: UInt32) -> AttributeID? {
        if let own = ownAttribute(name, of: row) { return isDurable(own) ? own : nil }
        guard name.contains(".") else { return nil }
        return durableStates(of: [row]).first { storePlace(of: $0).name == name }
    }

    /// - Returns: whether the state is there and takes the value.
    fileprivate func give(_ value: StoredRow, to row: UInt32) -> Bool {
        guard let state = state(value.name, of: row),
            let accepted = declarations.accept(value.value, as: record(state).type)
        else { return false }
        rooms[state] = nil
        setInput(state, .value(accepted))
        nodes[Int(row)].hasValues = true
        restoredStates[state] = value.revision
        return true
    }

    /// A client's node that is made anew finds the values that are left of it in a recovered store.
    func giveSalvagedValues(below top: UInt32) {
        guard !absentRows.isEmpty else { return }
        for row in nodes.subtree(of: top) {
            let key = key(of: row)
            guard let rows = absentRows.rows[key] else { continue }
            for value in rows.values where !value.name.isEmpty && give(value, to: row) {
                absentRows.remove(key, value.name)
            }
            if nodes[Int(row)].kept?.isOwn == true { absentRows.remove(key, "") }
        }
    }

    // MARK: Lists that are held

    func elementsPath(of row: UInt32) -> String { nodes.path(of: row) + "." + ViewGraph.heldName }

    /// Instances that a start would not make again from what is kept else.
    func isWorthHolding(_ row: UInt32) -> Bool {
        guard let state = nodes[Int(row)].instances, !state.ids.isEmpty else { return false }
        if let target = state.target, isDurable(follow(target).attribute) { return true }
        return nodes.subtree(of: row).contains { nodes[Int($0)].kept != nil }
            || !durableStates(of: nodes.subtree(of: row)).isEmpty
    }

    /// Makes the instances that were there when their data was refused.
    func makeHeld(at row: UInt32) {
        guard !absentRows.isEmpty, case .list(let list)? = absentRows.rows[key(of: row)]?[ViewGraph.heldName]?.value,
            let definition = nodes[Int(row)].definition.forEach, let state = nodes[Int(row)].instances,
            let failure = state.failure,
            let change = try? ListChange(from: state, to: list, idField: definition.idField),
            (try? refuseExcess(change, list, definition, at: row)) != nil
        else { return }
        if !isRestoring { absentRows.remove(key(of: row), ViewGraph.heldName) }
        perform(change, list, definition, at: row)
        nodes[Int(row)].hasValues = true
        nodes[Int(row)].instances?.failure = failure
        nodes[Int(row)].instances?.isHeld = true
    }

    /// Data makes instances again: those that were held do not come back if it is refused later.
    func forgetAbsentList(of row: UInt32) {
        guard !absentRows.isEmpty, !isRestoring else { return }
        let key = key(of: row)
        guard absentRows.rows[key]?[ViewGraph.heldName] != nil else { return }
        absentRows.remove(key, ViewGraph.heldName)
        storeChanges.append(StoreChange(key: key, name: ViewGraph.heldName, value: nil))
    }

    /// Instances that are not there yet are what another template says, whatever clients had changed in them; not so those in them.
    func forgetAbsentChanges(below forEach: UInt32) {
        let top = key(of: forEach)
        let made = nodes[Int(forEach)].definition.forEach
        for key in absentRows.keys(below: [top]).sorted(by: { $0.precedesByBytes($1) }) {
            guard let ids = absentRows.ids(of: key, below: top), let instance = ids.first else { continue }
            func isNamed(_ definition: NodeDefinition, _ id: String) -> Bool {
                StoredKey.part(definition.id) == id || definition.id == id
            }
            var definition =
                made?.choice == nil ? made?.templates.first : made?.templates.first { isNamed($0, instance) }
            var isInside = false
            for id in ids.dropFirst() {
                if definition?.forEach != nil { isInside = true }
                definition = definition?.slotted.first { isNamed($0.0, id) }?.0
            }
            if isInside { continue }
            let isOwn = StoredKey.number(in: key) != nil
            guard isOwn || absentRows.node(key) != nil else { continue }
            if isOwn { absentRows.remove(key) } else { absentRows.remove(key, "") }
            storeChanges.append(StoreChange(key: key, name: isOwn ? nil : "", value: nil))
        }
    }
}

extension Value {
    /// Two maps as one; maps in both become one, too.
    fileprivate func adding(_ other: Value) -> Value {
        guard case .map(var map) = self, case .map(let more) = other else { return other }
        for (key, value) in more { map[key] = map[key].map { $0.adding(value) } ?? value }
        return .map(map)
    }
}

/// How new nodes take their rows: from the top down, so that each definition is checked where it stands in the end.
private struct Completion {
    private let graph: ViewGraph
    /// New nodes by key, if there are rows for them or below them.
    private var made: [String: UInt32] = [:]
    private var pending: [UInt32] = []
    /// Nodes that were moved, in no parent's list until their parents are there.
    private var onTheirWay: Set<UInt32> = []
    /// Those of them whose parts are on their way, too.
    private var released: Set<UInt32> = []
    /// Parents whose children may be out of order.
    private var disordered: Set<UInt32> = []
    private var removed: [UInt32] = []
    private(set) var taken: [String] = []
    private(set) var failures: [(revision: UInt64, failure: Failure)] = []

    init(_ graph: ViewGraph) { self.graph = graph }

    private func record(_ row: UInt32) -> NodeRecord { graph.nodes[Int(row)] }

    mutating func run(_ tops: [UInt32]) {
        for top in tops { find(below: top) }
        pending = tops.reversed()
        while true {
            while let row = pending.popLast() { complete(row) }
            // One may stand in what was moved out of it.
            if let row = onTheirWay.subtracting(released).min() {
                released.insert(row)
                release(below: row)
                continue
            }
            // Their parents have not come: they stay where they were made.
            guard let row = onTheirWay.min() else { break }
            onTheirWay.remove(row)
            takeBack(row)
        }
        for parent in disordered { sort(parent) }
        for row in removed { graph.destroySubtree(row) }
    }

    /// Notes new nodes for which there is something.
    private mutating func find(below top: UInt32) {
        var pending = [(top, graph.key(of: top))]
        while let (row, key) = pending.popLast() {
            if graph.absentRows.rows[key] != nil || graph.absentRows.children[key] != nil { made[key] = row }
            for child in record(row).children {
                pending.append((child, record(child).kept?.key ?? key + "/" + StoredKey.part(record(child).id)))
            }
        }
    }

    private mutating func complete(_ row: UInt32) {
        let key = graph.key(of: row)
        if made[key] == row {
            if let fields = graph.absentRows.node(key) { mergeMembers(fields, into: row, key) }
            takeValues(key, row)
        }
        for child in record(row).children {
            let childKey = graph.key(of: child)
            guard made[childKey] == child, let fields = graph.absentRows.node(childKey),
                record(child).kept?.isOwn != true
            else {
                pending.append(child)
                continue
            }
            if fields["removed"] == true, !record(row).kind.isMadeFromData {
                graph.kept(row).removed.insert(record(child).id)
                graph.nodes.detach(child)
                taken.append(childKey)
                removed.append(child)
                // What was moved out of it goes on.
                release(below: child)
            } else if let parent = fields["parent"]?.string, fields["heir"] == nil, parent != key {
                graph.nodes.detach(child)
                onTheirWay.insert(child)
                if let there = made[parent], isCompleted.contains(there) { put(child, childKey, fields, below: there) }
            } else {
                takePlace(fields, of: child, in: row)
                pending.append(child)
            }
        }
        isCompleted.insert(row)
        guard let keys = graph.absentRows.children[key] else { return }
        let rows = keys.map { (order: orderOfRow($0), key: $0) }.sorted { $0.order.precedesByBytes($1.order) }
        var definitions = readTogether(rows.map(\.key), below: row)
        for (_, childKey) in rows {
            guard let fields = graph.absentRows.node(childKey) else { continue }
            if fields["heir"] != nil || fields["own"] != nil {
                make(childKey, fields, definitions.removeValue(forKey: childKey), below: row)
            } else if let moved = made[childKey], onTheirWay.contains(moved) {
                put(moved, childKey, fields, below: row)
            }
        }
    }

    private var isCompleted: Set<UInt32> = []

    private func orderOfRow(_ key: String) -> String {
        (graph.absentRows.node(key)?["order"]?.string ?? "") + " " + key
    }

    /// Nodes below one that goes, which were moved elsewhere.
    private mutating func release(below top: UInt32) {
        for row in graph.nodes.subtree(of: top) where row != top {
            let key = graph.key(of: row)
            guard made[key] == row, let fields = graph.absentRows.node(key), let parent = fields["parent"]?.string,
                fields["heir"] == nil
            else { continue }
            graph.nodes.detach(row)
            onTheirWay.insert(row)
            if let there = made[parent], isCompleted.contains(there) { put(row, key, fields, below: there) }
        }
    }

    private mutating func takePlace(_ fields: ValueMap, of row: UInt32, in parent: UInt32) {
        let kept = graph.kept(row)
        kept.isStored = true
        kept.order = fields["order"]?.string
        if kept.order != nil { disordered.insert(parent) }
        if let written = fields["slot"]?.string {
            let slot: Slot = written == "header" ? .header : written == "footer" ? .footer : .content
            if record(row).slot != slot {
                graph.nodes.put(row, into: slot)
                kept.isElsewhere = true
            }
        }
    }

    private mutating func put(_ row: UInt32, _ key: String, _ fields: ValueMap, below parent: UInt32) {
        guard graph.nodes.child(record(row).id, of: parent) == nil, !graph.nodes.isInside(parent, of: row),
            !record(parent).kind.isMadeFromData
        else { return }
        onTheirWay.remove(row)
        let kept = graph.kept(row)
        let maker = graph.maker(of: row)
        kept.key = key
        kept.maker = maker
        kept.home = graph.nodes.nodeID(record(row).parent)
        graph.hasMovedNodes = true
        graph.releasePlaces(below: row)
        record(row).isContent = graph.isComponentRoot(parent)
        graph.nodes.adopt(row, by: parent)
        disordered.insert(parent)
        takePlace(fields, of: row, in: parent)
        pending.append(row)
    }

    private mutating func takeBack(_ row: UInt32) {
        let home = record(row).parent
        let key = graph.key(of: row)
        failures.append(
            (
                graph.absentRows.rows[key]?[""]?.revision ?? 0,
                Failure(.notFound, "\(key) stays where it was made: the node that it was moved to is not there")
            ))
        guard graph.nodes.child(record(row).id, of: home) == nil else {
            removed.append(row)
            return
        }
        graph.nodes.attach(row, to: home)
        disordered.insert(home)
        pending.append(row)
    }

    /// Reads the definitions of a node's new children as one document, which costs less than one for each.
    /// - Returns: none where there is a fault: each is read by itself then.
    private func readTogether(_ keys: [String], below parent: UInt32) -> [String: NodeDefinition] {
        guard keys.count > 1, !record(parent).kind.isMadeFromData, record(parent).kind != .view else { return [:] }
        var read: [(id: String, key: String)] = []
        var nodes: [Value] = []
        var names: Set<Value> = []
        for key in keys {
            guard let fields = graph.absentRows.node(key), let id = fields["id"]?.string,
                case .map(var own)? = fields["own"],
                graph.nodes.child(id, of: parent) == nil
            else { continue }
            own["id"] = .string(id)
            nodes.append(.map(own))
            names.formUnion(fields["names"]?.list ?? [])
            read.append((id, key))
        }
        guard let made = try? graph.definitions(nodes, names.isEmpty ? nil : .list(Array(names)), at: parent),
            made.count == read.count
        else { return [:] }
        return Dictionary(uniqueKeysWithValues: zip(read, made).map { ($0.key, $1) })
    }

    /// Makes a client's node.
    /// - Parameter definition: as it is read already.
    private mutating func make(_ key: String, _ fields: ValueMap, _ definition: NodeDefinition?, below parent: UInt32) {
        guard let id = fields["id"]?.string else { return }
        if let there = graph.nodes.child(id, of: parent) {
            // A scene or template makes the node now.
            guard record(there).kept?.key == nil, !record(parent).kind.isMadeFromData else {
                return fail(key, Failure(.conflict, "\(key): \(graph.nodes.path(of: there)) is there already"))
            }
            let kept = graph.kept(there)
            kept.key = key
            kept.isHeir = true
            kept.isStored = true
            taken.append(key)
            find(below: there)
            takeValues(key, there)
            return
        }
        if let there = graph.nodes.visibleChild(id, of: parent) {
            return fail(key, Failure(.conflict, "\(key): \(graph.nodes.path(of: there)) is there already"))
        }
        guard case .map(var own)? = fields["own"], !record(parent).kind.isMadeFromData, record(parent).kind != .view
        else {
            return
        }
        own["id"] = .string(id)
        var read = definition
        if read == nil {
            do throws(Failure) { read = try graph.definitions([.map(own)], fields["names"], at: parent).first } catch {
                return fail(key, error)
            }
        }
        guard let made = read else { return }
        if let component = fields["madeFrom"]?.string { made.component = component }
        made.givenSlot = fields["given"]?.string
        let slot: Slot = fields["slot"] == "header" ? .header : fields["slot"] == "footer" ? .footer : .content
        let row = graph.instantiate(made, under: parent, slot: slot)
        record(row).isContent = fields["isContent"] == true
        let kept = graph.kept(row)
        kept.key = key
        kept.isOwn = true
        kept.isStored = true
        kept.order = fields["order"]?.string
        disordered.insert(parent)
        find(below: row)
        pending.append(row)
    }

    private mutating func fail(_ key: String, _ failure: Failure) {
        failures.append((graph.absentRows.rows[key]?[""]?.revision ?? 0, failure))
    }

    private mutating func mergeMembers(_ fields: ValueMap, into row: UInt32, _ key: String) {
        taken.append(key)
        graph.kept(row).isStored = true
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
                return fail(key, error)
            }
        }
        if !without.isEmpty { target = target.without(without) }
        graph.kept(row).base = old
        graph.update(row, target, true)
    }

    private mutating func takeValues(_ key: String, _ row: UInt32) {
        for value in graph.absentRows.rows[key]?.values ?? [:].values where !value.name.isEmpty {
            if value.name == ViewGraph.heldName, record(row).kind.isMadeFromData { continue }
            if graph.give(value, to: row), !graph.isRestoring { graph.absentRows.remove(key, value.name) }
        }
    }

    private func sort(_ parent: UInt32) {
        guard !record(parent).kind.isMadeFromData else { return }
        let children = record(parent).children
        let keys = Dictionary(
            uniqueKeysWithValues: children.map { ($0, (graph.nodes.rank(of: $0), graph.order(of: $0) ?? "~~")) })
        let sorted = children.enumerated().sorted { a, b in
            guard let x = keys[a.element], let y = keys[b.element] else { return a.offset < b.offset }
            if x.0 != y.0 { return x.0 < y.0 }
            if x.1 != y.1 { return x.1.precedesByBytes(y.1) }
            return a.offset < b.offset
        }.map(\.element)
        graph.nodes.order(sorted, below: parent)
        graph.indicesChanged(below: parent)
    }
}

extension ViewGraph {
    /// Reads the definitions of nodes, checked where they stand.
    fileprivate func definitions(_ nodes: [Value], _ names: Value?, at parent: UInt32) throws(Failure)
        -> [NodeDefinition]
    {
        var document = ValueMap([(.string("agd"), 1), (.string("nodes"), .list(nodes))])
        document["dangling"] = names
        return try read(.map(document), at: parent).nodes
    }
}
