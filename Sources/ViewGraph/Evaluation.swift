import AttributeGraph
import RuleLanguage

/// The bound rules of a graph and their evaluators.
///
/// A rule that runs may run others, so code may have exclusive access to this value only while it enters or leaves a
/// level.
struct Evaluation: ~Copyable {
    /// The memory for the inputs of the next bound rule.
    var inputs: [BoundInput] = []
    var evaluators = EvaluatorStack()
    /// Records every run of a rule; nil: runs are not recorded.
    var recorder: RunRecorder?
    /// Attributes whose rules did not run because no steps were left.
    private(set) var waiting: [AttributeID] = []
    /// Steps of costly evaluations since the last sign of life.
    private var longWork = 0

    /// Evaluations of fewer steps are not counted. Their sum stays small, because the number of attributes is limited.
    static let costly = 10_000
    /// Steps after which a sign of life is due: a second of work or less.
    private static let long = 20_000_000

    mutating func deferRule(of attribute: AttributeID) { waiting.append(attribute) }

    mutating func takeWaiting() -> [AttributeID] {
        defer { waiting = [] }
        return waiting
    }

    /// Counts the steps of a costly evaluation.
    /// - Returns: whether it is time for a sign of life.
    mutating func isLongWork(after cost: Int) -> Bool {
        longWork += cost
        guard longWork >= Evaluation.long else { return false }
        longWork = 0
        return true
    }
}

/// A read may evaluate another rule before this one goes on, so each level of nesting has an
/// evaluator of its own; the engine bounds the levels.
///
/// The stack owns its evaluators from the first use of their level to `deinit`. The result of `enter` is valid until
/// then.
struct EvaluatorStack: ~Copyable {
    private var levels: UnsafeMutablePointer<Unmanaged<Evaluator>> = .allocate(capacity: 4)
    private var capacity = 4
    private var count = 0
    private var depth = 0

    deinit {
        for level in 0..<count { levels[level].release() }
        levels.deallocate()
    }

    /// An unused evaluator, which the caller may use until `leave`.
    @inline(__always)
    mutating func enter() -> Unmanaged<Evaluator> {
        if _slowPath(depth == count) { grow() }
        let level = levels[depth]
        depth &+= 1
        return level
    }

    @inline(__always)
    mutating func leave() { depth &-= 1 }

    @inline(never)
    private mutating func grow() {
        if count == capacity {
            let larger = UnsafeMutablePointer<Unmanaged<Evaluator>>.allocate(capacity: 2 * capacity)
            larger.moveInitialize(from: levels, count: count)
            levels.deallocate()
            levels = larger
            capacity *= 2
        }
        (levels + count).initialize(to: .passRetained(Evaluator()))
        count += 1
    }
}
