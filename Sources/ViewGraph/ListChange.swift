import AttributeValues
import SceneModel

/// How one list of elements becomes another: a stretch in the middle, and what happens to the instances in it.
///
/// Elements at both ends are compared by identity of storage first, then by id; ids are looked up in dictionaries only
/// within the stretch. Cost: O(n) comparisons of words, O(stretch) look-ups.
struct ListChange {
    /// The stretch before and after.
    private(set) var old: Range<Int>
    private(set) var new: Range<Int>
    /// Ids and node names of the new stretch; names only where some may be new.
    private(set) var ids: [Value] = []
    private(set) var names: [String] = []
    /// For each place of the new stretch, the place in the old one that its instance comes from; nil: it is new.
    private(set) var sources: [Int?] = []
    /// Places of the old stretch whose instances go.
    private(set) var gone: [Int] = []
    /// Places of the new stretch whose instances have changed places with their neighbours: the fewest that explain the
    /// order.
    private(set) var moved: [Int] = []
    /// Places in the new list whose element differs from the one that the same instance had.
    private(set) var changedElements: [Int] = []

    /// True if ids come, go, or stand in another order.
    var isReordering: Bool { !old.isEmpty || !new.isEmpty }

    /// - Parameter hasInstance: whether the list has an instance with a node's name.
    /// - Throws: `typeMismatch` for an element without a usable id, `conflict` with the ids that occur twice, `invalid`
    ///   for one that cannot name a node.
    init(
        from state: ForEachState, to list: ValueList, idField: String, hasInstance: (_ name: String) -> Bool
    ) throws(Failure) {
        func id(at position: Int) throws(Failure) -> Value {
            try ListChange.id(of: list[position], at: position, idField)
        }
        let before = state.list
        let shorter = min(before.count, list.count)
        var prefix = 0
        while prefix < shorter {
            let same = IdenticalRun.countFrom(before, from: prefix, list, from: prefix, count: shorter - prefix)
            prefix += same
            if same > 0 { continue }
            if !before[prefix].isIdentical(to: list[prefix]) {
                guard try id(at: prefix) == state.ids[prefix] else { break }
                changedElements.append(prefix)
            }
            prefix += 1
        }
        var suffix = IdenticalRun.countFromEnd(before, list, count: shorter - prefix)
        while suffix < shorter - prefix {
            let (from, to) = (before.count - 1 - suffix, list.count - 1 - suffix)
            if !before[from].isIdentical(to: list[to]) {
                guard try id(at: to) == state.ids[from] else { break }
                changedElements.append(to)
            }
            suffix += 1
        }
        old = prefix..<before.count - suffix
        new = prefix..<list.count - suffix
        guard isReordering else { return }
        if let places = ListChange.rotation(from: before, old, to: list, new) {
            sources = places.sources
            moved = [places.moved]
            ids = sources.map { state.ids[prefix + ($0 ?? 0)] }
            return
        }

        var wanted: [Name: Int] = [:]
        wanted.reserveCapacity(new.count)
        ids.reserveCapacity(new.count)
        names.reserveCapacity(new.count)
        for (offset, position) in new.enumerated() {
            let id = try id(at: position)
            let name = ListChange.nodeName(of: id)
            if let problem = NodeIdentifier.refusal(of: name) {
                throw Failure(.invalid, "element \(position): an id that names a node \(problem)")
            }
            wanted[name] = offset
            ids.append(id)
            names.append(name)
        }
        sources = Array(repeating: nil, count: new.count)
        for (offset, id) in state.ids[old].enumerated() {
            let name = ListChange.nodeName(of: id)
            if let position = wanted[name] {
                sources[position] = offset
            } else {
                gone.append(offset)
            }
        }
        var twice: [String] = []
        let (mayRepeat, hasOthers) = (wanted.count < new.count, old.count < before.count)
        for (offset, position) in new.enumerated() {
            // An id that also occurs outside the stretch has its instance there.
            if mayRepeat && wanted[names[offset]] != offset
                || hasOthers && sources[offset] == nil && hasInstance(names[offset])
            {
                twice.append(ids[offset].description)
            } else if let place = sources[offset],
                !before[old.lowerBound + place].isIdentical(to: list[position])
            {
                changedElements.append(position)
            }
        }
        guard twice.isEmpty else {
            throw Failure(
                .conflict, "duplicate ids: \(twice.prefix(10).joined(separator: ", "))",
                hint: "ids are unique in a list")
        }
        moved = ListChange.displaced(sources)
    }

    /// Recognizes the commonest change of order: one element has moved, and those between have shifted by one place.
    /// Elements are compared by identity of storage.
    static func rotation(from before: ValueList, _ old: Range<Int>, to after: ValueList, _ new: Range<Int>) -> (
        sources: [Int?], moved: Int
    )? {
        let count = old.count
        guard count == new.count, count > 1 else { return nil }
        let (x, y) = (old.lowerBound, new.lowerBound)
        if before[x + count - 1].isIdentical(to: after[y]),
            IdenticalRun.countFrom(before, from: x, after, from: y + 1, count: count - 1) == count - 1
        {
            return ((0..<count).map { $0 == 0 ? count - 1 : $0 - 1 }, 0)
        }
        if before[x].isIdentical(to: after[y + count - 1]),
            IdenticalRun.countFrom(before, from: x + 1, after, from: y, count: count - 1) == count - 1
        {
            return ((0..<count).map { $0 == count - 1 ? 0 : $0 + 1 }, count - 1)
        }
        return nil
    }

    /// The place in the old list of the instance at a place of the new one.
    func oldPosition(of position: Int) -> Int {
        if position < new.lowerBound { return position }
        if position >= new.upperBound { return position - new.upperBound + old.upperBound }
        return old.lowerBound + (sources[position - new.lowerBound] ?? 0)
    }

    /// The name of the node that is made for an id.
    static func nodeName(of id: Value) -> String {
        if case .string(let text) = id { text } else { id.description }
    }

    private static func id(of element: Value, at position: Int, _ idField: String) throws(Failure) -> Value {
        let id = idField.isEmpty ? element : element.id(by: idField)
        switch id {
        case .string?, .int?, .uint?, .bool?: if let id { return id }
        default: break
        }
        guard !idField.isEmpty else {
            throw Failure(
                .typeMismatch, "element \(position) is no string, int, uint or bool, so it cannot be its own id",
                hint: "name the field that identifies an element with id:")
        }
        throw Failure(
            .typeMismatch, "element \(position) has no usable \(idField)",
            hint: "give every element a string, int, uint or bool named \(idField), or name another id field")
    }

    /// The places of instances whose old places are outside a longest increasing run: the fewest that have moved.
    /// O(n log n) by patience sorting (Fredman 1975), O(n) where the order is kept.
    static func displaced(_ sources: [Int?]) -> [Int] {
        var last = -1
        if sources.allSatisfy({ source in
            guard let source else { return true }
            defer { last = source }
            return source > last
        }) {
            return []
        }
        // The places that end the best run of each length, and the one before each in its run.
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: sources.count)
        for (position, source) in sources.enumerated() {
            guard let source else { continue }
            let low = tails.partitioningIndex { (sources[$0] ?? 0) >= source }
            if low > 0 { previous[position] = tails[low - 1] }
            if low == tails.count { tails.append(position) } else { tails[low] = position }
        }
        var stays: Set<Int> = []
        var at = tails.last ?? -1
        while at >= 0 {
            stays.insert(at)
            at = previous[at]
        }
        return sources.indices.filter { sources[$0] != nil && !stays.contains($0) }
    }
}
