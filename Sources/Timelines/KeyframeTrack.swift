import AttributeValues

/// Keyframes laid out on a time axis: value and velocity at any time, in closed form.
public struct KeyframeTrack: Hashable, Sendable {
    /// The value before the first keyframe.
    public let initialValue: Double
    /// Length in seconds.
    public let duration: Double
    let segments: [Segment]

    struct Segment: Hashable, Sendable {
        enum Shape: Hashable, Sendable {
            case timing(TimingFunction)
            case hermite
            case spring(Spring)
            case hold
        }
        var shape: Shape
        var start: Double
        var duration: Double
        var from: Double
        var to: Double
        var startVelocity: Double
        var endVelocity: Double
    }

    public init(initialValue: Double, keyframes: [Keyframe], initialVelocity: Double = 0) {
        var layout = Layout(initialValue: initialValue, initialVelocity: initialVelocity, keyframes: keyframes)
        layout.run()
        self.initialValue = initialValue
        segments = layout.segments
        duration = layout.clock
    }

    /// Value and velocity at `time`. Before the start it is the initial value, from the end on the last one. At exactly
    /// the end the velocity is still that of the last keyframe, afterwards 0.
    public func sample(at time: Double) -> (value: Double, velocity: Double) {
        guard time >= 0, let last = segments.last else { return (initialValue, 0) }
        if time > duration { return (last.shape.isSpring ? last.sample(last.duration).value : last.to, 0) }
        let segment = segments[max(0, segments.partitioningIndex { $0.start > time } - 1)]
        return segment.sample(time - segment.start)
    }
}

extension KeyframeTrack.Segment.Shape {
    var isSpring: Bool { if case .spring = self { true } else { false } }
}

extension KeyframeTrack.Segment {
    func sample(_ time: Double) -> (value: Double, velocity: Double) {
        switch shape {
        case .hold: return (to, 0)
        case .timing(let function):
            guard duration > 0 else { return (to, 0) }
            let (progress, slope) = function.sample(at: time / duration)
            return (progress == 1 ? to : from + (to - from) * progress, (to - from) * slope / duration)
        case .spring(let spring): return spring.state(from: from, to: to, velocity: startVelocity, at: time)
        case .hermite:
            guard duration > 0 else { return (to, 0) }
            if time >= duration { return (to, endVelocity) }
            let u = time / duration
            let rise = to - from
            let (m0, m1) = (startVelocity * duration, endVelocity * duration)
            let c2 = 3 * rise - 2 * m0 - m1
            let c3 = m0 + m1 - 2 * rise
            return (from + u * (m0 + u * (c2 + u * c3)), (m0 + u * (2 * c2 + 3 * c3 * u)) / duration)
        }
    }
}

/// Computes the start, the end points and the velocities of every keyframe, from left to right.
private struct Layout {
    let keyframes: [Keyframe]
    var segments: [KeyframeTrack.Segment] = []
    var clock = 0.0
    var value: Double
    var velocity: Double

    init(initialValue: Double, initialVelocity: Double, keyframes: [Keyframe]) {
        self.keyframes = keyframes
        value = initialValue
        velocity = initialVelocity
    }

    mutating func run() {
        segments.reserveCapacity(keyframes.count)
        for index in keyframes.indices { append(index) }
    }

    private mutating func append(_ index: Int) {
        let keyframe = keyframes[index]
        switch keyframe {
        case .move(let to): add(.hold, 0, to: to, start: 0, end: 0)
        case .linear(let to, let duration, let timing):
            let (start, end) = Layout.velocities(timing, from: value, to: to, duration: duration)
            add(.timing(timing), duration, to: to, start: start, end: end)
        case .spring(let to, let duration, let curve, let startVelocity):
            let spring = curve.spring
            let start = startVelocity ?? velocity
            let length = duration ?? Layout.settlingTime(spring, from: value, to: to, velocity: start)
            let end = spring.state(from: value, to: to, velocity: start, at: length)
            add(.spring(spring), length, to: to, start: start, end: end.velocity)
        case .cubic(let to, let duration, let startVelocity, let endVelocity):
            let start = startVelocity ?? velocity
            add(
                .hermite, duration, to: to, start: start,
                end: endVelocity ?? tangent(after: index, at: to, duration: duration))
        }
    }

    private mutating func add(
        _ shape: KeyframeTrack.Segment.Shape, _ duration: Double, to: Double, start: Double, end: Double
    ) {
        segments.append(
            .init(
                shape: shape, start: clock, duration: duration, from: value, to: to, startVelocity: start,
                endVelocity: end))
        clock += duration
        value = to
        velocity = end
    }

    /// The velocity at the end of a cubic keyframe that specifies none.
    private func tangent(after index: Int, at to: Double, duration: Double) -> Double {
        guard index + 1 < keyframes.count else { return 0 }
        switch keyframes[index + 1] {
        case .move: return 0
        case .linear(let next, let length, let timing):
            return Layout.velocities(timing, from: to, to: next, duration: length).start
        case .cubic(_, _, let given?, _), .spring(_, _, _, let given?): return given
        case .cubic(let next, let length, nil, _):
            return duration + length > 0 ? (next - value) / (duration + length) : 0
        case .spring(let next, let length, let curve, nil):
            let length = length ?? curve.spring.settlingTime()
            return duration + length > 0 ? (next - value) / (duration + length) : 0
        }
    }

    private static func velocities(_ timing: TimingFunction, from: Double, to: Double, duration: Double) -> (
        start: Double, end: Double
    ) {
        guard duration > 0, from != to else { return (0, 0) }
        func velocity(_ slope: Double) -> Double { slope.isFinite ? slope * (to - from) / duration : 0 }
        return (velocity(timing.sample(at: 0).slope), velocity(timing.sample(at: 1).slope))
    }

    private static func settlingTime(_ spring: Spring, from: Double, to: Double, velocity: Double) -> Double {
        let distance = max((to - from).magnitude, velocity.magnitude / spring.angularFrequency)
        guard distance > 0 else { return 0 }
        let time = spring.settlingTime(
            displacement: from - to, velocity: velocity, tolerance: Spring.settlingTolerance * distance)
        return time.isFinite ? time : spring.response
    }
}
