import Glibc

extension Spring {
    /// The last moment at which the spring is farther than `tolerance` from its target: sup { t ≥ 0 : |y(t)| >
    /// tolerance }.
    ///
    /// Exact (to rounding), not the bound of the envelope: the last extremum outside the tolerance is found in closed
    /// form, and the crossing after it, where |y| only falls, by Newton's method inside a bracket.
    /// - Parameters:
    ///   - displacement: from − to, any sign.
    ///   - velocity: units/s.
    ///   - tolerance: > 0, in the same units.
    /// - Returns: seconds; 0 if it never leaves the tolerance, infinity if it is undamped and does not stay inside.
    public func settlingTime(displacement: Double, velocity: Double, tolerance: Double) -> Double {
        var first = 0.0
        if decay == 0 {
            let amplitude = hypot(displacement, velocity / angularFrequency)
            return amplitude > tolerance ? .infinity : 0
        }
        let numerator = velocity
        let denominator = stiffnessPerMass * displacement + decay * velocity
        var limit = Double.infinity
        if discriminant > 0 {
            var angle = atan2(numerator * frequency, denominator)
            if angle < 0 { angle += .pi }
            if angle >= .pi { angle -= .pi }
            let extremum = angle / frequency
            let peak = self.displacement(displacement, velocity, at: extremum).magnitude
            let halfPeriod = .pi / frequency
            if peak > tolerance {
                // |y| shrinks by e^(−δπ/ω) from one extremum to the next.
                var passed = max(0, (log(peak / tolerance) / (decay * halfPeriod)).rounded(.up) - 1)
                first = extremum + passed * halfPeriod
                while passed > 0, self.displacement(displacement, velocity, at: first).magnitude <= tolerance {
                    passed -= 1
                    first = extremum + passed * halfPeriod
                }
                limit = first + halfPeriod
            } else {
                guard displacement.magnitude > tolerance else { return 0 }
                limit = extremum
            }
        } else {
            // There is at most one extremum, where tanh(ωt)/ω (or t, when critical) equals this ratio.
            let ratio = numerator / denominator
            var extremum = 0.0
            if ratio > 0, ratio < .infinity {
                if frequency == 0 {
                    extremum = ratio
                } else if ratio * frequency < 1 {
                    extremum = atanh(ratio * frequency) / frequency
                }
            }
            if extremum > 0, self.displacement(displacement, velocity, at: extremum).magnitude > tolerance {
                first = extremum
            } else {
                guard displacement.magnitude > tolerance else { return 0 }
                if extremum > 0 { limit = extremum }
            }
        }
        return crossing(displacement, velocity, tolerance, after: first, before: limit)
    }

    /// The time until a value stays within a thousandth of its distance around the target, so that units do not matter.
    /// If the distance is almost zero, a hundredth of the velocity's reach counts instead. The tolerance is never less
    /// than the resolution of doubles around the value.
    func settlingTime(from: Double, to: Double, velocity: Double) -> Double {
        let reach = velocity.magnitude / angularFrequency
        let resolution = max(from.magnitude, to.magnitude) * 0x1p-48
        let tolerance = Spring.settlingTolerance * max((to - from).magnitude, reach / 100)
        return settlingTime(
            displacement: from - to, velocity: velocity,
            tolerance: max(tolerance, resolution, .leastNormalMagnitude))
    }

    private func displacement(_ y: Double, _ v: Double, at time: Double) -> Double {
        let b = basis(at: time)
        return y * b.p + v * b.q
    }

    /// The moment in an interval at which |y| falls through `tolerance`. It must do so once in the interval.
    private func crossing(_ y: Double, _ v: Double, _ tolerance: Double, after first: Double, before limit: Double)
        -> Double
    {
        let sign: Double = displacement(y, v, at: first) < 0 ? -1 : 1
        var low = first
        var step = 1 / max(decay, angularFrequency)
        var high = min(limit, first + step)
        while high < limit, sign * displacement(y, v, at: high) > tolerance {
            low = high
            step *= 2
            high = min(limit, high + step)
        }
        var time = (low + high) / 2
        for _ in 0..<200 {
            let b = basis(at: time)
            let excess = sign * (y * b.p + v * b.q) - tolerance
            if excess > 0 { low = time } else { high = time }
            let slope = sign * (y * b.dp + v * b.dq)
            var next = time - excess / slope
            if !(next > low && next < high) { next = (low + high) / 2 }
            if next == time || (next - time).magnitude <= time.ulp || next <= low || next >= high { return next }
            time = next
        }
        return time
    }

    /// Settling time of a step of 1 from rest within `tolerance` of it.
    public func settlingTime(tolerance: Double = Spring.settlingTolerance) -> Double {
        settlingTime(displacement: -1, velocity: 0, tolerance: tolerance)
    }

    /// A value counts as settled within this fraction of the distance.
    public static let settlingTolerance = 1e-3
}
