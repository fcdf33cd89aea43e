import AttributeValues

/// The parameters of a curve, modifier or keyframe. One table serves text form, JSON form and error messages.
struct Signature: Sendable {
    struct Parameter: Sendable {
        var label: String
        var isRequired: Bool
        /// True if the text form omits its label.
        var isPositional: Bool
        static func required(_ label: String) -> Parameter {
            .init(label: label, isRequired: true, isPositional: false)
        }
        static func positional(_ label: String, isRequired: Bool = true) -> Parameter {
            .init(label: label, isRequired: isRequired, isPositional: true)
        }
        static func optional(_ label: String) -> Parameter {
            .init(label: label, isRequired: false, isPositional: false)
        }
    }

    var name: String
    var parameters: [Parameter]

    init(_ name: String, _ parameters: Parameter...) {
        self.name = name
        self.parameters = parameters
    }

    func knows(_ label: String?) -> Bool { parameters.contains { $0.label == label } }

    /// True if the signature has every label of the call, and the call has every required argument.
    func accepts(_ call: Call) -> Bool {
        call.arguments.allSatisfy { $0.label == nil || knows($0.label) }
            && parameters.allSatisfy { parameter in
                !parameter.isRequired || parameter.isPositional
                    || call.arguments.contains { $0.label == parameter.label }
            }
    }

    /// The form in messages: `easeIn(duration:)`.
    var text: String {
        parameters.isEmpty
            ? name
            : name + "(" + parameters.map { $0.isPositional ? "\($0.label)" : "\($0.label):" }.joined(separator: ", ")
                + ")"
    }
}

extension Signature {
    static let curves: [Signature] = [
        Signature("default"),
        Signature("linear", .optional("duration")),
        Signature("easeIn", .optional("duration")),
        Signature("easeOut", .optional("duration")),
        Signature("easeInOut", .optional("duration")),
        Signature("circularEaseIn", .optional("duration")),
        Signature("circularEaseOut", .optional("duration")),
        Signature("circularEaseInOut", .optional("duration")),
        Signature(
            "timingCurve", .positional("x1"), .positional("y1"), .positional("x2"), .positional("y2"),
            .optional("duration")),
        Signature("spring", .optional("response"), .optional("dampingFraction"), .optional("blendDuration")),
        Signature("spring", .optional("duration"), .optional("bounce"), .optional("blendDuration")),
        Signature("spring", .optional("mass"), .required("stiffness"), .required("damping")),
        Signature("smooth", .optional("duration"), .optional("extraBounce")),
        Signature("snappy", .optional("duration"), .optional("extraBounce")),
        Signature("bouncy", .optional("duration"), .optional("extraBounce")),
        Signature("interactiveSpring", .optional("response"), .optional("dampingFraction"), .optional("blendDuration")),
        Signature("interactiveSpring", .optional("duration"), .optional("extraBounce"), .optional("blendDuration")),
        Signature("interpolatingSpring", .optional("duration"), .optional("bounce"), .optional("initialVelocity")),
        Signature(
            "interpolatingSpring", .optional("mass"), .required("stiffness"), .required("damping"),
            .optional("initialVelocity")),
    ]

    static let modifiers: [Signature] = [
        Signature("delay", .positional("seconds")),
        Signature("speed", .positional("factor")),
        Signature("repeatCount", .positional("count"), .optional("autoreverses"), .optional("every")),
        Signature("repeatForever", .optional("autoreverses"), .optional("every")),
        Signature("logicallyComplete", .required("after")),
        Signature("retarget", .positional("mode")),
    ]

    static let keyframes: [Signature] = [
        Signature("linear", .positional("to"), .optional("duration"), .optional("timingCurve")),
        Signature(
            "cubic", .positional("to"), .optional("duration"), .optional("startVelocity"), .optional("endVelocity")),
        Signature("spring", .positional("to"), .optional("duration"), .optional("spring"), .optional("startVelocity")),
        Signature("move", .positional("to")),
    ]

    static let phases: [Signature] = [Signature("phase", .positional("to"), .optional("animation"))]

    static let transitions: [Signature] = [
        Signature("identity"), Signature("opacity"), Signature("slide"),
        Signature("scale", .positional("scale", isRequired: false)),
        Signature("move", .positional("edge")),
        Signature("offset", .positional("x", isRequired: false), .positional("y", isRequired: false)),
        Signature("asymmetric", .positional("insertion"), .positional("removal")),
    ]

    static let transitionModifiers: [Signature] = [Signature("combined", .positional("with"))]

    /// Names of curves that take a list instead of parameters.
    static let lists = ["keyframes", "phases"]
}

/// A call with its arguments assigned to parameters.
struct BoundCall {
    var signature: Signature
    var arguments: [Argument?]
    var position: PartPosition

    /// - Parameters:
    ///   - table: the signatures allowed here. Several signatures with one name are overloads; the first that fits is
    ///     taken.
    ///   - what: "curve", "modifier", …, for the message.
    init(_ call: Call, in table: [Signature], what: String, others: [String] = []) throws(AnimationError) {
        let overloads = table.filter { $0.name == call.name }
        guard !overloads.isEmpty else {
            let names = table.map(\.name) + others
            throw AnimationError(
                "there is no \(what) '\(call.name)'", at: call.position, hint: BoundCall.suggestion(call.name, names))
        }
        // The overload that knows all labels, or, for the error message, the one that knows the first label.
        let fitting = overloads.first { $0.accepts(call) } ?? overloads.first { $0.knows(call.arguments.first?.label) }
        try self.init(call, fitting ?? overloads[0], overloads)
    }

    private init(_ call: Call, _ signature: Signature, _ overloads: [Signature]) throws(AnimationError) {
        self.signature = signature
        position = call.position
        arguments = Array(repeating: nil, count: signature.parameters.count)
        var expected: String { "it takes " + overloads.map(\.text).joined(separator: " or ") }
        for argument in call.arguments {
            let index: Int?
            if let label = argument.label {
                index = signature.parameters.firstIndex { $0.label == label }
                guard index != nil else {
                    let labels = overloads.flatMap { $0.parameters.map(\.label) }
                    // A label of another overload is not a misspelling.
                    let near = labels.contains(label) ? nil : NearestName.hint(label, among: labels).map { $0 + " " }
                    throw AnimationError(
                        "'\(call.name)' has no argument '\(label)' here", at: argument.position,
                        hint: (near ?? "") + expected)
                }
            } else {
                index = signature.parameters.indices.first {
                    signature.parameters[$0].isPositional && arguments[$0] == nil
                }
                guard index != nil else {
                    let message =
                        signature.parameters.isEmpty
                        ? "'\(call.name)' takes no arguments"
                        : "an argument of '\(call.name)' lacks its label or is one too many"
                    throw AnimationError(message, at: argument.position, hint: expected)
                }
            }
            guard let index else { continue }
            guard arguments[index] == nil else {
                throw AnimationError(
                    "'\(call.name)' is given '\(signature.parameters[index].label)' twice", at: argument.position)
            }
            arguments[index] = argument
        }
        for (parameter, argument) in zip(signature.parameters, arguments) where parameter.isRequired && argument == nil
        {
            throw AnimationError("'\(call.name)' lacks '\(parameter.label)'", at: call.position, hint: expected)
        }
    }

    subscript(label: String) -> Argument? {
        signature.parameters.firstIndex { $0.label == label }.flatMap { arguments[$0] }
    }

    func has(_ label: String) -> Bool { signature.parameters.contains { $0.label == label } }

    /// A number, or nil if the call does not have this argument.
    func number(_ label: String) throws(AnimationError) -> Double? {
        guard let argument = self[label] else { return nil }
        guard case .number(let value) = argument.term else {
            throw AnimationError(
                "'\(label)' of '\(signature.name)' is \(argument.term.kind)", at: argument.position,
                hint: "it takes a number")
        }
        return value
    }

    /// The calls of a required argument.
    func chain(_ label: String) throws(AnimationError) -> [Call] {
        guard let argument = self[label], case .chain(let calls) = argument.term else {
            throw AnimationError(
                "'\(label)' of '\(signature.name)' is \(self[label]?.term.kind ?? "missing")",
                at: self[label]?.position ?? position, hint: "it takes a name or a call")
        }
        return calls
    }

    private static func suggestion(_ name: String, _ names: [String]) -> String {
        var seen: [String] = []
        for name in names where !seen.contains(name) { seen.append(name) }
        let list = "there are " + seen.joined(separator: ", ")
        return NearestName.hint(name, among: seen).map { "\($0) \(list)" } ?? list
    }
}
