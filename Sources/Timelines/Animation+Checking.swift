extension Animation {
    static func check(_ curve: Curve) throws(AnimationError) {
        switch curve {
        case .timing(let function, let duration):
            try require(
                duration, in: 0...AnimationLimits.duration, "a duration",
                "0 to \(shortText(AnimationLimits.duration)) seconds")
            if case .bezier(let bezier) = function {
                try require(bezier.y1, in: anything, "a control point", magnitudes)
                try require(bezier.y2, in: anything, "a control point", magnitudes)
            }
        case .spring(let spring):
            try check(spring)
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
                try require(phase.progress, in: anything, "a phase's value", magnitudes)
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
            try require(
                duration, in: AnimationLimits.springDuration...AnimationLimits.duration, "a spring's duration",
                "1e-06 to \(shortText(AnimationLimits.duration)) seconds")
            let total = spring.presetBounce + bounce
            guard total > -1, total <= 1, 1 / (1 + min(total, 0)) <= AnimationLimits.dampingRatio else {
                throw AnimationError(
                    "a spring's bounce is \(shortText(total))",
                    hint: "it is greater than -1 and at most 1: 0 does not overshoot, 1 never stops")
            }
        case .response(let response, let fraction):
            try require(
                response, in: AnimationLimits.springDuration...AnimationLimits.duration, "a spring's response",
                "1e-06 to \(shortText(AnimationLimits.duration)) seconds")
            try require(
                fraction, in: 0...AnimationLimits.dampingRatio, "a damping fraction",
                "0 to \(shortText(AnimationLimits.dampingRatio))")
        case .physical(let mass, let stiffness, let damping):
            try require(mass, in: 1e-12...1e12, "a spring's mass", "1e-12 to 1e+12")
            try require(stiffness, in: 1e-12...1e12, "a spring's stiffness", "1e-12 to 1e+12")
            try require(damping, in: 0...1e12, "a spring's damping", "0 to 1e+12")
            let made = spring.spring
            guard made.response <= AnimationLimits.duration, made.response >= AnimationLimits.springDuration,
                made.dampingFraction <= AnimationLimits.dampingRatio
            else {
                throw AnimationError(
                    "a spring of mass \(shortText(mass)), stiffness \(shortText(stiffness)) and damping \(shortText(damping)) is out of range",
                    hint:
                        "its period is \(shortText(made.response)) s (1e-06 to \(shortText(AnimationLimits.duration))), its damping ratio \(shortText(made.dampingFraction)) (0 to \(shortText(AnimationLimits.dampingRatio)))"
                )
            }
        }
        try require(spring.initialVelocity, in: anything, "an initial velocity", magnitudes)
    }

    private static func check(_ keyframe: Keyframe) throws(AnimationError) {
        try require(keyframe.target, in: anything, "a keyframe's value", magnitudes)
        switch keyframe {
        case .linear(_, let duration, let timing):
            try check(.timing(timing, duration: duration))
        case .cubic(_, let duration, let start, let end):
            try check(.timing(.linear, duration: duration))
            for velocity in [start, end] {
                try require(velocity ?? 0, in: anything, "a keyframe's velocity", magnitudes)
            }
        case .spring(_, let duration, let spring, let start):
            try check(.timing(.linear, duration: duration ?? 0))
            try check(spring)
            try require(start ?? 0, in: anything, "a keyframe's velocity", magnitudes)
        case .move:
            break
        }
    }

    static func check(_ modifiers: [Modifier]) throws(AnimationError) {
        guard modifiers.count <= AnimationLimits.modifiers else {
            throw AnimationError(
                "an animation has at most \(AnimationLimits.modifiers) modifiers, not \(modifiers.count)")
        }
        let seconds = "0 to \(shortText(AnimationLimits.duration)) seconds"
        for modifier in modifiers {
            switch modifier {
            case .delay(let delay): try require(delay, in: 0...AnimationLimits.duration, "a delay", seconds)
            case .speed(let factor): try require(factor, in: AnimationLimits.speed, "a speed", "1e-06 to 1e+06")
            case .logicallyComplete(let after):
                try require(after, in: 0...AnimationLimits.duration, "a logical duration", seconds)
            case .retarget: break
            case .repeatCount(let count, _, let every):
                guard 1...AnimationLimits.repeats ~= count else {
                    throw AnimationError("a repeat count is \(count)", hint: "it is 1 to \(AnimationLimits.repeats)")
                }
                if let every {
                    try require(every, in: AnimationLimits.springDuration...AnimationLimits.duration, "a pass", seconds)
                }
            case .repeatForever(_, let every):
                if let every {
                    try require(every, in: AnimationLimits.springDuration...AnimationLimits.duration, "a pass", seconds)
                }
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

    private static let anything = -AnimationLimits.magnitude...AnimationLimits.magnitude
    private static let magnitudes = "-1e+06 to 1e+06"

    private static func require(_ value: Double, in range: ClosedRange<Double>, _ what: String, _ meaning: String)
        throws(AnimationError)
    {
        guard range.contains(value) else {
            throw AnimationError("\(what) is \(shortText(value))", hint: "it is \(meaning)")
        }
    }
}
