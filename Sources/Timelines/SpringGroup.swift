/// Springs with the same constants, as columns: one lane per moving component.
struct SpringGroup {
    struct Key: Hashable {
        var spring: Spring
        var speed: Double
    }

    let key: Key
    private(set) var slots: [Int] = []
    private var displacements: [Double] = []
    private var velocities: [Double] = []
    private var targets: [Double] = []
    private var ends: [Double] = []
    /// No lane ends before this.
    private(set) var earliestEnd = Double.infinity
    /// Frames since the lanes were last set from the closed form.
    private(set) var steps = 0
    private var clock = 0.0

    init(_ key: Key) { self.key = key }

    var count: Int { slots.count }

    /// The lanes hold the state at `time`.
    mutating func restart(at time: Double) {
        clock = time
        steps = 0
    }

    mutating func set(_ lane: Int, displacement: Double, velocity: Double) {
        displacements[lane] = displacement
        velocities[lane] = velocity
    }

    /// Adds a lane whose state is that of the group's clock.
    mutating func append(slot: Int, displacement: Double, velocity: Double, target: Double, end: Double) -> Int {
        slots.append(slot)
        displacements.append(displacement)
        velocities.append(velocity)
        targets.append(target)
        ends.append(end)
        earliestEnd = min(earliestEnd, end)
        return slots.count - 1
    }

    /// Removes a lane; the last one moves into its place.
    /// - Returns: the slot whose lane changed, and its new lane.
    mutating func remove(_ lane: Int) -> (slot: Int, lane: Int)? {
        let last = slots.count - 1
        slots.swapAt(lane, last)
        displacements.swapAt(lane, last)
        velocities.swapAt(lane, last)
        targets.swapAt(lane, last)
        ends.swapAt(lane, last)
        slots.removeLast()
        displacements.removeLast()
        velocities.removeLast()
        targets.removeLast()
        ends.removeLast()
        return lane < last ? (slots[lane], lane) : nil
    }

    /// Moves every lane to `time` and writes its value to its slot.
    mutating func step(to time: Double, into values: inout [Double]) {
        let basis = key.spring.basis(at: (time - clock) * key.speed)
        let (p, q, dp, dq) = (basis.p, basis.q / key.speed, basis.dp * key.speed, basis.dq)
        let count = slots.count
        clock = time
        steps += 1
        // The columns have `count` elements each and slots are indices of `values`: both hold by construction.
        values.withUnsafeMutableBufferPointer { values in
            displacements.withUnsafeMutableBufferPointer { displacements in
                velocities.withUnsafeMutableBufferPointer { velocities in
                    targets.withUnsafeBufferPointer { targets in
                        slots.withUnsafeBufferPointer { slots in
                            for i in 0..<count {
                                let y = displacements[i]
                                let v = velocities[i]
                                let next = y * p + v * q
                                displacements[i] = next
                                velocities[i] = y * dp + v * dq
                                values[slots[i]] = targets[i] + next
                            }
                        }
                    }
                }
            }
        }
    }

    /// The slots of lanes that have ended by `time`; finds the next earliest end among the rest.
    mutating func ended(at time: Double) -> [Int] {
        var result: [Int] = []
        earliestEnd = .infinity
        for (lane, end) in ends.enumerated() {
            if end <= time { result.append(slots[lane]) } else { earliestEnd = min(earliestEnd, end) }
        }
        return result
    }
}
