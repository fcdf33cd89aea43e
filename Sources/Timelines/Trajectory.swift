/// A number's motion through any number of changes, known from its start to its end: what `agctl curve` draws.
public struct Trajectory {
    /// In order of their starts. Each is in force until the next one starts.
    public private(set) var timelines: [Timeline]

    /// - Parameter velocity: units/s at time 0.
    public init(from: Double, to: Double, velocity: Double = 0, animation: Animation) {
        timelines = [Timeline(from: Components(from), to: Components(to), velocity: Components(velocity), animation: animation, start: 0)]
    }

    /// One more change.
    /// - Precondition: not before the last one.
    public mutating func retarget(_ change: Change) {
        guard let last = timelines.last else { return }
        precondition(change.time >= last.start, "changes come in order of time")
        timelines.append(last.retarget(to: Components(change.target), animation: change.animation, at: change.time, mode: change.mode))
    }

    /// A later change: when, to what, how.
    public struct Change: Hashable, Sendable {
        public var time: Double
        public var target: Double
        public var animation: Animation
        public var mode: Timeline.Retargeting
    }

    /// Value and velocity by the formulas, not cut where a spring has settled.
    public func state(at time: Double) -> (value: Double, velocity: Double) {
        guard let timeline = timelines.last(where: { $0.start <= time }) ?? timelines.first else { return (0, 0) }
        let state = timeline.exactState(at: time)
        return (state.value.first, state.velocity.first)
    }

    /// When the last change has reached its target; infinite if never.
    public var end: Double { timelines.last?.end ?? 0 }

    /// How much time a picture of it should show: until the end, of endless motions a few passes.
    public var shownLength: Double {
        guard let last = timelines.last else { return 1 }
        if last.end < .infinity { return max(last.end * 1.05, 1e-3) }
        let pass = last.animation.plan.steps.lazy.compactMap { if case .passes(_, let length, _) = $0 { length } else { nil } }.first
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

    /// A state as a line of JSON, every number with 17 significant digits: `{"t":…, "value":…, "velocity":…}`.
    public func json(at time: Double) -> String {
        let (value, velocity) = state(at: time)
        func number(_ x: Double) -> String { x.isFinite ? text17(x) : "null" }
        return "{\"t\":\(number(time)),\"value\":\(number(value)),\"velocity\":\(number(velocity))}"
    }
}

extension Trajectory.Change {
    /// Reads `at=0.1,to=2,curve=smooth`, with `mode=merge`, `additive` or `chain` if wanted. Without a curve it is `default`.
    public init(_ text: String) throws(AnimationError) {
        var values: [String: String] = [:]
        for part in Trajectory.Change.split(text) {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, ["at", "to", "curve", "mode"].contains(pair[0]), values[pair[0]] == nil else {
                throw AnimationError("a change cannot have '\(part)'", hint: "it is written at=0.1,to=2,curve=smooth")
            }
            values[pair[0]] = pair[1]
        }
        guard let time = values["at"].flatMap(Double.init), time >= 0, time <= AnimationLimits.duration else {
            throw AnimationError("a change lacks its time", hint: "write at=SECONDS")
        }
        guard let target = values["to"].flatMap(Double.init), target.isFinite else {
            throw AnimationError("a change lacks its target", hint: "write to=NUMBER")
        }
        guard let mode = Timeline.Retargeting(rawValue: values["mode"] ?? "merge") else {
            throw AnimationError("there is no mode '\(values["mode"] ?? "")'", hint: "there are merge, additive, chain")
        }
        self.init(time: time, target: target, animation: try values["curve"].map { (text) throws(AnimationError) in try Animation(text) } ?? .default, mode: mode)
    }

    /// At the commas that are not inside parentheses.
    private static func split(_ text: String) -> [String] {
        var parts = [""]
        var depth = 0
        for character in text {
            if character == "(" { depth += 1 } else if character == ")" { depth -= 1 }
            if character == ",", depth == 0 { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        return parts
    }
}
