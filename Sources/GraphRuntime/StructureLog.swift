import AttributeValues
import ViewGraph

/// The tree's recent changes, in order, for clients that resume. A queue of bounded length. It begins with the first
/// subscription to changes of the tree.
struct StructureLog {
    /// One line of a change, as `Watching.forEachLine` gives it.
    struct Line {
        var names: NodeNames
        var kind: TopicStructure.Kind
        /// The ids of the path of a moved node before the move.
        var from: [String]?
    }

    private var lines: [(revision: UInt64, line: Line)] = []
    private var head = 0
    /// Changes up to this revision are not known; nil: the log has not begun.
    private var floor: UInt64?
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    var hasBegun: Bool { floor != nil }

    mutating func begin(at revision: UInt64) { if floor == nil { floor = revision } }

    /// Called when a change has more lines than the log may contain.
    mutating func forget(upTo revision: UInt64) {
        lines = []
        head = 0
        floor = revision
    }

    mutating func append(_ line: Line, at revision: UInt64) {
        lines.append((revision, line))
        guard lines.count - head > capacity else { return }
        floor = lines[head].revision
        head += 1
        if head > capacity {
            lines.removeFirst(head)
            head = 0
        }
    }

    /// The lines of the changes since a revision, grouped by change. nil if some are no longer known.
    func lines(since revision: UInt64) -> [[Line]]? {
        guard let floor, revision >= floor else { return nil }
        var changes: [[Line]] = []
        var last: UInt64?
        for (revision, line) in lines[lines[head...].partitioningIndex { $0.revision > revision }...] {
            if revision == last { changes[changes.count - 1].append(line) } else { changes.append([line]) }
            last = revision
        }
        return changes
    }
}
