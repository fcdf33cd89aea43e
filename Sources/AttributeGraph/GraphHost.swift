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
    /// later, and ignores what the abandoned run returns or throws. While it runs, the host may create attributes and
    /// read others. It must neither write inputs nor destroy attributes.
    func evaluate(_ attribute: AttributeID, in graph: GraphCore<Self>) throws -> Value

    /// True if the two values count as the same; then readers do not run.
    func areEqual(_ old: borrowing Value, _ new: borrowing Value) -> Bool

    /// The value for every attribute on a cycle; `nil`: they have no value. `path` names the attributes in the order in
    /// which they read one another, beginning with the lowest index; the last reads the first. Called once for a cycle.
    func value(ofCycle path: [AttributeID]) -> Value?

    /// The attribute now gets the value of this cycle.
    func note(_ attribute: AttributeID, onCycle path: [AttributeID])

    /// The value that a rule gets when it reads a destroyed attribute.
    func value(ofRemoved attribute: AttributeID) throws -> Value

    /// The value that a reader gets from an attribute whose rule threw, or that is on a cycle without a value.
    func value(ofFailed attribute: AttributeID) throws -> Value
}

extension GraphHost where Self: ~Copyable {
    @inlinable
    public func note(_ attribute: AttributeID, onCycle path: [AttributeID]) {}
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
    /// A rule tried to write an input while it was being evaluated. Rules are pure.
    case writeDuringEvaluation(AttributeID)
}
