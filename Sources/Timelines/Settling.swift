/// When a motion counts as over.
enum Settling {
    /// How near to its target a spring's component must stay, in the value's own unit: a thousandth of the distance, so
    /// that units do not matter. Where there is almost no distance a hundredth of that part of the reach of the
    /// velocity, and never less than the doubles around the value resolve.
    static func tolerance(distance: Double, from: Double, to: Double, velocity: Double, spring: Spring) -> Double {
        let reach = velocity.magnitude / spring.angularFrequency
        let resolution = max(from.magnitude, to.magnitude) * 0x1p-48
        return max(Spring.settlingTolerance * max(distance, reach / 100), resolution, .leastNormalMagnitude)
    }
}
