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

    public enum Edge: String, CaseIterable, Sendable { case top, leading, bottom, trailing }

    public let text: String
    public let insertion: [Effect]
    public let removal: [Effect]

    /// Reads the text form: `opacity`, `identity`, `slide`, `scale`, `scale(0.5)`, `move(edge: top)`, `offset(x: 0, y:
    /// 20)`, `asymmetric(insertion: …, removal: …)`. A leading dot is allowed as in Swift, and `.combined(with: …)` may
    /// follow any of them.
    public init(_ text: String) throws(AnimationError) {
        self.text = text
        (insertion, removal) = try Transition.effects(of: try Animation.parseCalls(text))
    }

    private typealias Effects = (insertion: [Effect], removal: [Effect])

    /// Recursive. `AnimationLimits.nesting` bounds the depth of calls.
    private static func effects(of calls: [Call]) throws(AnimationError) -> Effects {
        guard let first = calls.first else { return ([], []) }
        var effects = try effects(of: first)
        for call in calls.dropFirst() {
            let bound = try BoundCall(call, in: Signature.transitionModifiers, what: "modifier of a transition")
            let other = try self.effects(of: try bound.chain("with"))
            effects.insertion += other.insertion
            effects.removal += other.removal
        }
        return effects
    }

    private static func effects(of call: Call) throws(AnimationError) -> Effects {
        let bound = try BoundCall(call, in: Signature.transitions, what: "transition")
        func number(_ label: String) throws(AnimationError) -> Double {
            let number = try bound.number(label) ?? 0
            guard number.magnitude <= AnimationLimits.magnitude else {
                let most = shortText(AnimationLimits.magnitude)
                throw AnimationError(
                    "'\(label)' is \(shortText(number))", at: call.position, hint: "it is -\(most) to \(most)")
            }
            return number
        }
        let both: [Effect]
        switch call.name {
        case "opacity": both = [.opacity]
        case "scale": both = [.scale(try number("scale"))]
        case "move":
            let calls = try bound.chain("edge")
            guard calls.count == 1, let edge = Edge(rawValue: calls[0].name) else {
                let edges = Edge.allCases.map(\.rawValue).joined(separator: ", ")
                throw AnimationError("move needs an edge", at: call.position, hint: "edges are \(edges)")
            }
            both = [.move(edge)]
        case "offset": both = [.offset(x: try number("x"), y: try number("y"))]
        case "slide": return ([.move(.leading)], [.move(.trailing)])
        case "asymmetric":
            return (
                try effects(of: try bound.chain("insertion")).insertion,
                try effects(of: try bound.chain("removal")).removal
            )
        default: both = []
        }
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
