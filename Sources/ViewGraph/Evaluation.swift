import AttributeGraph
import RuleLanguage

/// The rules of a graph, and what runs them.
///
/// A run reads other rules, so nothing here may change this value for longer than it takes to enter
/// or leave a level.
struct Evaluation: ~Copyable {
    /// The rules of the rows whose source is one.
    var rules = RuleTable()
    var evaluators = EvaluatorStack()
    /// Told of the rules that run; nil: nobody wants to know.
    var recorder: RunRecorder?
    /// Attributes whose rules were not run for want of steps.
    private(set) var waiting: [AttributeID] = []
    /// Steps of costly evaluations since the last sign of life.
    private var longWork = 0

    /// Steps from which an evaluation is counted. Cheaper ones add up to little: there are only so
    /// many attributes.
    static let costly = 10_000
    /// Steps from which it is time for a sign of life: a second or less.
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
/// The stack owns its evaluators from the first use of their level to `deinit`; what `enter` gives
/// is good until then.
struct EvaluatorStack: ~Copyable {
    private var levels: UnsafeMutablePointer<Unmanaged<Evaluator>> = .allocate(capacity: 4)
    private var capacity = 4
    private var count = 0
    private var depth = 0

    deinit {
        for level in 0..<count { levels[level].release() }
        levels.deallocate()
    }

    /// An evaluator that nobody uses, until `leave`.
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
