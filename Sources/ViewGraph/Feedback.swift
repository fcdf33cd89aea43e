import AttributeGraph
import AttributeValues
import SceneModel

// Lists whose data depends on their own instances, as a container's count of subviews that one of them makes. It may
// come to rest or not; the engine sees no cycle, because instances are made between evaluations.

/// What became of a list when it was held against its data.
enum ListUpdate {
    case none
    /// Instances were made, removed, moved or given another element.
    case changed(made: Int)
    /// The data makes no instances.
    case refused
}

/// What happens to lists between a change of their data and the moment when all instances agree with it.
struct Settlement {
    /// How often each list has changed its instances, and how many it has made, the first change left aside.
    fileprivate var changes: [UInt32: (count: Int, made: Int)] = [:]
    /// Lists that have been found to go on without end, with the loop that each is on. They are not looked at again in
    /// this settlement.
    fileprivate(set) var endless: [UInt32: [AttributeID]] = [:]

    /// Instances made by several changes for one transaction from which on a list is looked at for what makes it grow.
    fileprivate static let growth = 4096
}

extension ViewGraph {
    /// Counts a change of a list. A list that has changed too often, has grown too much or has got data that is
    /// refused, and reads what its own instances bring about, is endless: so are all lists on the way from its
    /// instances back to its data. They lose their instances, and have the error until their data changes.
    ///
    /// A list that does not read its own instances changes no more often than there are lists for it to follow.
    func noteUpdate(_ update: ListUpdate, of row: UInt32, _ settlement: inout Settlement) {
        let before = settlement.changes[row]
        var isSuspect = false
        switch update {
        case .none: return
        case .refused: isSuspect = before != nil
        case .changed(let made):
            let count = (before?.count ?? 0) + 1
            let all = before.map { $0.made + made } ?? 0
            settlement.changes[row] = (count, all)
            isSuspect = count % max(1, limits.structureRounds) == 0
            if all >= Settlement.growth, count >= 8 {
                isSuspect = true
                settlement.changes[row]?.made = 0
            }
        }
        guard isSuspect else { return }
        let loop: [AttributeID]
        if let found = feedback(of: row) {
            loop = found
        } else if before?.count ?? 0 > limits.structureRounds + forEachByData.count,
            let data = nodes[Int(row)].instances?.data
        {
            loop = [data]
        } else {
            return
        }
        stop(loop, &settlement)
    }

    /// Takes the instances from all lists of a loop, and gives them the error that names it.
    private func stop(_ loop: [AttributeID], _ settlement: inout Settlement) {
        let lists = loop.compactMap { forEachByData[$0.index] }
        let steps = cycleNames(of: loop)
        for list in lists where nodes.isAlive(list) {
            settlement.endless[list] = loop
            removeInstances(of: list)
            staleForEach.remove(list)
            let path = nodes.path(of: list)
            let failure = Failure(
                .cycle,
                "\(path) would change its instances without end, because its data depends on them: "
                    + (steps + steps.prefix(1)).joined(separator: " → "),
                path: nodes[Int(list)].isTransparent ? path : elementsPath(of: list),
                hint: "let the data read something that these instances do not change")
            nodes[Int(list)].instances?.failure = failure
            orderChanged(of: list)
        }
    }

    /// Remembers how often the rules of its loop have run when a list without instances is at rest: it is tried again
    /// once one of them has run again.
    func noteEndless(_ settlement: Settlement) {
        let lists = settlement.endless.filter { nodes[Int($0.key)].instances?.failure?.code == .cycle }
        for row in lists.keys { if let data = nodes[Int(row)].instances?.data { _ = content(of: data) } }
        for (row, loop) in lists {
            // What containers gather is looked through for changes that are none of the list's.
            let rules = loop.filter { if case .rule? = attributes[Int($0.index)]?.source { true } else { false } }
            let endless = EndlessData(rules: rules, runs: runs(of: rules))
            nodes[Int(row)].instances?.endless = endless
        }
    }

    /// Whether something that an endless list depends on has changed, whatever has come of it.
    func mayEnd(_ endless: EndlessData) -> Bool { runs(of: endless.rules) != endless.runs }

    private func runs(of rules: [AttributeID]) -> UInt32 { rules.reduce(0) { $0 &+ engine.evaluations(of: $1) } }

    /// The shortest way from a list's data along what it reads to the list's own instances; nil if there is none.
    /// Begins with the data, and names the data of other lists that it leads through. O(vertices upstream + their
    /// edges).
    private func feedback(of row: UInt32) -> [AttributeID]? {
        guard let start = nodes[Int(row)].instances?.data else { return nil }
        var readBy: [AttributeID: AttributeID] = [:]
        var reached = [start]
        var next = 0
        while next < reached.count {
            let reader = reached[next]
            next += 1
            for input in engine.inputs(of: reader) + listsBehind(reader) {
                if input == start {
                    var path = [reader]
                    while let last = path.last, last != start, let before = readBy[last] { path.append(before) }
                    return path.reversed()
                }
                guard readBy[input] == nil else { continue }
                readBy[input] = reader
                reached.append(input)
            }
        }
        return nil
    }

    /// The data of the lists that decide what a vertex is, beside what it reads: those that make what it gathers, whose
    /// element it is, or whose ids it lists.
    private func listsBehind(_ attribute: AttributeID) -> [AttributeID] {
        guard let record = attributes[Int(attribute.index)] else { return [] }
        switch record.source {
        case .subviewList, .sections, .given: return lists(makingSubviewsOf: record.node)
        case .preference, .preferenceOutput, .elements: return nodes[Int(record.node)].instances.map { [$0.data] } ?? []
        case .system:
            let parent = nodes[Int(record.node)].parent
            guard let list = nodes[Int(parent)].instances, parent != record.node else { return [] }
            let instance = nodes[Int(record.node)]
            let isMade =
                instance.instance?.element == attribute || instance.instance?.index == attribute
                || instance.system[.selfIndex] == attribute
            return isMade ? [list.data] : []
        default: return []
        }
    }

    /// The data of the lists between a container and its subviews.
    private func lists(makingSubviewsOf row: UInt32) -> [AttributeID] {
        var found: [AttributeID] = []
        var pending = nodes.shown(in: row) + nodes[Int(row)].children
        while let next = pending.popLast() {
            if nodes.isOpaque(next) { continue }
            if let list = nodes[Int(next)].instances { found.append(list.data) }
            pending += nodes.shown(in: next)
        }
        return found
    }
}
