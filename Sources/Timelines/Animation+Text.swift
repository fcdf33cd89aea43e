extension Animation: CustomStringConvertible {
    /// The text form. Reading it gives an equal animation. Default arguments are omitted, except a duration.
    public var description: String { text(calls) }
}

private func text(_ calls: [Call]) -> String {
    calls.map { call in
        guard !call.arguments.isEmpty else { return call.name }
        let arguments = call.arguments.map { argument in
            let term =
                switch argument.term {
                case .number(let value): shortText(value)
                case .boolean(let value): value ? "true" : "false"
                case .chain(let calls): text(calls)
                }
            return argument.label.map { "\($0): \(term)" } ?? term
        }
        return "\(call.name)(\(arguments.joined(separator: ", ")))"
    }.joined(separator: ".")
}

extension Animation {
    /// The curve's call, then the modifiers'. Positional parameters have no label.
    var calls: [Call] { [curve.call] + modifiers.map(\.call) }
}

extension Curve {
    var call: Call {
        switch self {
        case .timing(let function, let duration):
            var call = function.call
            call.arguments.append(Argument("duration", .number(duration)))
            return call
        case .spring(let spring): return spring.call
        case .keyframes(let keyframes): return Call("keyframes", keyframes.map { Argument(nil, .chain([$0.call])) })
        case .phases(let phases):
            return Call(
                "phases",
                phases.map { phase in
                    Argument(
                        nil,
                        .chain([
                            Call(
                                "phase",
                                [
                                    Argument(nil, .number(phase.progress)),
                                    Argument("animation", .chain(phase.animation.calls)),
                                ])
                        ]))
                })
        }
    }
}

extension TimingFunction {
    var call: Call {
        switch self {
        case .bezier(let b): Call("timingCurve", [b.x1, b.y1, b.x2, b.y2].map { Argument(nil, .number($0)) })
        default: Call("\(self)")
        }
    }
}

extension SpringCurve {
    var call: Call {
        var arguments: [Argument] = []
        func add(_ label: String, _ value: Double, unless standard: Double? = nil) {
            if value != standard { arguments.append(Argument(label, .number(value))) }
        }
        switch parameters {
        case .duration(let duration, let bounce):
            switch name {
            case .spring, .interpolatingSpring:
                add("duration", duration)
                add("bounce", bounce, unless: 0)
            case .default, .smooth, .snappy, .bouncy:
                add("duration", duration, unless: 0.5)
                add("extraBounce", bounce, unless: 0)
            case .interactiveSpring:
                add("duration", duration)
                add("extraBounce", bounce, unless: 0)
            }
        case .response(let response, let fraction):
            add("response", response)
            add("dampingFraction", fraction)
        case .physical(let mass, let stiffness, let damping):
            add("mass", mass, unless: 1)
            add("stiffness", stiffness)
            add("damping", damping)
        }
        add("initialVelocity", initialVelocity, unless: 0)
        return Call(name.rawValue, arguments)
    }
}

extension Modifier {
    var call: Call {
        switch self {
        case .delay(let seconds): return Call("delay", [Argument(nil, .number(seconds))])
        case .speed(let factor): return Call("speed", [Argument(nil, .number(factor))])
        case .logicallyComplete(let after): return Call("logicallyComplete", [Argument("after", .number(after))])
        case .retarget(let mode): return Call("retarget", [Argument(nil, .chain([Call(mode.rawValue)]))])
        case .repeatCount(let count, let autoreverse, let every):
            return Call("repeatCount", [Argument(nil, .number(Double(count)))] + Modifier.passes(autoreverse, every))
        case .repeatForever(let autoreverse, let every):
            return Call("repeatForever", Modifier.passes(autoreverse, every))
        }
    }

    private static func passes(_ autoreverse: Autoreverse, _ every: Double?) -> [Argument] {
        var arguments: [Argument] = []
        switch autoreverse {
        case .mirror: break
        case .none: arguments.append(Argument("autoreverses", .boolean(false)))
        case .reverse: arguments.append(Argument("autoreverses", .chain([Call("reverse")])))
        }
        if let every { arguments.append(Argument("every", .number(every))) }
        return arguments
    }
}

extension Keyframe {
    var call: Call {
        var arguments = [Argument(nil, .number(target))]
        func add(_ label: String, _ value: Double?) {
            if let value { arguments.append(Argument(label, .number(value))) }
        }
        switch self {
        case .move: return Call("move", arguments)
        case .linear(_, let duration, let timing):
            add("duration", duration)
            if timing != .linear { arguments.append(Argument("timingCurve", .chain([timing.call]))) }
            return Call("linear", arguments)
        case .cubic(_, let duration, let start, let end):
            add("duration", duration)
            add("startVelocity", start)
            add("endVelocity", end)
            return Call("cubic", arguments)
        case .spring(_, let duration, let spring, let start):
            add("duration", duration)
            if spring != .standard { arguments.append(Argument("spring", .chain([spring.call]))) }
            add("startVelocity", start)
            return Call("spring", arguments)
        }
    }
}
