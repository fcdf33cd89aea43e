/// The shape of a change's motion, before modifiers.
public enum Curve: Hashable, Sendable {
    /// A timing function stretched over `duration` seconds.
    case timing(TimingFunction, duration: Double)
    case spring(SpringCurve)
    /// Values of the keyframes are progress: 0 is where the change started, 1 the new value.
    case keyframes([Keyframe])
    /// One animation after the other, each to a progress of its own.
    case phases([Phase])
}

/// One step of `phases`: moves to `progress` with `animation`. The next step starts when this one is logically
/// complete.
public struct Phase: Hashable, Sendable {
    public let progress: Double
    public let animation: Animation

    public init(to progress: Double, _ animation: Animation) {
        self.progress = progress
        self.animation = animation
    }
}

/// A spring as it was written: SwiftUI's name for it and its parameters.
public struct SpringCurve: Hashable, Sendable {
    public enum Name: String, Sendable {
        case `default`, smooth, snappy, bouncy, spring, interactiveSpring, interpolatingSpring
    }

    public enum Parameters: Hashable, Sendable {
        /// `bounce` is added to the preset's own for `smooth`, `snappy`, `bouncy` and `interactiveSpring`.
        case duration(Double, bounce: Double)
        case response(Double, dampingFraction: Double)
        case physical(mass: Double, stiffness: Double, damping: Double)
    }

    public let name: Name
    public let parameters: Parameters
    /// The initial velocity of an `interpolatingSpring` if nothing is moving yet, in distances per second.
    public let initialVelocity: Double

    public init(_ name: Name, _ parameters: Parameters, initialVelocity: Double = 0) {
        self.name = name
        self.parameters = parameters
        self.initialVelocity = initialVelocity
    }

    /// The spring of 0.5 s without bounce.
    public static let standard = SpringCurve(.default, .duration(0.5, bounce: 0))

    /// The bounce of the preset itself.
    var presetBounce: Double {
        switch name {
        case .snappy, .interactiveSpring: 0.15
        case .bouncy: 0.3
        case .default, .smooth, .spring, .interpolatingSpring: 0
        }
    }

    /// The oscillator that this describes.
    public var spring: Spring {
        switch parameters {
        case .duration(let duration, let bounce): Spring(duration: duration, bounce: presetBounce + bounce)
        case .response(let response, let fraction): Spring(response: response, dampingFraction: fraction)
        case .physical(let mass, let stiffness, let damping): Spring(mass: mass, stiffness: stiffness, damping: damping)
        }
    }
}
