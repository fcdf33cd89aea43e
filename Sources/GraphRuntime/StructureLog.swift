import AttributeValues
import ViewGraph

/// The tree's recent changes, in order, for clients that resume. It begins with the first subscription to them.
struct StructureLog {
    /// One line of a change, as `Watching.forEachLine` gives it.
    struct Line {
        var names: NodeNames
        var kind: StructurePaths.Kind
        /// The ids of the path of a moved node before the move.
        var from: [Name]?
        /// A node where the change is; nil if it has gone.
        var node: NodeID?
        /// The list or choice whose data has made the change; nil if it was asked for.
        var list: NodeID?
    }

    private var lines: RecentEntries<Line>
    private(set) var hasBegun = false

    init(capacity: Int) { lines = RecentEntries(capacity: capacity) }

    mutating func begin(at revision: UInt64) {
        if !hasBegun { forget(upTo: revision) }
        hasBegun = true
    }

    /// Called when a change has more lines than the log may contain.
    mutating func forget(upTo revision: UInt64) { lines.forget(upTo: revision) }

    mutating func append(_ line: Line, at revision: UInt64) { lines.append(line, at: revision) }

    /// The lines of the changes since a revision, grouped by change. nil if some are no longer known.
    func lines(since revision: UInt64) -> [[Line]]? {
        guard hasBegun, let known = lines.since(revision) else { return nil }
        var changes: [[Line]] = []
        var last: UInt64?
        for (revision, line) in known {
            if revision == last { changes[changes.count - 1].append(line) } else { changes.append([line]) }
            last = revision
        }
        return changes
    }
}
