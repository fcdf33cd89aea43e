/// Timelines of one kind, with one lane per moving component. The data of a frame is in one array without references,
/// and values that all lanes share are computed once.
struct LaneGroup {
    enum Key: Hashable {
        case spring(Spring, speed: Double)
        /// A timing function over `length` seconds.
        case timing(TimingFunction, length: Double)

        /// The group of a timeline; nil if it must be evaluated individually.
        init?(_ timeline: Timeline) {
            let plan = timeline.animation.plan
            guard timeline.under == nil else { return nil }
            if let spring = plan.freeSpring {
                self = .spring(spring, speed: plan.freeSpeed)
            } else if let function = plan.plainTiming, timeline.joint == .start || plan.initialSlope.isFinite {
                self = .timing(function, length: plan.curveLength)
            } else {
                return nil
            }
        }
    }

    let key: Key
    private(set) var slots: [Int] = []
    private var ends: [Double] = []
    /// One per slot in a group of springs, else empty.
    private var springs: [SpringLane] = []
    /// One per slot in a group of timing functions, else empty.
    private var curves: [CurveLane] = []
    /// No lane ends before this moment.
    private(set) var earliestEnd = Double.infinity
    /// Frames since the lanes were last computed from the closed form.
    private(set) var steps = 0
    private var clock = 0.0

    private struct SpringLane {
        var displacement: Double
        var velocity: Double
        var target: Double
        var slot: Int
    }

    fileprivate struct CurveLane {
        var start: Double
        var from: Double
        var distance: Double
        /// The velocity that the bump must supply: the initial velocity minus that of the curve.
        var missing: Double
        /// The Bézier parameter of the last frame.
        var parameter: Double
        var slot: Int
    }

    init(_ key: Key) { self.key = key }

    var count: Int { slots.count }

    /// True if rounding errors may have accumulated.
    var needsResync: Bool {
        if case .spring = key { steps >= LaneGroup.resyncInterval } else { false }
    }

    static let resyncInterval = 1024

    /// The lanes now have the state at `time`.
    mutating func restart(at time: Double) {
        clock = time
        steps = 0
    }

    mutating func set(_ lane: Int, displacement: Double, velocity: Double) {
        springs[lane].displacement = displacement
        springs[lane].velocity = velocity
    }

    /// Adds a lane for component `i` of a timeline in the state of the group's clock.
    /// - Returns: the lane.
    mutating func append(_ timeline: Timeline, _ i: Int, slot: Int, state: (value: Components, velocity: Components))
        -> Int
    {
        slots.append(slot)
        ends.append(timeline.end)
        earliestEnd = min(earliestEnd, timeline.end)
        switch key {
        case .spring:
            springs.append(
                SpringLane(
                    displacement: state.value[i] - timeline.to[i], velocity: state.velocity[i], target: timeline.to[i],
                    slot: slot))
        case .timing:
            let distance = timeline.to[i] - timeline.from[i]
            let missing =
                timeline.joint == .smooth ? timeline.velocity[i] - distance * timeline.animation.plan.initialSlope : 0
            curves.append(
                CurveLane(
                    start: timeline.start, from: timeline.from[i], distance: distance, missing: missing, parameter: 0,
                    slot: slot))
        }
        return slots.count - 1
    }

    /// Removes a lane. The last one moves to its index.
    /// - Returns: the slot whose lane changed, and its new lane.
    mutating func remove(_ lane: Int) -> (slot: Int, lane: Int)? {
        let last = slots.count - 1
        slots.swapAt(lane, last)
        slots.removeLast()
        ends.swapAt(lane, last)
        ends.removeLast()
        switch key {
        case .spring:
            springs.swapAt(lane, last)
            springs.removeLast()
        case .timing:
            curves.swapAt(lane, last)
            curves.removeLast()
        }
        return lane < last ? (slots[lane], lane) : nil
    }

    /// Returns the slots of the lanes that have ended by `time`, and finds the next earliest end among the others.
    mutating func takeEnded(at time: Double) -> [Int] {
        var result: [Int] = []
        earliestEnd = .infinity
        for (lane, end) in ends.enumerated() {
            if end <= time { result.append(slots[lane]) } else { earliestEnd = min(earliestEnd, end) }
        }
        return result
    }
}

// Computing a frame. Slots are valid indices of `values` by construction.
extension LaneGroup {
    /// Moves every lane to `time` and writes its value to its slot.
    mutating func moveLanes(to time: Double, into values: inout [Double]) {
        switch key {
        case .spring(let spring, let speed): moveLanes(spring, speed, to: time, into: &values)
        case .timing(let function, let length): sample(function, length, at: time, into: &values)
        }
        clock = time
        steps += 1
    }

    /// Multiplies all lanes by the same matrix.
    private mutating func moveLanes(_ spring: Spring, _ speed: Double, to time: Double, into values: inout [Double]) {
        let basis = spring.basis(at: (time - clock) * speed)
        let (p, q, dp, dq) = (basis.p, basis.q / speed, basis.dp * speed, basis.dq)
        values.withUnsafeMutableBufferPointer { values in
            springs.withUnsafeMutableBufferPointer { lanes in
                for i in lanes.indices {
                    let y = lanes[i].displacement
                    let v = lanes[i].velocity
                    let next = y * p + v * q
                    lanes[i].displacement = next
                    lanes[i].velocity = y * dp + v * dq
                    values[lanes[i].slot] = lanes[i].target + next
                }
            }
        }
    }

    private mutating func sample(
        _ function: TimingFunction, _ length: Double, at time: Double, into values: inout [Double]
    ) {
        let bezier = function == .linear ? nil : function.bezier
        values.withUnsafeMutableBufferPointer { values in
            curves.withUnsafeMutableBufferPointer { lanes in
                var first = 0
                if let bezier {
                    while first + 4 <= lanes.count {
                        LaneGroup.sample(bezier, length, at: time, lanes, from: first, into: values)
                        first += 4
                    }
                }
                for i in first..<lanes.count {
                    let u = lanes[i].part(of: length, at: time)
                    let f = bezier.map { $0.value(at: u, near: &lanes[i].parameter) } ?? function.sample(at: u).value
                    values[lanes[i].slot] = lanes[i].value(f, u, length)
                }
            }
        }
    }

    /// Evaluates four lanes of one Bézier in parallel.
    @inline(__always)
    private static func sample(
        _ bezier: CubicBezier, _ length: Double, at time: Double, _ lanes: UnsafeMutableBufferPointer<CurveLane>,
        from first: Int, into values: UnsafeMutableBufferPointer<Double>
    ) {
        func gather(_ member: (CurveLane) -> Double) -> SIMD4<Double> {
            SIMD4(member(lanes[first]), member(lanes[first + 1]), member(lanes[first + 2]), member(lanes[first + 3]))
        }
        let u = ((time - gather(\.start)) / length).clamped(
            lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 1))
        let (s, isFound) = bezier.parameters(at: u, near: gather(\.parameter))
        guard all(isFound) else {
            for lane in first..<first + 4 {
                let u = u[lane - first]
                let f = bezier.value(at: u, near: &lanes[lane].parameter)
                values[lanes[lane].slot] = lanes[lane].value(f, u, length)
            }
            return
        }
        let left = 1 - u
        let shown =
            gather(\.from)
            + (gather(\.distance) * bezier.value(atParameter: s) + gather(\.missing) * (u * length * left * left))
        for i in 0..<4 {
            lanes[first + i].parameter = s[i]
            values[lanes[first + i].slot] = shown[i]
        }
    }
}

extension LaneGroup.CurveLane {
    /// The fraction of the curve that has passed, 0...1.
    @inline(__always)
    func part(of length: Double, at time: Double) -> Double { min(max((time - start) / length, 0), 1) }

    /// - Parameters:
    ///   - f: progress.
    ///   - u: the fraction that has passed.
    @inline(__always)
    func value(_ f: Double, _ u: Double, _ length: Double) -> Double {
        let left = 1 - u
        return from + (distance * f + missing * (u * length * left * left))
    }
}
