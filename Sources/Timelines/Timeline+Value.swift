import AttributeValues

extension Timeline {
    /// The timeline of an attribute's change. nil if the values cannot be interpolated and the change is a jump:
    /// strings, bools, lists, null, numbers that are not finite, maps with different keys or with values that are not
    /// numbers, vectors of different lengths.
    public init?(changing from: Value, to: Value, animation: Animation, start: Double) {
        guard let space = Space(target: to), let target = space.components(of: to),
            let origin = space.components(of: from), origin.count == target.count
        else { return nil }
        self.init(space: space, from: origin, to: target, animation: animation, start: start)
    }

    /// The displayed value at a moment. Whole numbers are rounded, all other values overshoot with their curve.
    public func displayed(at time: Double) -> Value { isFinished(at: time) ? target : space.value(of: value(at: time)) }

    /// The value at the end.
    public var target: Value { space.target(to) }

    /// The timeline of the next change, made while this one runs. nil if the new value cannot be interpolated with this
    /// timeline's.
    public func changing(to target: Value, animation: Animation, at time: Double, mode: Retargeting? = nil) -> Timeline?
    {
        guard let space = Space(target: target), let components = space.components(of: target) else { return nil }
        guard let shift = space.shift(from: self.space), components.count == to.count else {
            return Timeline(changing: displayed(at: time), to: target, animation: animation, start: time)
        }
        return retarget(
            to: components, in: space, shift: shift, animation: animation, at: time,
            mode: mode ?? animation.retargeting ?? .merge)
    }
}
