import AttributeGraph
import AttributeValues
import ViewGraph

extension ViewGraph {
    /// Performs what clients have written in a recorded transaction.
    /// - Returns: the states that were there.
    /// - Parameter known: see `GraphRuntime.recorded`.
    func replay(
        _ writes: [RecordedWrite], _ reports: [RecordedReport], _ known: inout [AttributeID?]
    ) -> [AttributeID] {
        var found: [(state: AttributeID, value: Value)] = []
        for write in writes {
            if let state = keptState(of: write, &known) { found.append((state, write.value)) }
        }
        let heard = reports.compactMap { report -> KeptReport? in
            guard let state = keptState(report.name, atKey: report.key) else { return nil }
            let steps = (try? AttributePath("/." + report.name + report.steps))?.steps ?? []
            return KeptReport(state: state, steps: steps, entries: report.entries)
        }
        replay(found, heard)
        return found.map(\.state)
    }

    /// Performs those writes whose states are there.
    /// - Returns: the states, and the other writes.
    func replayKnown(
        _ writes: [RecordedWrite], _ known: inout [AttributeID?]
    ) -> (written: [AttributeID], left: [RecordedWrite]) {
        var found: [(state: AttributeID, value: Value)] = []
        var left: [RecordedWrite] = []
        for write in writes {
            if let state = keptState(of: write, &known) {
                found.append((state, write.value))
            } else {
                left.append(write)
            }
        }
        if !found.isEmpty { replay(found, []) }
        return (found.map(\.state), left)
    }

    func keptState(of write: RecordedWrite, _ known: inout [AttributeID?]) -> AttributeID? {
        if write.number >= known.count { known += repeatElement(nil, count: write.number + 1 + known.count / 2) }
        if let state = known[write.number], isPlaced(state) { return state }
        let state = keptState(write.name, atKey: write.key)
        known[write.number] = state
        return state
    }
}
