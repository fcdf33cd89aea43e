/// Limits of rules. Rules come from clients, so everything that they size is bounded.
public struct RuleLimits: Hashable, Sendable {
    /// Bytes of a rule's text. Parsing is linear; this limits its memory (about 100 bytes per byte of text).
    public var sourceLength = 100_000
    /// Levels of nested expressions, and of their tree: the parser, checker and compiler recurse this deep.
    public var nesting = 250
    /// Nodes of the syntax tree.
    public var nodes = 50_000
    /// Reported faults of one rule.
    public var errors = 30
    /// Steps of one evaluation. Each takes at most 50 ns, so a rule is stopped after at most 50 ms.
    public var cost = 1_000_000
    /// Bytes of a string or bytes value that a rule makes.
    public var textSize = 16 << 20
    /// Elements of a list or map that a rule makes, and all values in its result together.
    public var resultSize = 1_000_000
    /// Levels of lists and maps in a rule's result.
    public var resultDepth = 128

    public init() {}
}

extension RuleLimits {
    /// Made once and never freed.
    nonisolated(unsafe) static let standard = shared { _ in }
    /// Maximum steps for compiling a rule's constant patterns together with the rule.
    static let patternCost = 100_000

    /// Limits of one operation that is evaluated at compilation. A larger result is computed at each run.
    nonisolated(unsafe) static let folding = shared { limits in
        limits.cost = 500
        limits.textSize = 1_000
        limits.resultSize = 400
    }

    private static func shared(_ change: (inout RuleLimits) -> Void) -> UnsafePointer<RuleLimits> {
        let pointer = UnsafeMutablePointer<RuleLimits>.allocate(capacity: 1)
        pointer.initialize(to: RuleLimits())
        change(&pointer.pointee)
        return UnsafePointer(pointer)
    }
}
