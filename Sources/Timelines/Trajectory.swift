import Glibc

/// A number's motion through any number of changes, known from start to end. `agctl curve` draws it.
public struct Trajectory {
    /// In the order of their starts. Each applies until the next one starts.
    public private(set) var timelines: [Timeline]

    /// - Parameter velocity: units/s at time 0.
    public init(from: Double, to: Double, velocity: Double = 0, animation: Animation) {
        timelines = [
            Timeline(
                from: Components(from), to: Components(to), velocity: Components(velocity), animation: animation,
                start: 0)
        ]
    }

    /// Adds a change. It starts from the formulas' state, also if a spring has settled and a daemon would start from
    /// its target.
    /// - Precondition: `change` is not before the last one.
    public mutating func retarget(_ change: Change) {
        guard let last = timelines.last else { return }
        precondition(change.time >= last.start, "changes come in order of time")
        timelines.append(
            last.exactRetarget(
                to: Components(change.target), animation: change.animation, at: change.time, mode: change.mode))
    }

    /// Value and velocity by the formulas, not cut where a spring has settled.
    public func state(at time: Double) -> (value: Double, velocity: Double) {
        guard let timeline = timelines.last(where: { $0.start <= time }) ?? timelines.first else { return (0, 0) }
        let state = timeline.exactState(at: time)
        return (state.value.first, state.velocity.first)
    }

    /// The moment at which the last change has reached its target; infinite if never.
    public var end: Double { timelines.last?.end ?? 0 }

    /// The length of time that a picture shows: until the end, or a few passes of an endless motion.
    public var shownLength: Double {
        guard let last = timelines.last else { return 1 }
        if last.end < .infinity { return max(last.end * 1.05, 1e-3) }
        let pass = last.animation.plan.steps.lazy.compactMap {
            if case .passes(_, let length, _) = $0 { length } else { nil }
        }.first
        return last.start + (pass.map { 4 * $0 } ?? 6 * (last.animation.freeSpring?.spring.response ?? 1))
    }

    /// Evenly spaced states over `shownLength`; at least 2.
    func samples(_ count: Int) -> [(time: Double, value: Double)] {
        let length = shownLength
        return (0..<max(2, count)).map { i in
            let time = length * Double(i) / Double(max(1, count - 1))
            return (time, state(at: time).value)
        }
    }

    /// Times at round intervals, 50 to 125 of them, from 0 until the motion is over, or for `shownLength` if endless.
    public var grid: [Double] {
        let length = end < .infinity ? end : shownLength
        guard length > 0, length < .infinity else { return [0] }
        guard length > 1e-12 else { return [0, length] }
        let exponent = log10(length / 50).rounded(.down)
        let power = pow(10, exponent.magnitude)
        let digit = [5.0, 2].first { length / 50 >= (exponent < 0 ? $0 / power : $0 * power) } ?? 1
        // Below 1 s, the division gives the double nearest to the intended decimal.
        func time(_ i: Int) -> Double { exponent < 0 ? Double(i) * digit / power : Double(i) * digit * power }
        let count = Int((length / time(1)).rounded(.up))
        return (0...count).map(time)
    }

    /// The states as a JSON array with one line each, `{"t":…,"value":…,"velocity":…}`, every number with 17
    /// significant digits. Null stands for numbers that are not finite: the velocity where a curve is vertical.
    public func json(at times: [Double]) -> String {
        func number(_ x: Double) -> String { x.isFinite ? text17(x) : "null" }
        let lines = times.map { time in
            let (value, velocity) = state(at: time)
            return "{\"t\":\(number(time)),\"value\":\(number(value)),\"velocity\":\(number(velocity))}"
        }
        return lines.isEmpty ? "[]\n" : "[\n" + lines.joined(separator: ",\n") + "\n]\n"
    }
}
