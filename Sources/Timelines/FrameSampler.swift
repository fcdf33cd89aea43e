/// Samples many running timelines at one moment, frame after frame.
///
/// Springs are grouped by their constants. Inside a group, a frame is one multiplication of every (displacement,
/// velocity) by the same 2 × 2 matrix, which is computed once per group and frame from the closed form for the time
/// that has really passed. Nothing is integrated. Every `LaneGroup.resyncInterval` frames, the group is computed anew
/// from the closed form, so rounding errors never accumulate. Timing functions without modifiers are grouped too, and
/// each search begins at the result of the last frame. All other timelines are evaluated individually.
///
/// The values are in one array: a timeline's components begin at `slot(of:)`.
public struct FrameSampler {
    /// Identifies a timeline in this sampler until it is removed or has finished.
    public typealias Handle = Int

    struct Entry {
        var timeline: Timeline
        var slot: Int
        /// Index of its group, or −1.
        var group: Int
        /// Index in `others` or in `waiting`, for timelines without a lane.
        var position: Int
        var isFinished = false
    }

    /// A timeline that is evaluated individually. It is a copy of the one in its entry, so that a frame walks along one
    /// array.
    private struct Other {
        var handle: Handle
        var slot: Int
        var timeline: Timeline
    }

    /// The displayed components of all timelines at the last sample, by slot.
    public private(set) var values: [Double] = []
    /// The timelines that finished in the last sample. Their values are exactly their targets. The next change may
    /// reuse their handles.
    public private(set) var finished: [Handle] = []

    private var entries: [Entry?] = []
    private var freeHandles: [Handle] = []
    private var freeSlots: [Int: [Int]] = [:]
    private var groups: [LaneGroup] = []
    private var groupIndex: [LaneGroup.Key: Int] = [:]
    private var emptyGroups: [Int] = []
    private var waiting: [Handle] = []
    private var others: [Other] = []
    private var owner: [Handle] = []
    private var lanes: [Int] = []

    public init() {}

    public private(set) var count = 0

    /// Begins to sample a timeline. Its value is available after the next `sample`.
    public mutating func insert(_ timeline: Timeline) -> Handle {
        let width = timeline.to.count
        let slot = freeSlots[width]?.popLast() ?? values.count
        if slot == values.count {
            values.append(contentsOf: repeatElement(0, count: width))
            owner.append(contentsOf: repeatElement(-1, count: width))
            lanes.append(contentsOf: repeatElement(-1, count: width))
        }
        let handle = freeHandles.popLast() ?? entries.count
        if handle == entries.count { entries.append(nil) }
        for i in 0..<width {
            values[slot + i] = timeline.from[i]
            owner[slot + i] = handle
        }
        entries[handle] = Entry(timeline: timeline, slot: slot, group: -1, position: waiting.count)
        waiting.append(handle)
        count += 1
        return handle
    }

    /// Stops sampling. The handle and its slot may be reused.
    public mutating func remove(_ handle: Handle) {
        guard handle < entries.count, let entry = entries[handle] else { return }
        entries[handle] = nil
        count -= 1
        let width = entry.timeline.to.count
        if entry.group >= 0 {
            for i in 0..<width {
                if let moved = groups[entry.group].remove(lanes[entry.slot + i]) { lanes[moved.slot] = moved.lane }
                lanes[entry.slot + i] = -1
            }
            if groups[entry.group].count == 0 {
                groupIndex[groups[entry.group].key] = nil
                emptyGroups.append(entry.group)
            }
        } else if entry.position < waiting.count, waiting[entry.position] == handle {
            waiting.swapAt(entry.position, waiting.count - 1)
            waiting.removeLast()
            if entry.position < waiting.count { entries[waiting[entry.position]]?.position = entry.position }
        } else {
            others.swapAt(entry.position, others.count - 1)
            others.removeLast()
            if entry.position < others.count { entries[others[entry.position].handle]?.position = entry.position }
        }
        freeHandles.append(handle)
        freeSlots[width, default: []].append(entry.slot)
    }

    /// The index of the timeline's first component in `values`.
    public func slot(of handle: Handle) -> Int? { handle < entries.count ? entries[handle]?.slot : nil }

    /// Sets `values` to the displayed values at `time`, and `finished` to the timelines that have ended by then, which
    /// are no longer sampled. `time` must not go back.
    public mutating func sample(at time: Double) {
        finished.removeAll(keepingCapacity: true)
        for g in groups.indices { advance(g, to: time) }
        admit(at: time)
        for i in others.indices {
            others[i].timeline.write(at: time, into: &values, from: others[i].slot)
            if others[i].timeline.isFinished(at: time) { finished.append(others[i].handle) }
        }
        for handle in finished { remove(handle) }
    }

    private mutating func advance(_ g: Int, to time: Double) {
        guard groups[g].count > 0 else { return }
        if groups[g].needsResync { resync(g, at: time) } else { groups[g].moveLanes(to: time, into: &values) }
        guard time >= groups[g].earliestEnd else { return }
        for handle in groups[g].takeEnded(at: time).map({ owner[$0] }) {
            guard let entry = entries[handle], !entry.isFinished else { continue }  // one lane per component
            entries[handle]?.isFinished = true
            entry.timeline.write(at: time, into: &values, from: entry.slot)
            finished.append(handle)
        }
    }

    private mutating func resync(_ g: Int, at time: Double) {
        for lane in 0..<groups[g].count {
            let slot = groups[g].slots[lane]
            guard let entry = entries[owner[slot]] else { continue }
            let i = slot - entry.slot
            let state = entry.timeline.exactState(at: time)
            groups[g].set(lane, displacement: state.value[i] - entry.timeline.to[i], velocity: state.velocity[i])
            values[slot] = state.value[i]
        }
        groups[g].restart(at: time)
    }

    private mutating func group(for key: LaneGroup.Key, at time: Double) -> Int {
        if let g = groupIndex[key] { return g }
        var group = LaneGroup(key)
        group.restart(at: time)
        let g = emptyGroups.popLast() ?? groups.count
        if g == groups.count { groups.append(group) } else { groups[g] = group }
        groupIndex[key] = g
        return g
    }

    /// Gives each new timeline a lane in its group, or an entry among the others.
    private mutating func admit(at time: Double) {
        for handle in waiting {
            guard var entry = entries[handle] else { continue }
            let timeline = entry.timeline
            if let key = LaneGroup.Key(timeline), time >= timeline.start, !timeline.isFinished(at: time) {
                let g = group(for: key, at: time)
                let state = timeline.exactState(at: time)
                for i in 0..<timeline.to.count {
                    lanes[entry.slot + i] = groups[g].append(timeline, i, slot: entry.slot + i, state: state)
                    values[entry.slot + i] = state.value[i]
                }
                entry.group = g
            } else {
                entry.position = others.count
                others.append(Other(handle: handle, slot: entry.slot, timeline: timeline))
            }
            entries[handle] = entry
        }
        waiting.removeAll(keepingCapacity: true)
    }
}
