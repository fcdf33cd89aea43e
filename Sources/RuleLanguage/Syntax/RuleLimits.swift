/// How much a rule may be and do. Rules come from outside, so everything they size has a bound.
public struct RuleLimits: Hashable, Sendable {
    /// Bytes of a rule's text. The parser is linear; this bounds its memory (about 100 bytes per byte of text).
    public var sourceLength = 100_000
    /// Levels of nested expressions, and of the tree they make: the parser, checker and compiler recurse this deep.
    public var nesting = 250
    /// Nodes of the syntax tree.
    public var nodes = 50_000
    /// Faults of one rule that are reported.
    public var errors = 30
    /// Steps of one evaluation. Each takes 50 ns at most, so a rule that is stopped has taken 50 ms at most.
    public var cost = 1_000_000
    /// Bytes of a string or bytes value made by a rule.
    public var textSize = 16 << 20
    /// Elements of a list or map made by a rule, and values in its result all told.
    public var resultSize = 1_000_000
    /// Levels of lists and maps in a rule's result.
    public var resultDepth = 128

    public init() {}
}

extension RuleLimits {
    /// Made once and kept for good.
    nonisolated(unsafe) static let standard = shared { _ in }
    /// Steps that constant patterns of a rule may cost when it is compiled.
    static let patternCost = 100_000

    /// For one operation that is evaluated while a rule is compiled; a result larger than this is made anew each time instead of
    /// being kept.
    nonisolated(unsafe) static let folding = shared { limits in
        limits.cost = 500
        limits.textSize = 1_000
        limits.resultSize = 400
    }

    private static func shared(_ change: (inout RuleLimits) -> Void) -> UnsafePointer<RuleLimits> {
        let place = UnsafeMutablePointer<RuleLimits>.allocate(capacity: 1)
        place.initialize(to: RuleLimits())
        change(&place.pointee)
        return UnsafePointer(place)
    }
}
