import AttributeValues

extension Timeline {
    /// The timeline of an attribute's change. nil if the values do not interpolate and the change is a jump: strings,
    /// bools, lists, null, numbers that are not finite, maps with other keys or other things than numbers, vectors of
    /// different length.
    public init?(changing from: Value, to: Value, animation: Animation, start: Double) {
        guard let space = Space(target: to), let target = space.components(of: to), let origin = space.components(of: from),
              origin.count == target.count else { return nil }
        self.init(space: space, from: origin, to: target, animation: animation, start: start)
    }

    /// The value displayed at a moment. Whole numbers are rounded, everything else overshoots with its curve.
    public func displayed(at time: Double) -> Value { isFinished(at: time) ? target : space.value(of: value(at: time)) }

    /// The value it goes to.
    public var target: Value { space.target(to) }

    /// The timeline of the next change, made while this one runs. nil if the new value does not interpolate with this
    /// timeline's.
    public func changing(to target: Value, animation: Animation, at time: Double, mode: Retargeting? = nil) -> Timeline? {
        guard let space = Space(target: target), let components = space.components(of: target) else { return nil }
        guard let shift = space.shift(from: self.space), components.count == to.count else {
            return Timeline(changing: displayed(at: time), to: target, animation: animation, start: time)
        }
        return retarget(to: components, in: space, shift: shift, animation: animation, at: time, mode: mode ?? animation.retargeting ?? .merge)
    }
}
