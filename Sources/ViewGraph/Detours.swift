import AttributeGraph

/// Notes contents before they change, in a graph whose actions react to changes: a later action may take back what an
/// earlier write has done, and then nothing has changed.
///
/// The states that a client writes are always noted, other vertices while the actions are called. A vertex may be noted
/// several times; the first note has its content from before the change.
struct Detours {
    /// True once the graph has had an action that reacts.
    var isWanted = false
    /// True while actions are called.
    private(set) var notesAll = false
    /// True if an action was called since the last end.
    private var isUsed = false
    private var notes: [OpenTransaction.Touched] = []

    mutating func note(_ touched: OpenTransaction.Touched) { notes.append(touched) }

    /// Begins to note all vertices.
    mutating func begin() { notesAll = true }

    mutating func noteCall() { isUsed = true }

    /// - Returns: the notes; none if no action was called.
    mutating func end() -> [OpenTransaction.Touched] {
        defer {
            (notesAll, isUsed) = (false, false)
            if notes.count > Detours.few { notes = [] } else { notes.removeEach() }
        }
        return isUsed ? notes : []
    }

    /// So many notes keep their memory.
    private static let few = 8
}
