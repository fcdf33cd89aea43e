import AttributeGraph
import AttributeValues
import SceneModel

// Lists whose data depends on their own instances, for example on the number of subviews that they make. Such a list
// may settle, or change without end. The engine sees no cycle, because instances are made between evaluations.

/// The result of comparing the instances of a list with its data.
enum ListUpdate {
    case none
    /// Instances were made, removed, moved or given another element.
    case changed(made: Int)
    /// The data makes no instances.
    case refused
}

/// Counts the changes of lists, and how often states begin, until all instances agree with their data.
struct Settlement {
    /// By list: how often its instances have changed, and how many were made after the first change.
    fileprivate var changes: [NodeRow: (count: Int, made: Int)] = [:]
    /// Lists that were found to change without end, with the loop that each is in. They are not updated again in this
    /// settlement.
    fileprivate(set) var endless: [NodeRow: [AttributeID]] = [:]
    /// How often states without a value were given one.
    var beginnings = 0

    /// A list that makes so many instances for one transaction, after its first change, is searched for a loop.
    fileprivate static let growth = 4096

    func dropEndless(from lists: inout Set<NodeRow>) {
        if endless.isEmpty { return }
        for row in endless.keys { lists.remove(row) }
    }
}

extension Lists {
    /// Counts a change of a list. A list is suspect if it has changed too often, has grown too much, or has got data
    /// that is refused. A suspect list whose data depends on its own instances is endless, and so are all lists in the
    /// loop. These lose their instances, and have an error until their data changes.
    ///
    /// A list that does not depend on its own instances changes no more often than there are lists for it to follow.
    /// - Returns: the loop that the list is in, if it is endless.
    func findLoop(after update: ListUpdate, of row: NodeRow, _ settlement: inout Settlement) -> [AttributeID]? {
        let before = settlement.changes[row]
        var isSuspect = false
        switch update {
        case .none: return nil
        case .refused: isSuspect = before != nil
        case .changed(let made):
            let count = (before?.count ?? 0) + 1
            let all = before.map { $0.made + made } ?? 0
            settlement.changes[row] = (count, all)
            isSuspect = count % max(1, graph.limits.structureRounds) == 0
            if all >= Settlement.growth, count >= 8 {
                isSuspect = true
                settlement.changes[row]?.made = 0
            }
        }
        guard isSuspect else { return nil }
        if let found = feedback(of: row) { return found }
        guard before?.count ?? 0 > graph.limits.structureRounds + graph.listsByData.count else { return nil }
        return (nodes[row].instances?.data).map { [$0] }
    }

    /// The lists in a loop, each with an error that names the loop.
    func findEndless(in loop: [AttributeID]) -> [(list: NodeRow, failure: Failure)] {
        let steps = CycleNames(graph).nameSteps(of: loop)
        return loop.compactMap { graph.listsByData[$0] }.map { list in
            let path = nodes.path(of: list)
            let failure = Failure(
                .cycle,
                "\(path) would change its instances without end, because its data depends on them: "
                    + (steps + steps.prefix(1)).joined(separator: " → "),
                path: nodes[list].isTransparent ? path : graph.elementsPath(of: list),
                hint: "let the data read something that these instances do not change")
            return (list, failure)
        }
    }

    /// Notes that a list in a loop was emptied.
    func noteStopped(_ list: NodeRow, _ failure: Failure, _ loop: [AttributeID], _ settlement: inout Settlement) {
        settlement.endless[list] = loop
        graph.unsettled.lists.remove(list)
        nodes[list].instances?.failure = failure
        orderChanged(of: list)
    }

    /// Notes how often the rules in the loop of each endless list have run. The list is tried again once one of them
    /// has run again.
    func noteEndless(_ settlement: Settlement) {
        if settlement.endless.isEmpty { return }
        let lists = settlement.endless.filter { nodes[$0.key].instances?.failure?.code == .cycle }
        for row in lists.keys { if let data = nodes[row].instances?.data { _ = graph.content(of: data) } }
        for (row, loop) in lists {
            // Only rules count: gathered values are also evaluated again for changes that do not concern the list.
            let rules = loop.filter { if case .rule? = graph.attributes[$0]?.source { true } else { false } }
            let endless = EndlessData(rules: rules, runs: runs(of: rules))
            nodes[row].instances?.endless = endless
        }
    }

    /// True if a rule in the loop of an endless list has run again, whatever its result was.
    func mayEnd(_ endless: EndlessData) -> Bool { runs(of: endless.rules) != endless.runs }

    private func runs(of rules: [AttributeID]) -> UInt32 { rules.reduce(0) { $0 &+ graph.engine.evaluations(of: $1) } }

    /// The shortest path upstream from a list's data to the list's own instances; nil if there is none. It begins with
    /// the data, and includes the data of other lists on the way. O(vertices upstream + their edges).
    private func feedback(of row: NodeRow) -> [AttributeID]? {
        guard let start = nodes[row].instances?.data else { return nil }
        var readBy: [AttributeID: AttributeID] = [:]
        var reached = [start]
        var next = 0
        while next < reached.count {
            let reader = reached[next]
            next += 1
            for input in graph.engine.inputs(of: reader) + listsBehind(reader) {
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

    /// The data of the lists that determine a vertex without being its inputs: lists that make the nodes from which it
    /// gathers, whose element it is, or whose ids it contains.
    private func listsBehind(_ attribute: AttributeID) -> [AttributeID] {
        guard let record = graph.attributes[attribute] else { return [] }
        switch record.source {
        case .subviewList, .sections, .given: return lists(makingSubviewsOf: record.node)
        case .preference, .preferenceOutput, .elements: return nodes[record.node].instances.map { [$0.data] } ?? []
        case .system:
            let parent = nodes[record.node].parent
            guard let list = nodes[parent].instances, parent != record.node else { return [] }
            let instance = nodes[record.node]
            let isMade =
                instance.instance?.element == attribute || instance.instance?.index == attribute
                || instance.system[.selfIndex] == attribute
            return isMade ? [list.data] : []
        default: return []
        }
    }

    /// The data of the lists between a container and its subviews.
    private func lists(makingSubviewsOf row: NodeRow) -> [AttributeID] {
        var found: [AttributeID] = []
        var pending = nodes.shown(in: row) + nodes[row].children
        while let next = pending.popLast() {
            if nodes.isOpaque(next) { continue }
            if let list = nodes[next].instances { found.append(list.data) }
            pending += nodes.shown(in: next)
        }
        return found
    }
}
