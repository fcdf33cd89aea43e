import AttributeGraph
import AttributeValues

/// The writes of a transaction, before they have reached the engine.
///
/// The engine may have to be told of writes ahead of the commit, so that rules see them. From then
/// on each vertex is noted as it was before it gets another content.
struct OpenTransaction {
    /// The engine's clock when it began.
    let stamp: UInt64
    /// States that have been written, in the order in which they were first.
    private(set) var order: [AttributeID] = []
    /// Animations of the bindings that were written through, by the state they reached.
    private(set) var bindingAnimations: [AttributeID: String] = [:]
    /// The engine has been told of writes ahead of the commit.
    private(set) var isAhead = false
    private(set) var touched: [Touched] = []
    private var known: Set<AttributeID> = []
    private var values: [AttributeID: Value] = [:]

    /// A vertex as it was before.
    struct Touched {
        var attribute: AttributeID
        /// nil: its rule had never run.
        var content: Content?
        var changedAt: UInt64
    }

    init(stamp: UInt64) { self.stamp = stamp }

    /// The value that a state shall get; nil where the engine has its value.
    func value(of state: AttributeID) -> Value? { values[state] }

    var hasWrites: Bool { !values.isEmpty }

    /// Values that the engine does not have yet, in the order in which their states were first
    /// written.
    var writes: [(state: AttributeID, value: Value)] { order.compactMap { state in values[state].map { (state, $0) } } }

    mutating func stage(_ value: Value, for state: AttributeID, _ animation: String?) {
        if values.updateValue(value, forKey: state) == nil, !known.contains(state) { order.append(state) }
        if let animation { bindingAnimations[state] = animation }
    }

    /// Takes the writes for the engine, ahead of the commit.
    mutating func handOver() -> [(state: AttributeID, value: Value)] {
        defer { values = [:] }
        isAhead = true
        return writes
    }

    /// Whether a vertex has to be noted before it gets another content.
    func needsNote(of attribute: AttributeID) -> Bool { isAhead && !known.contains(attribute) }

    mutating func note(_ before: Touched) {
        known.insert(before.attribute)
        touched.append(before)
    }
}
