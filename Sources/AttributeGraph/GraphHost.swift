/// The few things the engine must be told about what it computes.
///
/// The engine knows which attribute depends on which, and what has to run; it knows neither rules nor what
/// a value means. A host keeps the rules in tables of its own by `AttributeID.index`, and says how to run
/// one and when two values are equal. It is a stored part of the graph and is only ever borrowed, so calling
/// it costs no reference counting; a host that refers to an object should hold it unretained.
public protocol GraphHost: ~Copyable {
    associatedtype Value

    /// Runs the rule of an attribute and returns its value. A rule that throws has no value: the host keeps what it
    /// must know of the failure, and is asked for it by readers (`value(ofFailed:)`).
    ///
    /// Everything the rule depends on must be read with `graph.read(_:)`. A read that throws has to end the run, with
    /// its error or another: one (`Interruption`) is how the engine abandons a run that would nest too deep, to start
    /// it again later, and whatever this function then returns or throws does not count. While it runs the host may
    /// create and destroy attributes and read others; it must not write inputs, unless the attribute is an observer.
    func evaluate(_ attribute: AttributeID, in graph: GraphCore<Self>) throws -> Value

    /// As `evaluate`, for an observer: it may write, its reads are never interrupted, and it has no value. Only hosts
    /// that create observers are asked.
    func observe(_ attribute: AttributeID, in graph: GraphCore<Self>)

    /// Whether a change from one value to the other is none: readers are then left alone.
    func areEqual(_ old: borrowing Value, _ new: borrowing Value) -> Bool

    /// The value of every attribute on a cycle; `nil` for none. `path` names the attributes in the
    /// order they read one another, beginning with the one of lowest index; the last reads the first.
    /// Called once for a cycle.
    func value(ofCycle path: [AttributeID]) -> Value?

    /// An attribute that was among the fixed inputs of a rule or observer has been destroyed.
    func note(loss input: AttributeID, of reader: UInt32, at position: UInt32)

    /// The attribute gets the value of this cycle now.
    func note(_ attribute: AttributeID, onCycle path: [AttributeID])

    /// What a rule reads through the id of an attribute that has been destroyed.
    func value(ofRemoved attribute: AttributeID) throws -> Value

    /// What is read from an attribute whose rule threw, or that has no value on its cycle.
    func value(ofFailed attribute: AttributeID) throws -> Value

    /// An attribute is gone; its row will be reused. Called once for each, never while its rule is running.
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

/// Thrown by a read that would nest rule evaluations too deep; never seen by a host that passes errors on.
///
/// The engine catches it, evaluates what was to be read from its own explicit stack, and starts the rule again.
public struct Interruption: Error {
    @inlinable
    package init() {}
}

/// A request the graph refused; nothing has changed.
public enum GraphError: Error, Equatable {
    /// The attribute has been destroyed.
    case removed(AttributeID)
    /// The attributes read one another in a circle, in this order; the last reads the first.
    case cycle([AttributeID])
    /// A rule tried to write an input while it was being evaluated. Observers may write; rules are pure.
    case writeDuringEvaluation(AttributeID)
    /// These observers kept invalidating themselves or each other; they were stopped after the named number of rounds.
    case unsettled([AttributeID])
    /// An observer was not made: runs that make observers, which make others in turn, were nested until they had used
    /// up the 1 MiB of the machine's stack that they share.
    case tooDeep
}
