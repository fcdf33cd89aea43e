import AttributeValues

/// The way in which a view comes and goes: `move(edge: leading).combined(with: opacity)`. The names are SwiftUI's.
///
/// It says what moves; the animation of the change gives the duration and the curve.
public struct Transition: Hashable, Sendable {
    /// The look of the view before it has come, or after it has gone. Several effects apply together.
    public enum Effect: Hashable, Sendable {
        case opacity
        /// Grows from this factor of its size.
        case scale(Double)
        /// Comes from beyond an edge.
        case move(Edge)
        /// Comes from a distance of this many points.
        case offset(x: Double, y: Double)
    }

    public enum Edge: String, CaseIterable, Sendable {
        case top, leading, bottom, trailing
    }

    public let text: String
    public let insertion: [Effect]
    public let removal: [Effect]

    /// Reads the text form: `opacity`, `identity`, `slide`, `scale`, `scale(0.5)`, `move(edge: top)`, `offset(x: 0, y:
    /// 20)`, `asymmetric(insertion: …, removal: …)`. A leading dot is allowed as in Swift, and `.combined(with: …)` may
    /// follow any of them.
    public init(_ text: String) throws(AnimationError) {
        self.text = text
        (insertion, removal) = try Transition.effects(of: try Animation.calls(text))
    }

    private typealias Effects = (insertion: [Effect], removal: [Effect])
    private static let names = ["opacity", "identity", "slide", "scale", "move", "offset", "asymmetric"]

    /// Recursive. `AnimationLimits.nesting` bounds the depth of calls.
    private static func effects(of calls: [Call]) throws(AnimationError) -> Effects {
        guard let first = calls.first else { return ([], []) }
        var effects = try effects(of: first)
        for call in calls.dropFirst() {
            guard call.name == "combined" else {
                throw AnimationError(
                    "'\(call.name)' is not a modifier of a transition", at: call.place, hint: "write combined(with: …)")
            }
            var reader = Arguments(call)
            let other = try self.effects(of: try reader.chain("with"))
            try reader.finish()
            effects.insertion += other.insertion
            effects.removal += other.removal
        }
        return effects
    }

    private static func effects(of call: Call) throws(AnimationError) -> Effects {
        var reader = Arguments(call)
        let both: [Effect]
        switch call.name {
        case "identity": both = []
        case "opacity": both = [.opacity]
        case "scale": both = [.scale(try reader.number("scale", standard: 0))]
        case "move": both = [.move(try reader.edge())]
        case "offset": both = [.offset(x: try reader.number("x", standard: 0), y: try reader.number("y", standard: 0))]
        case "slide":
            try reader.finish()
            return ([.move(.leading)], [.move(.trailing)])
        case "asymmetric":
            let insertion = try effects(of: try reader.chain("insertion")).insertion
            let removal = try effects(of: try reader.chain("removal")).removal
            try reader.finish()
            return (insertion, removal)
        default:
            throw AnimationError(
                "there is no transition '\(call.name)'", at: call.place,
                hint: "transitions are \(names.joined(separator: ", "))")
        }
        try reader.finish()
        return (both, both)
    }

    /// `[{"move":{"edge":"leading"}},{"opacity":{}}]`
    public static func json(_ effects: [Effect]) -> Value {
        .list(
            effects.map { effect in
                switch effect {
                case .opacity: ["opacity": [:]]
                case .scale(let factor): ["scale": ["factor": .double(factor)]]
                case .move(let edge): ["move": ["edge": .string(edge.rawValue)]]
                case .offset(let x, let y): ["offset": ["x": .double(x), "y": .double(y)]]
                }
            })
    }
}

/// Takes the arguments of a call one by one.
private struct Arguments {
    private let call: Call
    private var left: [Argument]

    init(_ call: Call) {
        self.call = call
        left = call.arguments
    }

    /// - Parameter label: may be omitted in the call.
    private mutating func take(_ label: String) -> Argument? {
        left.firstIndex { ($0.label ?? label) == label }.map { left.remove(at: $0) }
    }

    mutating func number(_ label: String, standard: Double) throws(AnimationError) -> Double {
        guard let given = take(label) else { return standard }
        guard case .number(let number) = given.term, abs(number) <= AnimationLimits.magnitude else {
            throw AnimationError("\(label) of \(call.name) is a number, not \(given.term.kind)", at: given.place)
        }
        return number
    }

    mutating func chain(_ label: String) throws(AnimationError) -> [Call] {
        guard let given = take(label), case .chain(let calls) = given.term else {
            throw AnimationError("\(call.name) needs \(label): and a transition", at: call.place)
        }
        return calls
    }

    mutating func edge() throws(AnimationError) -> Transition.Edge {
        let edges = Transition.Edge.allCases.map(\.rawValue).joined(separator: ", ")
        guard let given = take("edge"), case .chain(let calls) = given.term, calls.count == 1,
            let edge = Transition.Edge(rawValue: calls[0].name)
        else { throw AnimationError("move needs an edge", at: call.place, hint: "edges are \(edges)") }
        return edge
    }

    func finish() throws(AnimationError) {
        guard let other = left.first else { return }
        throw AnimationError("\(call.name) does not take \(other.label ?? other.term.kind)", at: other.place)
    }
}
