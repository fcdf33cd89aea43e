import AttributeGraph
import AttributeValues
import RuleLanguage

extension StoredValues {
    // MARK: The store

    /// Windows of durable states are stored once in so many nanoseconds, and when the daemon ends.
    private static let storedEvery: Int64 = 10_000_000_000

    /// Deletes the rows of operators that were removed. They are deleted before other rows are written, which may have
    /// the same names.
    private func dropForgotten() {
        for (node, name) in graph.timedValues.takeForgotten()
        where persistence.notesChanges && persistence.nodes.isAlive(node) {
            persistence.note(nil, as: name, of: node.row, for: .store)
        }
    }

    func keep(_ value: TimedValue, isLast: Bool = false) {
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
        if let name = value.outdatedName { persistence.note(nil, as: name, of: place.row, for: .store) }
        value.outdatedName = nil
        persistence.note(row, as: place.name, of: place.row, for: .store)
        graph.timedValues.noteStored()
    }

    /// Stores the pasts that were fed while a start made the graph, and the time in which rows were stored.
    func keepUnkept() {
        dropForgotten()
        for value in graph.timedValues.takeUnkept() where graph.engine.isAlive(value.vertex) { keep(value) }
        if let time = graph.timedValues.takeTimeRow() {
            persistence.note(
                StoreChange(key: StoreChange.timeKey, name: StoreChange.timeName, value: time, for: .store))
        }
    }

    /// Stores the windows that have changed since they were stored. Called when the daemon ends.
    /// - Parameter elapsed: the time since the machine was booted.
    public func keepPasts(at elapsed: TimeSpan) {
        let now = graph.timedValues.time.reading(at: elapsed)
        for value in graph.timedValues.all where value.isStored == true && !value.past.isExact {
            value.past.count(until: now)
            keep(value, isLast: true)
        }
    }

    /// Stores the pasts of all operators over a node's attributes, under the node's new key.
    func keepPasts(of row: NodeRow) {
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

    /// Gives the record of an attribute the row that was written while it had another span.
    /// - Returns: the name of that row.
    private func restoreChart(_ value: TimedValue, _ name: String, _ rows: [Name: StoredRow]) -> String? {
        guard let chart = value.past as? Chart else { return nil }
        let start = String(name.dropLast(value.operation.description.utf8.count)) + "\(value.operation.kind.rawValue) "
        for (name, row) in rows where name.text.utf8.starts(with: start.utf8) {
            guard let span = TimeSpan(Substring(name.text.utf8.dropFirst(start.utf8.count))),
                TimeOperator.fault(of: span) == nil
            else {
                continue
            }
            let old = Chart(TimeOperator(.history, span: span))
            guard old.take(row: row.value, from: graph.timedValues.time.origin) else { continue }
            chart.take(from: old, graph.timedValues.now)
            return name.text
        }
        return nil
    }

    private func restore(_ value: TimedValue) {
        guard let place = graph.storedPlace(of: value) else { return }
        let key = persistence.nodes.key(of: place.row)
        guard let rows = persistence.absentRows[key]?.values else { return }
        if let row = rows[place.name] {
            // A row fits the window that it was written for.
            if value.span != nil { _ = graph.content(of: value.vertex) }
            guard value.past.take(row: row.value, from: graph.timedValues.time.origin) else { return }
            persistence.absentRows.remove(key, place.name)
            value.storedRow = row.value
            value.storedAt = graph.timedValues.now
        } else {
            guard let name = restoreChart(value, place.name, rows) else { return }
            persistence.absentRows.remove(key, name)
            value.outdatedName = name
        }
        graph.timedValues.noteInStore()
        persistence.nodes[place.row].hasValues = true
        do { try graph.engine.invalidate(value.vertex) } catch {
            preconditionFailure("a living operator cannot be run again")
        }
        graph.unsettled.note(value)
    }
}
