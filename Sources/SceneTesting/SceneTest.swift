import AttributeValues
import SceneModel
import WireProtocol

/// A file of tests of a scene, as read. `Documentation/SceneTests.md` describes the format.
package struct SceneTestFile {
    package var path: String
    var given = Given()
    package var tests: [SceneTest] = []

    /// How the world of each test begins.
    struct Given {
        /// Files that a daemon would load at its start.
        var scenes: [Located<String>] = []
        /// Documents that a client applies, in order.
        var applied: [Document] = []
        var time = Given.start
        /// Machine settings: `timeZone`, `locale`, `calendar`.
        var environment: [String: Value] = ["timeZone": "UTC"]
        /// The patterns that a client watches.
        var watched = ["/**"]
        var writes: [Operation] = []

        /// 2026-01-01, a Thursday.
        static let start = Timestamp(seconds: 1_767_225_600, nanoseconds: 0) ?? .epoch
    }
}

/// Something in a test file, with its place.
struct Located<Part> {
    var part: Part
    var position: SourcePosition

    init(_ part: Part, _ position: SourcePosition) { (self.part, self.position) = (part, position) }
}

package struct SceneTest {
    package var name: String
    var steps: [Step]
}

struct Step {
    enum Act {
        /// One transaction.
        case write([Operation])
        case call([Call])
        case advance(TimeSpan)
        /// - scenes: other files than before; nil for the same.
        case restart(after: TimeSpan, scenes: [Located<String>]?)
        case apply(Document)
    }

    var position: SourcePosition
    var act: Act?
    var animation: Value?
    /// The code of the error with which the step has to be refused.
    var refusal: Located<ErrorCode>?
    var expectations: [Located<Expectation>] = []
}

/// A value, or a rule that gives one when the step begins.
enum Written {
    case value(Value)
    case rule(String)
}

struct Operation {
    var kind: Mutation.Operation
    var path: String
    /// The position for `insert`.
    var index: Int?
    var operand: Located<Written>?
    /// The animation of this change alone; nil: that of the step.
    var animation: Value?
}

struct Call {
    var path: String
    var arguments: [(name: String, value: Located<Written>)]
    var position: SourcePosition
}

struct Document {
    enum Source {
        case file(String)
        case value(Value)
    }

    var source: Source
    var at = "/"
    var mode = Request.ApplyMode.merge
    var position: SourcePosition
}

enum Expectation {
    enum Wanted {
        case value(Value)
        /// Must be true. It sees the attribute's value as `value`, and the time as `now`.
        case rule(String)
        case failure(ErrorCode)
    }

    case value(path: String, Wanted, isShown: Bool)
    /// The pattern matches an attribute that the step has changed.
    case changed(PathPattern)
    /// The pattern matches no attribute that the step has changed.
    case unchanged(PathPattern)
    /// The step has changed nothing but what these patterns match.
    case changedNothingBut([PathPattern])
    case ran(PathPattern)
    case idle(PathPattern)
    case ranNothingBut([PathPattern])
    /// The ids of a node's children, in order.
    case children(path: String, [String])

    var isAboutRuns: Bool {
        switch self {
        case .ran, .idle, .ranNothingBut: true
        default: false
        }
    }
}
