extension Animation {
    static func check(_ curve: Curve) throws(AnimationError) {
        switch curve {
        case .timing(let function, let duration):
            try require("a duration", duration, in: .seconds)
            if case .bezier(let bezier) = function {
                try require("a control point", bezier.y1, in: .magnitude)
                try require("a control point", bezier.y2, in: .magnitude)
            }
        case .spring(let spring): try check(spring)
        case .keyframes(let keyframes):
            guard 1...AnimationLimits.keyframes ~= keyframes.count else {
                throw AnimationError(
                    "an animation has 1 to \(AnimationLimits.keyframes) keyframes, not \(keyframes.count)")
            }
            for keyframe in keyframes { try check(keyframe) }
        case .phases(let phases):
            guard 1...AnimationLimits.phases ~= phases.count else {
                throw AnimationError("an animation has 1 to \(AnimationLimits.phases) phases, not \(phases.count)")
            }
            for phase in phases {
                try require("a phase's value", phase.progress, in: .magnitude)
                switch phase.animation.curve {
                case .keyframes, .phases:
                    throw AnimationError("a phase's animation is a timing curve or a spring, not keyframes or phases")
                case .timing, .spring: break
                }
                guard phase.animation.retargeting == nil else {
                    throw AnimationError(
                        "the animation of a phase has no retarget", hint: "write retarget after phases(…)")
                }
                guard phase.animation.logicalDuration < .infinity else {
                    throw AnimationError("a phase cannot repeat forever")
                }
            }
        }
    }

    static func check(_ spring: SpringCurve) throws(AnimationError) {
        switch spring.parameters {
        case .duration(let duration, let bounce):
            try require("a spring's duration", duration, in: .positiveSeconds)
            let total = spring.presetBounce + bounce
            guard total > -1, total <= 1, 1 / (1 + min(total, 0)) <= AnimationLimits.dampingRatio else {
                throw AnimationError(
                    "a spring's bounce is \(shortText(total))",
                    hint: "it is greater than -1 and at most 1: 0 does not overshoot, 1 never stops")
            }
        case .response(let response, let fraction):
            try require("a spring's response", response, in: .positiveSeconds)
            try require("a damping fraction", fraction, in: .damping)
        case .physical(let mass, let stiffness, let damping):
            try require("a spring's mass", mass, in: .physical)
            try require("a spring's stiffness", stiffness, in: .physical)
            try require("a spring's damping", damping, in: .physicalDamping)
            let made = spring.spring
            guard made.response <= AnimationLimits.duration, made.response >= AnimationLimits.springDuration,
                made.dampingFraction <= AnimationLimits.dampingRatio
            else {
                throw AnimationError(
                    "a spring of mass \(shortText(mass)), stiffness \(shortText(stiffness)) "
                        + "and damping \(shortText(damping)) is out of range",
                    hint: "its period is \(shortText(made.response)) s "
                        + "(1e-06 to \(shortText(AnimationLimits.duration))), "
                        + "its damping ratio \(shortText(made.dampingFraction)) "
                        + "(0 to \(shortText(AnimationLimits.dampingRatio)))")
            }
        }
        try require("an initial velocity", spring.initialVelocity, in: .magnitude)
    }

    private static func check(_ keyframe: Keyframe) throws(AnimationError) {
        try require("a keyframe's value", keyframe.target, in: .magnitude)
        switch keyframe {
        case .linear(_, let duration, let timing): try check(.timing(timing, duration: duration))
        case .cubic(_, let duration, let start, let end):
            try check(.timing(.linear, duration: duration))
            for velocity in [start, end] { try require("a keyframe's velocity", velocity ?? 0, in: .magnitude) }
        case .spring(_, let duration, let spring, let start):
            try check(.timing(.linear, duration: duration ?? 0))
            try check(spring)
            try require("a keyframe's velocity", start ?? 0, in: .magnitude)
        case .move: break
        }
    }

    static func check(_ modifiers: [Modifier]) throws(AnimationError) {
        guard modifiers.count <= AnimationLimits.modifiers else {
            throw AnimationError(
                "an animation has at most \(AnimationLimits.modifiers) modifiers, not \(modifiers.count)")
        }
        for modifier in modifiers {
            switch modifier {
            case .delay(let delay): try require("a delay", delay, in: .seconds)
            case .speed(let factor): try require("a speed", factor, in: .speed)
            case .logicallyComplete(let after): try require("a logical duration", after, in: .seconds)
            case .retarget: break
            case .repeatCount(let count, _, let every):
                guard 1...AnimationLimits.repeats ~= count else {
                    throw AnimationError("a repeat count is \(count)", hint: "it is 1 to \(AnimationLimits.repeats)")
                }
                if let every { try require("a pass", every, in: .positiveSeconds) }
            case .repeatForever(_, let every):
                if let every { try require("a pass", every, in: .positiveSeconds) }
            }
        }
    }

    /// A repetition of something without length would show nothing. A repetition of something endless would never begin
    /// its second pass.
    func checkRepetitions() throws(AnimationError) {
        for step in plan.steps {
            guard case .passes(_, let length, _) = step else { continue }
            guard length >= AnimationLimits.springDuration else {
                throw AnimationError("the repeated animation has no length", hint: "give it a duration")
            }
            guard length < .infinity else {
                throw AnimationError(
                    "the repeated animation never ends", hint: "give each pass a length: repeatCount(2, every: 1)")
            }
        }
    }

    private struct Bounds: Sendable {
        let range: ClosedRange<Double>
        var unit = ""

        static let seconds = Bounds(range: 0...AnimationLimits.duration, unit: " seconds")
        static let positiveSeconds = Bounds(
            range: AnimationLimits.springDuration...AnimationLimits.duration, unit: " seconds")
        static let speed = Bounds(range: AnimationLimits.speed)
        static let magnitude = Bounds(range: -AnimationLimits.magnitude...AnimationLimits.magnitude)
        static let damping = Bounds(range: 0...AnimationLimits.dampingRatio)
        static let physical = Bounds(range: 1e-12...1e12)
        static let physicalDamping = Bounds(range: 0...1e12)
    }

    private static func require(_ what: String, _ value: Double, in bounds: Bounds) throws(AnimationError) {
        guard bounds.range.contains(value) else {
            let (least, most) = (shortText(bounds.range.lowerBound), shortText(bounds.range.upperBound))
            throw AnimationError("\(what) is \(shortText(value))", hint: "it is \(least) to \(most)\(bounds.unit)")
        }
    }
}
