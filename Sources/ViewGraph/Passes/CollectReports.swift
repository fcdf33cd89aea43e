import AttributeGraph

// Reads: the reports of the engine: watched vertices that may have changed.
// Writes: `unsettled.lists`, `unsettled.operators`, `triggers.stale`; `watches` for all others.
// Leaves: the engine has nothing to report.

extension Wiring {
    func collectReports() {
        watches.collect(from: engine) { vertex in
            if let row = listsByData[vertex] {
                unsettled.lists.insert(row)
                return true
            }
            if let action = triggers.byValue[vertex] {
                triggers.stale.insert(action)
                return true
            }
            guard !timedValues.isEmpty, case .timed(let value)? = attributes[vertex]?.source else {
                return false
            }
            unsettled.note(value)
            return true
        }
    }
}
