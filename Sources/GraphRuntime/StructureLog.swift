import AttributeValues
import ViewGraph

/// How the tree has changed, for clients that come back: what each change told, in order. A queue of bounded length. It
/// begins with the first subscription to changes of the tree.
struct StructureLog {
    /// One line of a change, as `Watching.forEachLine` gives it.
    struct Line {
        var names: NodeNames
        var kind: TopicStructure.Kind
        /// The ids that led to a node which has moved.
        var from: [String]?
    }

    private var lines: [(revision: UInt64, line: Line)] = []
    private var head = 0
    /// Nothing is known of what came before this revision was complete; nil: it has not begun.
    private var floor: UInt64?
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    var hasBegun: Bool { floor != nil }

    mutating func begin(at revision: UInt64) { if floor == nil { floor = revision } }

    /// A change had more lines than are kept.
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

    /// The lines of what has changed since a revision, change by change; nil when some are no longer known.
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
