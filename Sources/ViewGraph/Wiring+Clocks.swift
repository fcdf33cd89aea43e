import AttributeGraph
import AttributeValues
import SceneModel

extension Wiring {
    /// Whether anything moves by itself.
    public var hasClocks: Bool { !clocks.isEmpty || !timedValues.isEmpty }

    func clockVertex(of schedule: ClockSchedule) -> AttributeID {
        if let existing = clocks.vertex(of: schedule) { return existing }
        let made = createInput(
            .value(.timestamp(clocks.reading(of: schedule))), node: NodeID.root.row, name: "clock \(schedule.text)",
            kind: .clock, type: .timestamp, source: .system)
        clocks.add(made, of: schedule)
        sharing.noteIdle(made)
        return made
    }

    /// When the next clock that somebody watches will tick, or the next operator over time has
    /// another result; nil: never. Cost: O(clocks), and O(what depends on one) when a watch or an
    /// edge has come or gone that may matter to it.
    public func nextTick() -> Timestamp? {
        let tick = clocks.nextTick(uses) { engine.isWatchedDownstream(of: $0) }
        guard let deadline = timedValues.nextDeadline() else { return tick }
        return tick.map { min($0, deadline) } ?? deadline
    }
}
