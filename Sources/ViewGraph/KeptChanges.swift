import SceneModel

/// Which of the changes of structure that a store keeps the living tree still stands on.
///
/// Changes that concern the same nodes form a *strand*: done again together they give these nodes back, and none of them means
/// anything without the others. A strand is void when no node that it concerns lives, unless another one was done in a place that it
/// made. What concerns the nodes of a scene that the daemon starts with is never void, for the scene makes them again at every start;
/// nor are declarations, which nothing takes back. What concerns the nodes that data makes concerns their instance of the `forEach`.
struct KeptChanges {
    private struct Strand {
        /// Itself, or the strand that it has become a part of.
        var whole: Int
        var changes: [Int]
        /// Nodes that it concerns.
        var living = 0
        var isPinned = false
        /// In how many instances, one in the other, its changes were done.
        var level = 0
        /// Strands in whose nodes its changes were done.
        var places: Set<Int> = []
    }

    private var strands: [Int: Strand] = [:]
    private var strandOfChange: [Int: Int] = [:]
    private var nextStrand = 1
    /// Changes that have yet to be done again.
    private(set) var waiting: Set<Int> = []
    /// The strand of the change at hand.
    private(set) var current: Int?
    private var countOfNeeded = 0

    /// Changes that may be void before they are looked for; with as many again as were not at the last look, so that a look
    /// costs each of them a constant.
    private static let slack = 64

    var isSweepDue: Bool { strandOfChange.count > 2 * countOfNeeded + KeptChanges.slack }

    /// - Returns: the strand of the change that was at hand, for `end`.
    mutating func begin(_ change: Int) -> Int? {
        let outer = current
        waiting.remove(change)
        if let known = strandOfChange[change] {
            current = whole(of: known)
            return outer
        }
        strands[nextStrand] = Strand(whole: nextStrand, changes: [change])
        strandOfChange[change] = nextStrand
        current = nextStrand
        nextStrand += 1
        return outer
    }

    mutating func end(_ outer: Int?) { current = outer.map { whole(of: $0) } }

    /// The change at hand was refused before it did anything.
    mutating func cancel(_ change: Int) {
        guard let current, strands[current]?.changes == [change], strands[current]?.living == 0 else { return }
        strands[current] = nil
        strandOfChange[change] = nil
    }

    mutating func wait(for change: Int) { waiting.insert(change) }

    /// A change that waited is not to be done any more: it is void, if it was never done since the start.
    mutating func forget(_ change: Int) {
        let outer = begin(change)
        end(outer)
    }

    /// - Returns: what a node notes that the change at hand is the first to concern.
    mutating func add() -> Int {
        guard let current else { return 0 }
        strands[current]?.living += 1
        return current
    }

    /// A node of this strand has gone.
    mutating func lose(_ strand: Int) { strands[whole(of: strand)]?.living -= 1 }

    /// What a move means to changes in instances that move along.
    /// - Parameters:
    ///   - roots: strands of the nodes there.
    ///   - level: of the node that has moved, before.
    ///   - shift: how many instances more or fewer it is in.
    /// - Returns: the changes of these strands and of those that they were done in, by strand.
    mutating func shift(_ roots: Set<Int>, beyond level: Int, by shift: Int) -> [Int: [Int]] {
        var found: [Int: [Int]] = [:]
        var pending = Array(roots)
        while let next = pending.popLast() {
            let strand = whole(of: next)
            guard found[strand] == nil, let record = strands[strand], record.level > level else { continue }
            found[strand] = record.changes
            pending += record.places
        }
        for strand in found.keys { strands[strand]?.level += shift }
        return found
    }

    /// Nothing was done in the nodes of these strands that still needs them.
    mutating func release(_ released: Set<Int>) {
        let released = Set(released.map { whole(of: $0) })
        for (number, strand) in strands where strand.whole == number && !strand.places.isEmpty {
            let places = strand.places.filter { !released.contains(whole(of: $0)) }
            if places.count < strand.places.count { strands[number]?.places = places }
        }
    }

    mutating func setLevel(_ level: Int) {
        if let current { strands[current]?.level = level }
    }

    mutating func pin() {
        if let current { strands[current]?.isPinned = true }
    }

    /// The change at hand was done in a node of that strand.
    mutating func rely(on strand: Int) {
        guard let current else { return }
        let place = whole(of: strand)
        if place != current { strands[current]?.places.insert(place) }
    }

    /// The change at hand concerns a node of that strand, too.
    mutating func join(_ strand: Int) {
        guard let current else { return }
        // The smaller one becomes a part of the larger.
        var (large, small) = (whole(of: strand), current)
        guard large != small else { return }
        if strands[large]?.changes.count ?? 0 < strands[small]?.changes.count ?? 0 { swap(&large, &small) }
        guard var whole = strands[large], let part = strands.updateValue(Strand(whole: large, changes: []), forKey: small) else { return }
        // So that what is added to is not copied.
        strands[large] = nil
        whole.changes += part.changes
        whole.living += part.living
        whole.isPinned = whole.isPinned || part.isPinned
        whole.places.formUnion(part.places)
        strands[large] = whole
        self.current = large
    }

    private mutating func whole(of strand: Int) -> Int {
        var at = strand
        while let next = strands[at]?.whole, next != at {
            let beyond = strands[next]?.whole ?? next
            strands[at]?.whole = beyond
            at = beyond
        }
        return at
    }

    /// Takes out the strands that are void. O(changes).
    /// - Returns: their changes.
    mutating func sweep() -> [Int] {
        var needed: Set<Int> = []
        var pending: [Int] = []
        for (number, strand) in strands where strand.whole == number {
            let isNeeded = strand.living > 0 || strand.isPinned || strand.changes.contains { waiting.contains($0) }
            if isNeeded, needed.insert(number).inserted { pending.append(number) }
        }
        while let next = pending.popLast() {
            for place in strands[next]?.places ?? [] {
                let place = whole(of: place)
                if strands[place] != nil, needed.insert(place).inserted { pending.append(place) }
            }
        }
        let void = strandOfChange.keys.filter { !needed.contains(whole(of: strandOfChange[$0] ?? 0)) }
        for number in strands.keys where !needed.contains(whole(of: number)) { strands[number] = nil }
        for change in void { strandOfChange[change] = nil }
        countOfNeeded = strandOfChange.count
        return void.sorted()
    }
}

extension ViewGraph {
    /// Does a change of structure that a store keeps under a number, and notes which nodes it concerns.
    /// - Throws: what `body` throws, which has changed nothing then.
    public func keeping<T, E>(_ change: Int, _ body: () throws(E) -> T) throws(E) -> T {
        let outer = keptChanges.begin(change)
        defer { keptChanges.end(outer) }
        do throws(E) { return try body() } catch {
            keptChanges.cancel(change)
            throw error
        }
    }

    /// A change that the store holds has yet to be done, and is not void until then.
    public func await(change: Int) { keptChanges.wait(for: change) }

    /// How many changes that the store holds have yet to be done.
    public var awaitedChanges: Int { keptChanges.waiting.count }

    /// What it was to be done in is no more.
    public func forget(change: Int) {
        keptChanges.forget(change)
        hasLostEdits = true
    }

    /// Changes that the tree no longer stands on. Looked for when there may be many, or when an instance has gone that somebody had
    /// changed: what comes there next is made by the data alone.
    public func takeVoidChanges() -> [Int] {
        guard hasLostEdits || keptChanges.isSweepDue else { return [] }
        hasLostEdits = false
        return keptChanges.sweep()
    }

    /// The change at hand has made these nodes.
    func noteMade(_ rows: [UInt32]) {
        guard keptChanges.current != nil else { return }
        for row in rows { nodes[Int(row)].strand = keptChanges.add() }
    }

    /// The change at hand makes a node another one.
    func noteConcern(_ row: UInt32) {
        guard keptChanges.current != nil else { return }
        let concerned = nodes[Int(row)].strand != 0 ? row : enclosingInstance(of: nodes.nodeID(row))?.row
        guard let concerned else { return keptChanges.pin() }
        if nodes[Int(concerned)].strand == 0 {
            nodes[Int(concerned)].strand = keptChanges.add()
        } else {
            keptChanges.join(nodes[Int(concerned)].strand)
        }
    }

    /// The change at hand takes a node away with all that is below. What was changed of instances goes with them.
    /// - Returns: the nodes that other changes concern.
    @discardableResult
    func noteRemoval(of top: UInt32) -> [UInt32] {
        guard keptChanges.current != nil else { return [] }
        noteConcern(top)
        let concerned = nodes.subtree(of: top).filter { nodes[Int($0)].strand != 0 && isBeside($0, top) }
        for row in concerned { keptChanges.join(nodes[Int(row)].strand) }
        return concerned
    }

    /// A node goes to where none of the changes that concern it so far counts; those of instances in it are done in it there, too.
    func noteLeaving(of node: UInt32) { noteLeaving(noteRemoval(of: node)) }

    /// Nothing that was changed before concerns these nodes any more, whatever becomes of them.
    private func noteLeaving(_ rows: [UInt32]) {
        for row in rows where nodes[Int(row)].strand != 0 {
            keptChanges.lose(nodes[Int(row)].strand)
            nodes[Int(row)].strand = 0
        }
    }

    /// A change makes a node with all that is below it, but for what data makes there: done again it needs nothing of what the node
    /// has come from.
    public func noteMade(_ node: NodeID) {
        let rows = nodes.subtree(of: node.row).filter { isBeside($0, node.row) }
        noteLeaving(rows)
        notePlace(nodes[Int(node.row)].parent)
        noteMade(rows)
    }

    /// Instances are what another template says, whatever somebody had changed in them; not so those in them.
    func noteRenewal(of instances: [UInt32]) {
        guard keptChanges.current != nil else { return }
        let rows = instances.filter { nodes[Int($0)].isEdited }.flatMap { instance in
            nodes.subtree(of: instance).filter { nodes[Int($0)].strand != 0 && isBeside($0, instance) }
        }
        guard !rows.isEmpty else { return }
        keptChanges.release(Set(rows.map { nodes[Int($0)].strand }))
        noteLeaving(rows)
        hasLostEdits = true
    }

    /// A change has put a node into its place among its siblings.
    public func noteOrder(of node: NodeID) {
        noteConcern(node.row)
        for sibling in nodes[Int(nodes[Int(node.row)].parent)].children { noteReliance(on: sibling) }
    }

    /// Changes that concern what data makes below a node that has moved. They are done in it where it stands now.
    /// - Parameter level: in how many instances it was before.
    public func changesOfInstances(below node: NodeID, level: Int) -> [Int] {
        let rows = nodes.subtree(of: node.row).filter { nodes[Int($0)].strand != 0 && !isBeside($0, node.row) }
        guard !rows.isEmpty else { return [] }
        // Those of them that are void shall not be left behind by their old paths.
        hasLostEdits = true
        let strands = keptChanges.shift(
            Set(rows.map { nodes[Int($0)].strand }), beyond: level, by: instanceLevel(of: node) - level)
        for changes in strands.values {
            if let change = changes.first { keeping(change) { noteSurroundings(node.row) } }
        }
        return strands.values.flatMap { $0 }.sorted()
    }

    /// In how many instances of `forEach` a node is, one in the other. O(depth).
    public func instanceLevel(of node: NodeID) -> Int {
        var level = 0
        var at = node.row
        while at != NodeID.root.row {
            at = nodes[Int(at)].parent
            if nodes[Int(at)].kind == .forEach { level += 1 }
        }
        return level
    }

    /// The change at hand is done in a node, which must be there with all that is around it. O(depth).
    func notePlace(_ row: UInt32) {
        guard keptChanges.current != nil else { return }
        keptChanges.setLevel(instanceLevel(of: nodes.nodeID(row)))
        noteSurroundings(row)
    }

    private func noteSurroundings(_ row: UInt32) {
        var at = row
        while at != NodeID.root.row {
            noteReliance(on: at)
            at = nodes[Int(at)].parent
        }
    }

    func noteReliance(on row: UInt32) {
        if nodes[Int(row)].strand != 0 { keptChanges.rely(on: nodes[Int(row)].strand) }
    }
}
