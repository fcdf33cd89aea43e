import AttributeGraph
import AttributeValues
import RuleLanguage

extension ViewGraph {
    /// Adds the changes to the past of each operator that is due. An error of the operand adds nothing: the value
    /// before it counts on.
    func feedTimedValues() {
        guard !timedValues.isEmpty else { return }
        collectInvalidated()
        for value in timedValues.takeDue() where engine.isAlive(value.vertex) {
            // The read makes the engine report the next change.
            _ = content(of: value.vertex)
            if case .value(let operand) = content(of: value.operand), value.past.fault(operand) == nil {
                value.past.absorb(operand, timedValues.now)
                keep(value)
            }
            timedValues.schedule(value)
        }
    }

    /// - Returns: whether an operator was due.
    func advanceTimedValues(to time: Timestamp) -> Bool {
        let reached = timedValues.advance(to: time)
        for value in reached where engine.isAlive(value.vertex) {
            do { try engine.invalidate(value.vertex) } catch {
                preconditionFailure("a removed operator had a deadline")
            }
            timedValues.noteDue(value)
        }
        return !reached.isEmpty
    }

    // MARK: The store

    /// Windows of durable states are stored once in so many nanoseconds, and when the daemon ends.
    private static let storedEvery: Int64 = 10_000_000_000

    /// Deletes the rows of operators that were removed. They are deleted before other rows are written, which may have
    /// the same names.
    private func dropForgotten() {
        for (node, name) in timedValues.takeForgotten() where persistence.notesChanges && nodes.isAlive(node) {
            persistence.note(nil, as: name, of: node.row)
        }
    }

    private func keep(_ value: TimedValue, isLast: Bool = false) {
        dropForgotten()
        guard persistence.notesChanges else { return timedValues.noteUnkept(value) }
        if value.isStored == nil { value.isStored = follow([value.operand], from: { isDurable($0) }) }
        guard value.isStored == true else { return }
        let now = timedValues.now
        if !value.past.isExact, !isLast, value.storedRow != nil, now - value.storedAt < ViewGraph.storedEvery { return }
        guard let place = storedPlace(of: value), let row = value.past.row(from: timedValues.lead),
            row != value.storedRow
        else { return }
        value.storedRow = row
        value.storedAt = now
        persistence.note(row, as: place.name, of: place.row)
    }

    /// Stores the pasts that were fed while a start made the graph.
    func keepUnkept() {
        if timedValues.isUntouched { return }
        dropForgotten()
        for value in timedValues.takeUnkept() where engine.isAlive(value.vertex) { keep(value) }
    }

    /// Stores the windows that have changed since they were stored. Called when the daemon ends.
    public func keepPasts() {
        for value in timedValues.all where value.isStored == true && !value.past.isExact {
            keep(value, isLast: true)
        }
    }

    /// Stores the pasts of all operators over a node's attributes, under the node's new key.
    func keepPasts(of row: UInt32) {
        for value in timedValues.all where value.storedRow != nil && storedPlace(of: value)?.row == row {
            value.storedRow = nil
            keep(value, isLast: true)
        }
    }

    /// Gives operators their rows, which an earlier life of the graph has written.
    func restoreTimedValues() {
        _ = timedValues.takeMade()
        for value in timedValues.all { restore(value) }
    }

    /// The same for operators that were made since the last call, except at a start.
    func restoreNewTimedValues() {
        for value in timedValues.takeMade() where !persistence.absentRows.isEmpty && !persistence.isRestoring {
            if engine.isAlive(value.vertex) { restore(value) }
        }
    }

    private func restore(_ value: TimedValue) {
        guard let place = storedPlace(of: value) else { return }
        let key = nodes.key(of: place.row)
        guard let row = persistence.absentRows[key]?.values[place.name],
            value.past.take(row: row.value, from: timedValues.lead)
        else { return }
        persistence.absentRows.remove(key, place.name)
        nodes[Int(place.row)].hasValues = true
        value.storedRow = row.value
        value.storedAt = timedValues.now
        do { try engine.invalidate(value.vertex) } catch {
            preconditionFailure("a living operator cannot be run again")
        }
        timedValues.noteDue(value)
    }
}
