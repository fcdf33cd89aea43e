import AttributeGraph
import AttributeValues

/// The writes of a transaction, before they have reached the engine.
///
/// The engine may have to be told of writes ahead of the commit, so that rules see them. From then
/// on each vertex is noted as it was before it gets another content.
///
/// A graph has one and reuses its memory.
final class OpenTransaction {
    /// The engine's clock when it began.
    private(set) var stamp: UInt64 = 0
    /// States that have been written, in the order in which they were first. The value is nil where
    /// the engine has it.
    private var staged: [(state: AttributeID, value: Value?)] = []
    /// Where states stand in `staged`, once there are more than a few.
    private var positions: [AttributeID: Int] = [:]
    /// Animations of the bindings that were written through, by the state they reached.
    private(set) var bindingAnimations: [AttributeID: String] = [:]
    /// The engine has been told of writes ahead of the commit.
    private(set) var isAhead = false
    private(set) var touched: [Touched] = []
    private var known: Set<AttributeID> = []

    /// So many states are searched one by one.
    private static let few = 8

    /// A vertex as it was before.
    struct Touched {
        var attribute: AttributeID
        /// nil: its rule had never run.
        var content: Content?
        var changedAt: UInt64
    }

    /// Bindings with rules that a write is going through, one inside the other.
    private var bindings = 0
    private static let bindingLimit = 64

    /// - Returns: false when there are too many.
    func enterBinding() -> Bool {
        guard bindings < OpenTransaction.bindingLimit else { return false }
        bindings += 1
        return true
    }

    func leaveBinding() { bindings -= 1 }

    func begin(at stamp: UInt64) { self.stamp = stamp }

    /// Drops the writes. Keeps the memory of a few.
    func end() {
        guard !isAhead, staged.count <= OpenTransaction.few else {
            staged = []
            positions = [:]
            touched = []
            known = []
            isAhead = false
            bindingAnimations = [:]
            return
        }
        // Cheaper than `removeAll(keepingCapacity:)`.
        while staged.popLast() != nil {}
        if !bindingAnimations.isEmpty { bindingAnimations = [:] }
    }

    /// The value that a state shall get; nil where the engine has its value.
    func value(of state: AttributeID) -> Value? { position(of: state).flatMap { staged[$0].value } }

    private func position(of state: AttributeID) -> Int? {
        staged.count > OpenTransaction.few ? positions[state] : staged.firstIndex { $0.state == state }
    }

    /// The states that have been written, in the order in which they were first.
    var order: some Sequence<AttributeID> { staged.lazy.map(\.state) }

    var hasWrites: Bool { staged.contains { $0.value != nil } }

    func forEachState(_ body: (AttributeID) -> Void) { for write in staged { body(write.state) } }

    /// Whether a state has been written.
    func isStaged(_ state: AttributeID) -> Bool { position(of: state) != nil }

    /// Gives away each value that the engine does not have yet, in the order in which their states
    /// were first written.
    func takeWrites(_ body: (AttributeID, Value) -> Void) {
        for position in staged.indices {
            if let value = staged[position].value.take() { body(staged[position].state, value) }
        }
    }

    func stage(_ value: Value, for state: AttributeID, _ animation: String?) {
        if let position = position(of: state) {
            staged[position].value = value
        } else {
            staged.append((state, value))
            if staged.count > OpenTransaction.few {
                if positions.isEmpty {
                    for (position, write) in staged.enumerated() { positions[write.state] = position }
                } else {
                    positions[state] = staged.count - 1
                }
            }
        }
        if let animation { bindingAnimations[state] = animation }
    }

    /// Takes the writes for the engine, ahead of the commit.
    func handOver() -> [(state: AttributeID, value: Value)] {
        isAhead = true
        var writes: [(state: AttributeID, value: Value)] = []
        for position in staged.indices {
            guard let value = staged[position].value else { continue }
            writes.append((staged[position].state, value))
            staged[position].value = nil
        }
        return writes
    }

    /// Whether a vertex has to be noted before it gets another content.
    func needsNote(of attribute: AttributeID) -> Bool { isAhead && !known.contains(attribute) }

    func note(_ before: Touched) {
        known.insert(before.attribute)
        touched.append(before)
    }
}
