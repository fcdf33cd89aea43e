extension Animation {
    /// Makes the animation of a curve call and its modifier calls.
    init(_ calls: [Call]) throws(AnimationError) {
        guard let head = calls.first else { throw AnimationError("an animation begins with a curve") }
        let curve = try Reading.readCurve(head)
        try Reading.check(at: head.place) { () throws(AnimationError) in try Animation.check(curve) }
        var modifiers: [Modifier] = []
        for call in calls.dropFirst() {
            let modifier = try Reading.readModifier(call)
            try Reading.check(at: call.place) { () throws(AnimationError) in try Animation.check([modifier]) }
            modifiers.append(modifier)
        }
        self = try Reading.check(at: head.place) { () throws(AnimationError) in
            try Animation(curve, modifiers: modifiers)
        }
    }

    public static var curveNames: [String] {
        Signature.curves.map(\.name).reduce(into: []) { names, name in
            if names.last != name { names.append(name) }
        }
    }
}

private enum Reading {
    /// Adds the place to an error that has none.
    static func check<Result>(at place: Place, _ body: () throws(AnimationError) -> Result) throws(AnimationError)
        -> Result
    {
        do throws(AnimationError) { return try body() } catch {
            guard error.offset == nil, error.pointer == nil else { throw error }
            throw AnimationError(error.message, at: place, hint: error.hint)
        }
    }

    static func readCurve(_ call: Call) throws(AnimationError) -> Curve {
        switch call.name {
        case "keyframes": return .keyframes(try elements(of: call, "keyframe").map(keyframe))
        case "phases": return .phases(try elements(of: call, "phase").map(phase))
        default: break
        }
        if Signature.modifiers.contains(where: { $0.name == call.name }) {
            throw AnimationError(
                "an animation begins with a curve, not with the modifier '\(call.name)'", at: call.place,
                hint: "write for example default.\(call.name)(…)")
        }
        let bound = try BoundCall(call, in: Signature.curves, what: "curve", others: Signature.lists)
        if let name = SpringCurve.Name(rawValue: call.name) { return .spring(try spring(name, bound)) }
        let duration = try bound.number("duration") ?? 0.35
        if call.name == "timingCurve" { return .timing(try bezier(bound), duration: duration) }
        guard let function = TimingFunction.named.first(where: { "\($0)" == call.name }) else {
            throw AnimationError("'\(call.name)' is not a timing curve", at: bound.place)
        }
        return .timing(function, duration: duration)
    }

    private static func bezier(_ bound: BoundCall) throws(AnimationError) -> TimingFunction {
        var points: [Double] = []
        for label in ["x1", "y1", "x2", "y2"] {
            let value = try bound.number(label) ?? 0
            guard value.isFinite, label.hasPrefix("y") || (0...1).contains(value) else {
                throw AnimationError(
                    "a control point's \(label) is \(shortText(value))", at: bound[label]?.place ?? bound.place,
                    hint: label.hasPrefix("x") ? "it lies between 0 and 1" : "it is a finite number")
            }
            points.append(value)
        }
        return .bezier(CubicBezier(points[0], points[1], points[2], points[3]))
    }

    private static func spring(_ name: SpringCurve.Name, _ bound: BoundCall) throws(AnimationError) -> SpringCurve {
        _ = try bound.number("blendDuration")  // has no closed form and no effect here
        let velocity = try bound.number("initialVelocity") ?? 0
        if bound.has("response") {
            let quick = name == .interactiveSpring
            let response = try bound.number("response") ?? (quick ? 0.15 : 0.5)
            let fraction = try bound.number("dampingFraction") ?? (quick ? 0.86 : 0.825)
            return SpringCurve(name, .response(response, dampingFraction: fraction))
        }
        if bound.has("stiffness") {
            let mass = try bound.number("mass") ?? 1
            let stiffness = try bound.number("stiffness") ?? 0
            let damping = try bound.number("damping") ?? 0
            return SpringCurve(
                name, .physical(mass: mass, stiffness: stiffness, damping: damping), initialVelocity: velocity)
        }
        let duration = try bound.number("duration") ?? (name == .interactiveSpring ? 0.15 : 0.5)
        let bounce = try bound.number(bound.has("bounce") ? "bounce" : "extraBounce") ?? 0
        return SpringCurve(name, .duration(duration, bounce: bounce), initialVelocity: velocity)
    }

    static func readModifier(_ call: Call) throws(AnimationError) -> Modifier {
        let bound = try BoundCall(call, in: Signature.modifiers, what: "modifier")
        switch call.name {
        case "delay": return .delay(try bound.number("seconds") ?? 0)
        case "speed": return .speed(try bound.number("factor") ?? 1)
        case "logicallyComplete": return .logicallyComplete(after: try bound.number("after") ?? 0)
        case "retarget": return .retarget(try retargeting(bound))
        case "repeatForever":
            return .repeatForever(autoreverses: try autoreverse(bound), every: try bound.number("every"))
        default:
            let number = try bound.number("count") ?? 0
            guard let count = Int(exactly: number) else {
                throw AnimationError(
                    "a repeat count is \(shortText(number))", at: call.place,
                    hint: "it is a whole number, 1 to \(AnimationLimits.repeats)")
            }
            return .repeatCount(count, autoreverses: try autoreverse(bound), every: try bound.number("every"))
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
            "'autoreverses' is \(argument.term.kind)", at: argument.place,
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
            "'retarget' is given \(argument.term.kind)", at: argument.place, hint: "it takes merge, additive or chain")
    }

    /// The elements of a list curve, as calls.
    private static func elements(of call: Call, _ what: String) throws(AnimationError) -> [Call] {
        try call.arguments.map { (argument) throws(AnimationError) in
            guard argument.label == nil, case .chain(let calls) = argument.term, calls.count == 1 else {
                throw AnimationError("'\(call.name)' takes a list of \(what)s", at: argument.place)
            }
            return calls[0]
        }
    }

    private static func keyframe(_ call: Call) throws(AnimationError) -> Keyframe {
        let bound = try BoundCall(call, in: Signature.keyframes, what: "keyframe")
        let to = try bound.number("to") ?? 0
        guard call.name != "move" else { return .move(to: to) }
        let duration = try bound.number("duration")
        if call.name == "spring" {
            var spring = SpringCurve.standard
            if let argument = bound["spring"] {
                guard case .spring(let written) = try nested(argument, "a spring") else {
                    throw AnimationError(
                        "'spring' of a keyframe is \(argument.term.kind)", at: argument.place, hint: "it takes a spring"
                    )
                }
                spring = written
            }
            return .spring(to: to, duration: duration, spring: spring, startVelocity: try bound.number("startVelocity"))
        }
        guard let duration else {
            throw AnimationError(
                "'\(call.name)' lacks 'duration'", at: call.place, hint: "it takes \(bound.signature.text)")
        }
        if call.name == "cubic" {
            return .cubic(
                to: to, duration: duration, startVelocity: try bound.number("startVelocity"),
                endVelocity: try bound.number("endVelocity"))
        }
        guard let argument = bound["timingCurve"] else { return .linear(to: to, duration: duration) }
        guard case .timing(let function, _) = try nested(argument, "a timing curve") else {
            throw AnimationError(
                "'timingCurve' of a keyframe is \(argument.term.kind)", at: argument.place,
                hint: "it takes a timing curve")
        }
        return .linear(to: to, duration: duration, timing: function)
    }

    private static func nested(_ argument: Argument, _ what: String) throws(AnimationError) -> Curve {
        guard case .chain(let calls) = argument.term, calls.count == 1 else {
            throw AnimationError(
                "'\(argument.label ?? "")' is \(argument.term.kind)", at: argument.place,
                hint: "it takes \(what) without modifiers")
        }
        return try readCurve(calls[0])
    }

    private static func phase(_ call: Call) throws(AnimationError) -> Phase {
        let bound = try BoundCall(call, in: Signature.phases, what: "phase")
        let to = try bound.number("to") ?? 0
        guard let argument = bound["animation"] else { return Phase(to: to, .default) }
        guard case .chain(let calls) = argument.term else {
            throw AnimationError(
                "'animation' of a phase is \(argument.term.kind)", at: argument.place, hint: "it takes an animation")
        }
        return Phase(to: to, try Animation(calls))
    }
}
