import AttributeGraph
import AttributeValues
import SceneModel

extension Wiring {
    /// Whether anything changes with time alone.
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

    /// When the next clock that is observed ticks, or the next operator over time changes its result; nil: never. Cost:
    /// O(clocks), and O(everything downstream of a clock) if a watch or an edge has come or gone that may matter to it.
    public func nextTick() -> Timestamp? {
        let tick = clocks.nextTick(uses) { engine.isWatchedDownstream(of: $0) }
        guard let deadline = timedValues.nextDeadline() else { return tick }
        return tick.map { min($0, deadline) } ?? deadline
    }
}
