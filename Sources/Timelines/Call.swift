/// The syntax that the text form and the JSON form share: a name with arguments. Reading either form gives calls, and
/// calls can be printed in either form.
struct Call {
    var name: String
    var arguments: [Argument]
    var position: PartPosition

    init(_ name: String, _ arguments: [Argument] = [], at position: PartPosition = .nowhere) {
        self.name = name
        self.arguments = arguments
        self.position = position
    }
}

struct Argument {
    var label: String?
    var term: Term
    var position: PartPosition

    init(_ label: String?, _ term: Term, at position: PartPosition = .nowhere) {
        self.label = label
        self.term = term
        self.position = position
    }
}

enum Term {
    case number(Double)
    case boolean(Bool)
    /// A curve and its modifiers, a keyframe, a phase, or a bare word.
    case chain([Call])

    var kind: String {
        switch self {
        case .number: "a number"
        case .boolean: "true or false"
        case .chain(let calls): "'\(calls.first?.name ?? "")'"
        }
    }
}

/// Limits of animations. They are wide enough for any use, and narrow enough that nothing overflows or takes long.
public enum AnimationLimits {
    /// Seconds of a duration, delay, response or pass: a leap year.
    public static let duration = 366.0 * 86_400
    /// The shortest spring duration or response, in seconds.
    public static let springDuration = 1e-6
    public static let speed = 1e-6...1e6
    public static let repeats = 1_000_000_000
    /// Magnitude of keyframe values, progress, control points and initial velocities.
    public static let magnitude = 1e6
    public static let dampingRatio = 1e6
    public static let modifiers = 16
    public static let keyframes = 256
    public static let phases = 64
    /// UTF-8 bytes of the text form.
    public static let textLength = 65_536
    /// Depth of calls inside calls: an animation in a phase, a spring in a keyframe.
    public static let nesting = 4
}
