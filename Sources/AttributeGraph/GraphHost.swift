/// Runs the rules and compares the values for the engine.
///
/// The engine knows which attributes depend on which, and which rules must run. It knows neither the rules nor the
/// meaning of values. A host stores the rules in its own tables by `AttributeID.index`, runs them, and compares values.
/// It is stored inside the graph and is only ever borrowed, so a call costs no reference counting. If it refers to an
/// object, the reference should be unretained.
public protocol GraphHost: ~Copyable {
    associatedtype Value

    /// Runs the rule of an attribute and returns its value. A rule that throws has no value: the host stores what it
    /// needs to know of the failure, and the engine asks it for `value(ofFailed:)` when somebody reads the attribute.
    ///
    /// The rule must read its dependencies with `graph.read(_:)`. If a read throws, the run must end with that error or
    /// another. The engine throws `Interruption` to abandon a run that would nest too deep; it starts the run again
    /// later, and ignores what the abandoned run returns or throws. While it runs, the host may create and destroy
    /// attributes and read others. It must not write inputs, unless the attribute is an observer.
    func evaluate(_ attribute: AttributeID, in graph: GraphCore<Self>) throws -> Value

    /// As `evaluate`, for an observer. An observer may write, its reads are never interrupted, and it has no value.
    /// Called only if the host creates observers.
    func observe(_ attribute: AttributeID, in graph: GraphCore<Self>)

    /// True if the two values count as the same; then readers do not run.
    func areEqual(_ old: borrowing Value, _ new: borrowing Value) -> Bool

    /// The value for every attribute on a cycle; `nil`: they have no value. `path` names the attributes in the order in
    /// which they read one another, beginning with the lowest index; the last reads the first. Called once for a cycle.
    func value(ofCycle path: [AttributeID]) -> Value?

    /// A fixed input of a rule or observer has been destroyed.
    func note(loss input: AttributeID, of reader: UInt32, at position: UInt32)

    /// The attribute now gets the value of this cycle.
    func note(_ attribute: AttributeID, onCycle path: [AttributeID])

    /// The value that a rule gets when it reads a destroyed attribute.
    func value(ofRemoved attribute: AttributeID) throws -> Value

    /// The value that a reader gets from an attribute whose rule threw, or that is on a cycle without a value.
    func value(ofFailed attribute: AttributeID) throws -> Value

    /// The attribute has been freed and its row will be reused. Called once for each, never while its rule is running.
    func didDestroy(_ attribute: AttributeID)
}

extension GraphHost where Self: ~Copyable {
    @inlinable
    public func note(_ attribute: AttributeID, onCycle path: [AttributeID]) {}

    @inlinable
    public func note(loss input: AttributeID, of reader: UInt32, at position: UInt32) {}

    @inlinable
    public func observe(_ attribute: AttributeID, in graph: GraphCore<Self>) {}
}

/// Thrown by a read that would nest rule evaluations too deep. A host that passes errors on does not notice it.
///
/// The engine catches it, evaluates the attribute from its own explicit stack, and starts the rule again.
public struct Interruption: Error {
    @inlinable
    package init() {}
}

/// A request that the graph refused without changing anything.
public enum GraphError: Error, Equatable {
    /// The attribute has been destroyed.
    case removed(AttributeID)
    /// The attributes read one another in a cycle, in this order; the last reads the first.
    case cycle([AttributeID])
    /// A rule tried to write an input while it was being evaluated. Observers may write; rules are pure.
    case writeDuringEvaluation(AttributeID)
    /// These observers kept invalidating themselves or each other; they were stopped after the named number of rounds.
    case unsettled([AttributeID])
    /// An observer was not made. Nested runs of observers that make observers had used up the 1 MiB of the machine's
    /// stack that they share.
    case tooDeep
}
