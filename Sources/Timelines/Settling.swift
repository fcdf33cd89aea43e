/// The criterion for the end of a motion.
enum Settling {
    /// Maximum distance of a spring's component from its target at rest, in the value's own unit: a thousandth of the
    /// distance, so that units do not matter. If the distance is almost zero, it is a hundredth of that part of the
    /// reach of the velocity. It is never less than the resolution of doubles around the value.
    static func tolerance(distance: Double, from: Double, to: Double, velocity: Double, spring: Spring) -> Double {
        let reach = velocity.magnitude / spring.angularFrequency
        let resolution = max(from.magnitude, to.magnitude) * 0x1p-48
        return max(Spring.settlingTolerance * max(distance, reach / 100), resolution, .leastNormalMagnitude)
    }
}
