import AttributeGraph
import AttributeValues
import RuleLanguage

// Operators over time are vertices that rules name as inputs. A vertex reads its operand as any rule does, so the
// engine brings it up to date before whoever reads it. It is watched, so a commit that changes the operand reports it.
// At the end of the commit the change is added to its past.

extension ViewGraph {
    /// The vertex of an operator, made at its first use; nil if there are too many.
    func timed(_ operation: TimeOperator, of operand: AttributeID) -> AttributeID? {
        if let existing = timedValues.value(operation, of: operand) { return existing.vertex }
        guard timedValues.count < limits.timedValues else { return nil }
        let value = TimedValue(operation, of: operand)
        let name = operation.text(of: attributes[Int(operand.index)].map { $0.name + text(of: $0.steps) } ?? "")
        let made = createRule(node: NodeID.root.row, name: name, kind: .clock, source: .timed(value))
        timedValues.add(value, at: made)
        watches.begin(made, in: engine)
        sharing.noteIdle(made)
        if !persistence.absentRows.isEmpty, !persistence.isRestoring { restore(value) }
        return made
    }

    /// What a rule reads that uses an operator.
    func timedInput(_ operation: TimeOperator, of operand: AttributeID) -> BoundInput {
        if let vertex = timed(operation, of: operand) { return .attribute(vertex) }
        return .failure(
            Failure(
                .limit, "there are \(limits.timedValues) operators over time already (time-operators)",
                hint: "remove some, or raise time-operators in the configuration"))
    }

    private func text(of steps: [AttributePath.Step]) -> String { steps.map(\.description).joined() }

    /// The operator's result. Nothing is remembered yet: the transaction may be taken back.
    func evaluate(_ value: TimedValue) throws -> Content {
        let content = try engine.read(value.operand)
        guard case .value(let operand) = content else { return content }
        budget.steps &-= value.past.cost
        if let fault = value.past.fault(operand) { return .failure(fault) }
        return .value(value.past.result(operand, timedValues.now))
    }

    /// Adds what has changed to the past of each operator that is due. An operand's error adds nothing: it counts as
    /// the value before it.
    func feedTimedValues() {
        guard !timedValues.isEmpty else { return }
        collectInvalidated()
        for value in timedValues.takeDue() where engine.isAlive(value.vertex) {
            // Read, so that the next change is reported.
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

    /// Forgets a vertex, if it is an operator's. It is about to be freed.
    func forgetTimedValue(_ vertex: AttributeID, _ source: Source) {
        guard case .timed(let value) = source else { return }
        timedValues.remove(value)
        noteIdle(watches.end(vertex, in: engine))
        guard value.storedRow != nil, persistence.notesChanges, let place = storedPlace(of: value) else { return }
        persistence.note(nil, as: place.name, of: place.row)
    }

    // MARK: The store

    /// Windows of durable states are stored once in so many nanoseconds, and when the daemon ends.
    private static let storedEvery: Int64 = 10_000_000_000

    /// The row of an operator's past: behind the node and the name of its operand.
    private func storedPlace(of value: TimedValue) -> (row: UInt32, name: String)? {
        guard engine.isAlive(value.operand), let record = attributes[Int(value.operand.index)],
            record.node != NodeID.root.row, nodes.isAlive(record.node)
        else { return nil }
        let (row, name) = storePlace(of: value.operand)
        guard nodes.isLinked(row) else { return nil }
        return (row, name + text(of: record.steps) + " " + value.operation.description)
    }

    private func keep(_ value: TimedValue, isLast: Bool = false) {
        guard persistence.notesChanges else { return timedValues.noteUnkept(value) }
        if value.isDurable == nil { value.isDurable = follow([value.operand], from: { isDurable($0) }) }
        guard value.isDurable == true else { return }
        let now = timedValues.now
        if !value.past.isExact, !isLast, value.storedRow != nil, now - value.storedAt < ViewGraph.storedEvery { return }
        guard let place = storedPlace(of: value), let row = value.past.row(from: timedValues.lead),
            row != value.storedRow
        else { return }
        value.storedRow = row
        value.storedAt = now
        persistence.note(row, as: place.name, of: place.row)
    }

    /// Stores what was fed while a start put the graph together.
    func keepUnkept() {
        for value in timedValues.takeUnkept() where engine.isAlive(value.vertex) { keep(value) }
    }

    /// Stores the windows that were not stored since they changed. The daemon ends.
    public func keepPasts() {
        for value in timedValues.all where value.isDurable == true && !value.past.isExact {
            keep(value, isLast: true)
        }
    }

    /// Stores the past of everything that a node's attributes are operands of, under the node's new key.
    func keepPasts(of row: UInt32) {
        for value in timedValues.all where value.storedRow != nil && storedPlace(of: value)?.row == row {
            value.storedRow = nil
            keep(value, isLast: true)
        }
    }

    /// Operators take their rows, which were written by an earlier life of the graph.
    func restoreTimedValues() {
        for value in timedValues.all { restore(value) }
    }

    private func restore(_ value: TimedValue) {
        guard let place = storedPlace(of: value) else { return }
        let key = nodes.key(of: place.row)
        guard let row = persistence.absentRows.rows[key]?[place.name],
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
