import AttributeGraph
import AttributeValues
import SceneModel

extension ViewGraph {
    public var hasClocks: Bool { !clocks.isEmpty }

    func clock(_ schedule: ClockSchedule) -> AttributeID {
        if let existing = clocks.vertex(of: schedule) { return existing }
        let made = createInput(
            .value(.timestamp(clocks.reading(of: schedule))), node: NodeID.root.row, name: "clock \(schedule.text)",
            kind: .clock, type: .timestamp, source: .system)
        clocks.add(made, of: schedule)
        sharing.noteIdle(made)
        return made
    }

    /// Sets every clock to its last tick at or before `time`; a clock that has not ticked since
    /// changes nothing.
    public func advance(to time: Timestamp) {
        for (vertex, reading) in clocks.advance(to: time) { setInput(vertex, .value(.timestamp(reading))) }
    }

    /// When the next clock that somebody watches will tick; nil when nobody watches any. Cost:
    /// O(clocks), and O(what depends on one) when a watch or an edge has come or gone that may
    /// matter to it.
    public func nextTick() -> Timestamp? {
        clocks.nextTick(uses) { engine.isWatchedDownstream(of: $0) }
    }
}
