import Glibc

/// A damped harmonic oscillator, m x″ + c x′ + k (x − to) = 0, solved in closed form.
///
/// Three numbers determine its motion: the undamped angular frequency ω₀ = √(k/m), the decay rate δ = c/2m, and ω₀² −
/// δ², whose sign is the regime (under-, critically, over-damped). The last is stored instead of computed from the
/// other two, because the subtraction would cancel near critical damping. Each initializer derives it from its own
/// parameters without cancellation.
public struct Spring: Hashable, Sendable {
    /// The undamped period 2π/ω₀ in seconds: SwiftUI's `duration` and `response`, and the time of logical completion.
    public let response: Double
    /// ω₀ in radians per second.
    public let angularFrequency: Double
    /// δ in 1/s: the envelope is e^(−δt).
    public let decay: Double
    /// ω₀².
    let stiffnessPerMass: Double
    /// ω₀² − δ²: positive under, zero critically, negative over-damped.
    let discriminant: Double
    /// √|ω₀² − δ²|.
    let frequency: Double

    private init(
        response: Double, angularFrequency: Double, stiffnessPerMass: Double, decay: Double, discriminant: Double
    ) {
        self.response = response
        self.angularFrequency = angularFrequency
        self.stiffnessPerMass = stiffnessPerMass
        self.decay = decay
        self.discriminant = discriminant
        self.frequency = discriminant.magnitude.squareRoot()
    }

    /// - Parameters:
    ///   - duration: the undamped period in seconds, > 0.
    ///   - bounce: −1 < bounce ≤ 1; 0 is critical damping, 1 none at all, below 0 over-damped.
    public init(duration: Double, bounce: Double) {
        let omega = 2 * Double.pi / duration
        if bounce >= 0 {
            self.init(
                response: duration, angularFrequency: omega, stiffnessPerMass: omega * omega,
                decay: omega * (1 - bounce), discriminant: omega * omega * bounce * (2 - bounce))
        } else {
            let rest = 1 + bounce
            self.init(
                response: duration, angularFrequency: omega, stiffnessPerMass: omega * omega, decay: omega / rest,
                discriminant: omega * omega * bounce * (2 + bounce) / (rest * rest))
        }
    }

    /// - Parameters:
    ///   - response: the undamped period in seconds, > 0.
    ///   - dampingFraction: the damping ratio ζ ≥ 0.
    public init(response: Double, dampingFraction zeta: Double) {
        let omega = 2 * Double.pi / response
        self.init(
            response: response, angularFrequency: omega, stiffnessPerMass: omega * omega, decay: zeta * omega,
            discriminant: omega * omega * (1 - zeta) * (1 + zeta))
    }

    /// - Parameters: mass > 0, stiffness > 0, damping ≥ 0, in any coherent units.
    public init(mass: Double, stiffness: Double, damping: Double) {
        // 4mk − c², exact to one rounding: the products' rounding errors are recovered with fused multiply-adds.
        let square = damping * damping
        let lost = (-square).addingProduct(damping, damping)
        let difference = (-square).addingProduct(4 * mass, stiffness) - lost
        let omega = (stiffness / mass).squareRoot()
        self.init(
            response: 2 * Double.pi / omega, angularFrequency: omega, stiffnessPerMass: stiffness / mass,
            decay: damping / (2 * mass), discriminant: difference / (4 * mass * mass))
    }

    /// ζ = δ/ω₀.
    public var dampingFraction: Double { decay / angularFrequency }

    /// 1 − ζ, or 1/ζ − 1 when over-damped; never cancels near ζ = 1.
    public var bounce: Double {
        let relative = discriminant / stiffnessPerMass  // 1 − ζ²
        let zeta = dampingFraction
        return zeta <= 1 ? relative / (1 + zeta) : relative / (zeta * (1 + zeta))
    }

    /// Stiffness and damping for a mass of 1.
    public var stiffness: Double { stiffnessPerMass }
    public var damping: Double { 2 * decay }
}

extension Spring {
    /// The two fundamental solutions at a time: displacement from the target y(t) = y₀ P + v₀ Q, velocity
    /// y′(t) = y₀ P′ + v₀ Q′. They depend on the spring alone, so every component of a vector shares them.
    @frozen
    public struct Basis: Equatable, Sendable {
        public var p: Double
        public var q: Double
        public var dp: Double
        public var dq: Double
    }

    /// Fundamental solutions `time` seconds after the start. Times ≤ 0 give the initial state, infinity the rest.
    ///
    /// Accurate to a few units of the last place in every regime and at any time: near critical damping by a Taylor
    /// series in (ω₀²−δ²)t², over-damped without sinh and cosh, which overflow.
    public func basis(at time: Double) -> Basis {
        guard time > 0 else { return Basis(p: 1, q: 0, dp: 0, dq: 1) }
        let cosine: Double
        let sine: Double
        let q = discriminant * time * time
        if q.magnitude < 0.01 {
            let exponent = decay * time
            guard exponent < Spring.underflow else { return Basis(p: 0, q: 0, dp: 0, dq: 0) }
            let envelope = exp(-exponent)
            cosine = envelope * (1 - q / 2 * (1 - q / 12 * (1 - q / 30 * (1 - q / 56 * (1 - q / 90)))))
            sine = envelope * time * (1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72 * (1 - q / 110)))))
        } else if discriminant > 0 {
            let exponent = decay * time
            guard exponent < Spring.underflow, time < .infinity else { return Basis(p: 0, q: 0, dp: 0, dq: 0) }
            let envelope = exp(-exponent)
            // Without damping, each period equals the first. The phase of a large angle would be rounded.
            let angle = frequency * (decay == 0 ? time.truncatingRemainder(dividingBy: response) : time)
            cosine = envelope * cos(angle)
            sine = envelope * sin(angle) / frequency
        } else {
            let slow = stiffnessPerMass / (decay + frequency)
            guard slow * time < Spring.underflow else { return Basis(p: 0, q: 0, dp: 0, dq: 0) }
            let envelope = exp(-slow * time)
            let fast = expm1(-2 * frequency * time)
            cosine = envelope * (1 + fast / 2)
            sine = -envelope * fast / (2 * frequency)
        }
        return Basis(p: cosine + decay * sine, q: sine, dp: -stiffnessPerMass * sine, dq: cosine - decay * sine)
    }

    /// For larger exponents, e^(−x) is zero in a double.
    private static let underflow = 746.0

    /// Position and velocity `time` seconds after leaving `from` with `velocity` (units/s) towards `to`.
    public func state(from: Double, to: Double, velocity: Double, at time: Double) -> (value: Double, velocity: Double)
    {
        let b = basis(at: time)
        let displacement = from - to
        return (to + (displacement * b.p + velocity * b.q), displacement * b.dp + velocity * b.dq)
    }
}
