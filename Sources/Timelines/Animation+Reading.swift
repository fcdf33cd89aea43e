extension Animation {
    /// Makes the animation of a curve call and its modifier calls.
    init(_ calls: [Call]) throws(AnimationError) {
        guard let head = calls.first else { throw AnimationError("an animation begins with a curve") }
        let curve = try Reading.readCurve(head)
        let modifiers = try calls.dropFirst().map(Reading.readModifier)
        guard modifiers.count <= AnimationLimits.modifiers else {
            throw AnimationError(
                "an animation has at most \(AnimationLimits.modifiers) modifiers, not \(modifiers.count)",
                at: head.position)
        }
        self.init(unchecked: curve, modifiers)
        try checkRepetitions(at: head.position)
    }

    /// A repetition of something without length would show nothing. A repetition of something endless would never begin
    /// its second pass.
    private func checkRepetitions(at position: PartPosition) throws(AnimationError) {
        for step in plan.steps {
            guard case .passes(_, let length, _) = step else { continue }
            guard length >= AnimationLimits.springDuration else {
                throw AnimationError("the repeated animation has no length", at: position, hint: "give it a duration")
            }
            guard length < .infinity else {
                throw AnimationError(
                    "the repeated animation never ends", at: position,
                    hint: "give each pass a length: repeatCount(2, every: 1)")
            }
        }
    }

    public static var curveNames: [String] {
        Signature.curves.map(\.name).reduce(into: []) { names, name in
            if names.last != name { names.append(name) }
        }
    }
}

private enum Reading {
    static func readCurve(_ call: Call) throws(AnimationError) -> Curve {
        switch call.name {
        case "keyframes":
            return .keyframes(try elements(of: call, "keyframe", atMost: AnimationLimits.keyframes).map(keyframe))
        case "phases": return .phases(try elements(of: call, "phase", atMost: AnimationLimits.phases).map(phase))
        default: break
        }
        if Signature.modifiers.contains(where: { $0.name == call.name }) {
            throw AnimationError(
                "an animation begins with a curve, not with the modifier '\(call.name)'", at: call.position,
                hint: "write for example default.\(call.name)(…)")
        }
        let bound = try BoundCall(call, in: Signature.curves, what: "curve", others: Signature.lists)
        if let name = SpringCurve.Name(rawValue: call.name) { return .spring(try spring(name, bound)) }
        let duration = try bound.number("duration", "a duration", in: .seconds) ?? 0.35
        if call.name == "timingCurve" { return .timing(try bezier(bound), duration: duration) }
        guard let function = TimingFunction.named.first(where: { "\($0)" == call.name }) else {
            throw AnimationError("'\(call.name)' is not a timing curve", at: bound.position)
        }
        return .timing(function, duration: duration)
    }

    private static func bezier(_ bound: BoundCall) throws(AnimationError) -> TimingFunction {
        var points: [Double] = []
        for label in ["x1", "y1", "x2", "y2"] {
            let value = try bound.number(label) ?? 0
            guard label.hasPrefix("y") || (0...1).contains(value) else {
                throw AnimationError(
                    "a control point's \(label) is \(shortText(value))", at: bound[label]?.position ?? bound.position,
                    hint: "it lies between 0 and 1")
            }
            points.append(value)
        }
        for y in ["y1", "y2"] { _ = try bound.number(y, "a control point", in: .magnitude) }
        return .bezier(CubicBezier(points[0], points[1], points[2], points[3]))
    }

    private static func spring(_ name: SpringCurve.Name, _ bound: BoundCall) throws(AnimationError) -> SpringCurve {
        _ = try bound.number("blendDuration")  // has no closed form and no effect here
        let quick = name == .interactiveSpring
        let parameters: SpringCurve.Parameters
        if bound.has("response") {
            let response = try bound.number("response", "a spring's response", in: .positiveSeconds)
            let fraction = try bound.number("dampingFraction", "a damping fraction", in: .damping)
            parameters = .response(
                response ?? (quick ? 0.15 : 0.5), dampingFraction: fraction ?? (quick ? 0.86 : 0.825))
        } else if bound.has("stiffness") {
            parameters = .physical(
                mass: try bound.number("mass", "a spring's mass", in: .physical) ?? 1,
                stiffness: try bound.number("stiffness", "a spring's stiffness", in: .physical) ?? 0,
                damping: try bound.number("damping", "a spring's damping", in: .physicalDamping) ?? 0)
        } else {
            let duration = try bound.number("duration", "a spring's duration", in: .positiveSeconds)
            let bounce = try bound.number(bound.has("bounce") ? "bounce" : "extraBounce") ?? 0
            parameters = .duration(duration ?? (quick ? 0.15 : 0.5), bounce: bounce)
        }
        let velocity = try bound.number("initialVelocity", "an initial velocity", in: .magnitude) ?? 0
        let curve = SpringCurve(name, parameters, initialVelocity: velocity)
        try check(curve, at: bound.position)
        return curve
    }

    /// Checks what the parameters of a spring mean together.
    private static func check(_ curve: SpringCurve, at position: PartPosition) throws(AnimationError) {
        switch curve.parameters {
        case .duration(_, let bounce):
            let total = curve.presetBounce + bounce
            guard total > -1, total <= 1, 1 / (1 + min(total, 0)) <= AnimationLimits.dampingRatio else {
                throw AnimationError(
                    "a spring's bounce is \(shortText(total))", at: position,
                    hint: "it is greater than -1 and at most 1: 0 does not overshoot, 1 never stops")
            }
        case .response: break
        case .physical(let mass, let stiffness, let damping):
            let made = curve.spring
            guard made.response <= AnimationLimits.duration, made.response >= AnimationLimits.springDuration,
                made.dampingFraction <= AnimationLimits.dampingRatio
            else {
                throw AnimationError(
                    "a spring of mass \(shortText(mass)), stiffness \(shortText(stiffness)) "
                        + "and damping \(shortText(damping)) is out of range", at: position,
                    hint: "its period is \(shortText(made.response)) s "
                        + "(1e-06 to \(shortText(AnimationLimits.duration))), "
                        + "its damping ratio \(shortText(made.dampingFraction)) "
                        + "(0 to \(shortText(AnimationLimits.dampingRatio)))")
            }
        }
    }

    static func readModifier(_ call: Call) throws(AnimationError) -> Modifier {
        let bound = try BoundCall(call, in: Signature.modifiers, what: "modifier")
        switch call.name {
        case "delay": return .delay(try bound.number("seconds", "a delay", in: .seconds) ?? 0)
        case "speed": return .speed(try bound.number("factor", "a speed", in: .speed) ?? 1)
        case "logicallyComplete":
            return .logicallyComplete(after: try bound.number("after", "a logical duration", in: .seconds) ?? 0)
        case "retarget": return .retarget(try retargeting(bound))
        default:
            let every = try bound.number("every", "a pass", in: .positiveSeconds)
            if call.name == "repeatForever" {
                return .repeatForever(autoreverses: try autoreverse(bound), every: every)
            }
            let number = try bound.number("count") ?? 0
            guard let count = Int(exactly: number), 1...AnimationLimits.repeats ~= count else {
                throw AnimationError(
                    "a repeat count is \(shortText(number))", at: call.position,
                    hint: "it is a whole number, 1 to \(AnimationLimits.repeats)")
            }
            return .repeatCount(count, autoreverses: try autoreverse(bound), every: every)
        }
    }

    private static func autoreverse(_ bound: BoundCall) throws(AnimationError) -> Autoreverse {
        guard let argument = bound["autoreverses"] else { return .mirror }
        switch argument.term {
        case .boolean(let value): return value ? .mirror : .none
        case .chain(let calls) where calls.count == 1 && calls[0].arguments.isEmpty:
            if let mode = Autoreverse(rawValue: calls[0].name) { return mode }
        default: break
        }
        throw AnimationError(
            "'autoreverses' is \(argument.term.kind)", at: argument.position,
            hint: "it is true (the same as mirror), false (none) or reverse")
    }

    private static func retargeting(_ bound: BoundCall) throws(AnimationError) -> Timeline.Retargeting {
        guard let argument = bound["mode"] else { return .merge }
        if case .chain(let calls) = argument.term, calls.count == 1, calls[0].arguments.isEmpty,
            let mode = Timeline.Retargeting(rawValue: calls[0].name)
        {
            return mode
        }
        throw AnimationError(
            "'retarget' is given \(argument.term.kind)", at: argument.position,
            hint: "it takes merge, additive or chain")
    }

    /// The elements of a list curve, as calls.
    private static func elements(of call: Call, _ what: String, atMost limit: Int) throws(AnimationError) -> [Call] {
        guard 1...limit ~= call.arguments.count else {
            throw AnimationError(
                "an animation has 1 to \(limit) \(what)s, not \(call.arguments.count)", at: call.position)
        }
        return try call.arguments.map { (argument) throws(AnimationError) in
            guard argument.label == nil, case .chain(let calls) = argument.term, calls.count == 1 else {
                throw AnimationError("'\(call.name)' takes a list of \(what)s", at: argument.position)
            }
            return calls[0]
        }
    }

    private static func keyframe(_ call: Call) throws(AnimationError) -> Keyframe {
        let bound = try BoundCall(call, in: Signature.keyframes, what: "keyframe")
        let to = try bound.number("to", "a keyframe's value", in: .magnitude) ?? 0
        guard call.name != "move" else { return .move(to: to) }
        let duration = try bound.number("duration", "a duration", in: .seconds)
        func velocity(_ label: String) throws(AnimationError) -> Double? {
            try bound.number(label, "a keyframe's velocity", in: .magnitude)
        }
        if call.name == "spring" {
            var spring = SpringCurve.standard
            if let argument = bound["spring"] {
                guard case .spring(let written) = try nested(argument, "a spring") else {
                    throw AnimationError(
                        "'spring' of a keyframe is \(argument.term.kind)", at: argument.position,
                        hint: "it takes a spring"
                    )
                }
                spring = written
            }
            return .spring(to: to, duration: duration, spring: spring, startVelocity: try velocity("startVelocity"))
        }
        guard let duration else {
            throw AnimationError(
                "'\(call.name)' lacks 'duration'", at: call.position, hint: "it takes \(bound.signature.text)")
        }
        if call.name == "cubic" {
            return .cubic(
                to: to, duration: duration, startVelocity: try velocity("startVelocity"),
                endVelocity: try velocity("endVelocity"))
        }
        guard let argument = bound["timingCurve"] else { return .linear(to: to, duration: duration) }
        guard case .timing(let function, _) = try nested(argument, "a timing curve") else {
            throw AnimationError(
                "'timingCurve' of a keyframe is \(argument.term.kind)", at: argument.position,
                hint: "it takes a timing curve")
        }
        return .linear(to: to, duration: duration, timing: function)
    }

    private static func nested(_ argument: Argument, _ what: String) throws(AnimationError) -> Curve {
        guard case .chain(let calls) = argument.term, calls.count == 1 else {
            throw AnimationError(
                "'\(argument.label ?? "")' is \(argument.term.kind)", at: argument.position,
                hint: "it takes \(what) without modifiers")
        }
        return try readCurve(calls[0])
    }

    private static func phase(_ call: Call) throws(AnimationError) -> Phase {
        let bound = try BoundCall(call, in: Signature.phases, what: "phase")
        let to = try bound.number("to", "a phase's value", in: .magnitude) ?? 0
        guard let argument = bound["animation"] else { return Phase(to: to, .default) }
        guard case .chain(let calls) = argument.term else {
            throw AnimationError(
                "'animation' of a phase is \(argument.term.kind)", at: argument.position, hint: "it takes an animation")
        }
        let animation = try Animation(calls)
        switch animation.curve {
        case .keyframes, .phases:
            throw AnimationError(
                "a phase's animation is a timing curve or a spring, not keyframes or phases", at: argument.position)
        case .timing, .spring: break
        }
        guard animation.retargeting == nil else {
            throw AnimationError(
                "the animation of a phase has no retarget", at: argument.position,
                hint: "write retarget after phases(…)")
        }
        guard animation.logicalDuration < .infinity else {
            throw AnimationError("a phase cannot repeat forever", at: argument.position)
        }
        return Phase(to: to, animation)
    }
}

/// The range of a number.
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

extension BoundCall {
    /// - Parameter what: the meaning of the number, for messages.
    fileprivate func number(_ label: String, _ what: String, in bounds: Bounds) throws(AnimationError) -> Double? {
        guard let value = try number(label), !bounds.range.contains(value) else { return try number(label) }
        let (least, most) = (shortText(bounds.range.lowerBound), shortText(bounds.range.upperBound))
        throw AnimationError(
            "\(what) is \(shortText(value))", at: self[label]?.position ?? position,
            hint: "it is \(least) to \(most)\(bounds.unit)")
    }
}
