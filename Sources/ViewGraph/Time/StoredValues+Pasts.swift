import AttributeGraph
import AttributeValues
import RuleLanguage

extension StoredValues {
    /// Adds the changes to the past of each operator that is due.
    func feedPasts() {
        guard !graph.timedValues.isEmpty else { return }
        graph.collectInvalidated()
        for value in graph.timedValues.takeDue() where graph.engine.isAlive(value.vertex) {
            if graph.feed(value) { keep(value) }
            graph.timedValues.schedule(value)
        }
    }

    // MARK: The store

    /// Windows of durable states are stored once in so many nanoseconds, and when the daemon ends.
    private static let storedEvery: Int64 = 10_000_000_000

    /// Deletes the rows of operators that were removed. They are deleted before other rows are written, which may have
    /// the same names.
    private func dropForgotten() {
        for (node, name) in graph.timedValues.takeForgotten()
        where persistence.notesChanges && persistence.nodes.isAlive(node) {
            persistence.note(nil, as: name, of: node.row)
        }
    }

    private func keep(_ value: TimedValue, isLast: Bool = false) {
        dropForgotten()
        guard persistence.notesChanges else { return graph.timedValues.noteUnkept(value) }
        if value.isStored == nil {
            value.isStored = graph.provenance.dependOnly([value.operand], on: { graph.isDurable($0) })
        }
        guard value.isStored == true else { return }
        let now = graph.timedValues.now
        if let row = value.storedRow, !isLast, now - value.storedAt < StoredValues.storedEvery,
            !value.past.isDue(after: row)
        {
            return
        }
        guard let place = graph.storedPlace(of: value), let row = value.past.row(from: graph.timedValues.time.origin),
            row != value.storedRow
        else { return }
        value.storedRow = row
        value.storedAt = now
        persistence.note(row, as: place.name, of: place.row)
        graph.timedValues.noteStored()
    }

    /// Stores the pasts that were fed while a start made the graph, and the time in which rows were stored.
    func keepUnkept() {
        dropForgotten()
        for value in graph.timedValues.takeUnkept() where graph.engine.isAlive(value.vertex) { keep(value) }
        if let time = graph.timedValues.takeTimeRow() {
            persistence.note(StoreChange(key: StoreChange.timeKey, name: StoreChange.timeName, value: time))
        }
    }

    /// Stores the windows that have changed since they were stored. Called when the daemon ends.
    public func keepPasts() {
        for value in graph.timedValues.all where value.isStored == true && !value.past.isExact {
            keep(value, isLast: true)
        }
    }

    /// Stores the pasts of all operators over a node's attributes, under the node's new key.
    func keepPasts(of row: UInt32) {
        for value in graph.timedValues.all where value.storedRow != nil && graph.storedPlace(of: value)?.row == row {
            value.storedRow = nil
            keep(value, isLast: true)
        }
    }

    /// Gives operators their rows, which an earlier life of the graph has written.
    func restorePasts() {
        _ = graph.timedValues.takeMade()
        for value in graph.timedValues.all { restore(value) }
    }

    /// The same for operators that were made since the last call, except at a start.
    func restoreNewPasts() {
        for value in graph.timedValues.takeMade() where !persistence.absentRows.isEmpty && !persistence.isRestoring {
            if graph.engine.isAlive(value.vertex) { restore(value) }
        }
    }

    private func restore(_ value: TimedValue) {
        guard let place = graph.storedPlace(of: value) else { return }
        let key = persistence.nodes.key(of: place.row)
        guard let row = persistence.absentRows[key]?.values[place.name],
            value.past.take(row: row.value, from: graph.timedValues.time.origin)
        else { return }
        persistence.absentRows.remove(key, place.name)
        persistence.nodes[Int(place.row)].hasValues = true
        value.storedRow = row.value
        graph.timedValues.noteInStore()
        value.storedAt = graph.timedValues.now
        do { try graph.engine.invalidate(value.vertex) } catch {
            preconditionFailure("a living operator cannot be run again")
        }
        graph.timedValues.noteDue(value)
    }
}
