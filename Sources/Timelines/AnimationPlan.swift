/// An animation compiled for evaluation: its curve and modifiers as a flat list of steps. Immutable, shared by all
/// timelines that run it, so a timeline costs one reference and no hashing.
final class AnimationPlan: Sendable {
    enum Base: Sendable {
        case timing(TimingFunction, duration: Double)
        /// With the initial velocity in distances per second, unless the spring is free: then its timeline has it.
        case spring(Spring, Double)
        case keyframes(KeyframeTrack)
        case phases(PhaseTrack)
    }

    enum Step: Sendable {
        case delay(Double)
        case speed(Double)
        case passes(count: Double, length: Double, Autoreverse)
    }

    let base: Base
    /// Outermost (last written) first.
    let steps: [Step]
    /// The curve's own length in seconds, before modifiers.
    let curveLength: Double
    /// Length in seconds; for a spring until it has settled a step of 1 from rest.
    let length: Double
    /// Seconds until logical completion.
    let logical: Double
    /// The spring, if no modifier except `speed` applies to it. Such an animation continues a velocity by itself.
    let freeSpring: Spring?
    /// The product of the speeds that apply to a free spring.
    let freeSpeed: Double
    /// The timing function, if no modifier applies to it. It is stored besides `base` because reading a trivial value
    /// needs no reference counting, and most sampled curves beside springs are of this kind.
    let plainTiming: TimingFunction?
    /// Seconds after which an inherited velocity has faded, for a curve that cannot continue one.
    let fadeLength: Double
    /// How a change continues a running motion, if the animation specifies it.
    let retargeting: Timeline.Retargeting?
    /// Slope of progress at the start.
    let initialSlope: Double
    /// The initial velocity of a free spring from rest, in distances per second of its own time, before `freeSpeed`;
    /// see `SpringCurve`.
    let initialVelocity: Double
    /// True if the curve has no kink or jump and is not vertical at its ends: a spring or Bézier with no modifier
    /// except `speed`.
    let isSmooth: Bool
    /// Settling time of the free spring for a step from rest, in real seconds.
    let springSettling: Double

    init(curve: Curve, modifiers: [Modifier]) {
        var initialVelocity = 0.0
        var length: Double
        var logical: Double
        switch curve {
        case .timing(let function, let duration):
            base = .timing(function, duration: duration)
            length = duration
            logical = duration
        case .spring(let written):
            let spring = written.spring
            let isFree = modifiers.allSatisfy(\.leavesFree)
            let own = isFree ? 0 : written.initialVelocity
            base = .spring(spring, own)
            length = spring.settlingTime(displacement: -1, velocity: own, tolerance: Spring.settlingTolerance)
            logical = spring.response
            initialVelocity = written.initialVelocity - own
        case .keyframes(let keyframes):
            let track = KeyframeTrack(initialValue: 0, keyframes: keyframes)
            base = .keyframes(track)
            length = track.duration
            logical = track.duration
        case .phases(let phases):
            let track = PhaseTrack(phases)
            base = .phases(track)
            length = track.duration
            logical = track.logical
        }
        curveLength = length
        var steps: [Step] = []
        var speed = 1.0
        var fade = length
        var retargeting: Timeline.Retargeting?
        for modifier in modifiers {
            switch modifier {
            case .delay(0), .speed(1): break
            case .delay(let seconds):
                steps.append(.delay(seconds))
                length += seconds
                logical += seconds
                fade = seconds
            case .speed(let factor):
                steps.append(.speed(factor))
                length /= factor
                logical /= factor
                fade /= factor
                speed *= factor
            case .repeatCount(let count, let autoreverse, let every):
                let pass = every ?? length
                steps.append(.passes(count: Double(count), length: pass, autoreverse))
                logical = Double(count - 1) * pass + min(logical, pass)
                length = Double(count) * pass
                fade = min(fade, pass)
            case .repeatForever(let autoreverse, let every):
                steps.append(.passes(count: .infinity, length: every ?? length, autoreverse))
                fade = min(fade, every ?? length)
                length = .infinity
                logical = .infinity
            case .logicallyComplete(let seconds): logical = seconds
            case .retarget(let mode): retargeting = mode
            }
        }
        self.steps = steps.reversed()
        self.retargeting = retargeting
        self.length = length
        self.logical = logical
        fadeLength = fade
        freeSpeed = speed
        self.initialVelocity = initialVelocity
        if case .timing(let function, let duration) = base, steps.isEmpty, duration > 0 {
            plainTiming = function
        } else {
            plainTiming = nil
        }
        isSmooth = base.isSmooth && steps.allSatisfy { if case .speed = $0 { true } else { false } }
        if modifiers.allSatisfy(\.leavesFree), case .spring(let spring, _) = base {
            freeSpring = spring
            springSettling = length
            initialSlope = 0
        } else {
            freeSpring = nil
            springSettling = 0
            initialSlope = AnimationPlan.progress(base, self.steps, at: 0).slope
        }
    }

    /// Progress and its slope per second, `time` seconds after the start. Springs are not cut at their settling time.
    func progress(at time: Double) -> (value: Double, slope: Double) { AnimationPlan.progress(base, steps, at: time) }

    static func progress(_ base: Base, _ steps: [Step], at time: Double) -> (value: Double, slope: Double) {
        guard time >= 0 else { return (0, 0) }
        var time = time
        var scale = 1.0
        var mirrored = false
        for step in steps {
            switch step {
            case .delay(let seconds):
                time -= seconds
                if time < 0 { return (mirrored ? 1 : 0, 0) }
            case .speed(let factor):
                time *= factor
                scale *= factor
            case .passes(let count, let length, let autoreverse):
                if !(time < count * length) { return (mirrored ? 0 : 1, 0) }
                guard length < .infinity else { continue }
                var pass = (time / length).rounded(.down)
                guard pass.isFinite else { return (0, 0) }
                time = time.addingProduct(-pass, length)
                if time < 0 {  // the quotient was rounded up to a whole number
                    pass -= 1
                    time += length
                }
                if pass.truncatingRemainder(dividingBy: 2) != 0 {
                    switch autoreverse {
                    case .none: break
                    case .mirror: mirrored.toggle()
                    case .reverse:
                        time = length - time
                        scale = -scale
                    }
                }
            }
        }
        let (value, slope) = shape(base, at: time)
        return mirrored ? (1 - value, -slope * scale) : (value, slope * scale)
    }

    private static func shape(_ base: Base, at time: Double) -> (value: Double, slope: Double) {
        switch base {
        case .timing(let function, let duration):
            if time >= duration {
                return (1, time > duration || duration == 0 ? 0 : function.sample(at: 1).slope / duration)
            }
            let (value, slope) = function.sample(at: time / duration)
            return (value, slope / duration)
        case .spring(let spring, let velocity):
            let basis = spring.basis(at: time)
            return (1 - basis.p + velocity * basis.q, velocity * basis.dq - basis.dp)
        case .keyframes(let track):
            let (value, slope) = track.sample(at: time)
            return (value, slope)
        case .phases(let track):
            let (value, slope) = track.sample(at: time)
            return (value, slope)
        }
    }
}

extension AnimationPlan.Base {
    fileprivate var isSmooth: Bool {
        switch self {
        case .spring: true
        case .timing(let function, _):
            function.bezier != nil && function.sample(at: 0).slope.isFinite && function.sample(at: 1).slope.isFinite
        case .keyframes, .phases: false
        }
    }
}

extension Modifier {
    /// True if the spring below still continues a velocity by itself.
    fileprivate var leavesFree: Bool {
        switch self {
        case .speed, .logicallyComplete, .retarget: true
        case .delay(let seconds): seconds == 0
        case .repeatCount, .repeatForever: false
        }
    }
}

extension AnimationPlan {
    /// The motion of a component: value = from + (to − from)·f + velocity·g. All components have the same weights.
    struct Weights {
        var f: Double
        var df: Double
        var g: Double
        var dg: Double
    }

    /// - Parameter joined: true if the motion takes over a velocity. A free spring continues it as a spring does. Any
    ///   other curve gets the cubic bump q (1 − q/D)², which supplies the missing velocity at the start and is zero
    ///   from D on. So value and velocity are continuous and the end does not change.
    func weights(at time: Double, joined: Bool) -> Weights {
        if let freeSpring {
            let basis = freeSpring.basis(at: time * freeSpeed)
            return Weights(f: 1 - basis.p, df: -basis.dp * freeSpeed, g: basis.q / freeSpeed, dg: basis.dq)
        }
        var f: Double
        var df: Double
        if let plainTiming {
            (f, df) = plainTiming.sample(at: time / curveLength)
            df /= curveLength
        } else {
            (f, df) = progress(at: time)
        }
        guard joined, time < fadeLength else { return Weights(f: f, df: df, g: 0, dg: 0) }
        if time <= 0 { return Weights(f: 0, df: 0, g: 0, dg: 1) }
        let left = 1 - time / fadeLength
        let g = time * left * left
        let dg = left * (1 - 3 * time / fadeLength)
        if initialSlope.isFinite {
            f -= initialSlope * g
            df -= initialSlope * dg
        } else {
            // No finite bump can cancel a vertical start, so the curve is eased in instead.
            let ramp = 1 - left * left
            df = df * ramp + f * 2 * left / fadeLength
            f *= ramp
        }
        return Weights(f: f, df: df, g: g, dg: dg)
    }
}
