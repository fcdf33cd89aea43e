import AttributeGraph
import AttributeValues

/// The writes of a transaction, before they have reached the engine.
///
/// Writes may have to reach the engine ahead of the commit, so that rules see them. From then on, the old content of
/// each vertex is noted before it changes.
///
/// A graph has one and reuses its memory.
final class OpenTransaction {
    /// The engine's clock when it began.
    private(set) var stamp: UInt64 = 0
    /// States that have been written, in the order of their first writes. A value is nil once the engine has it.
    private var staged: [(state: AttributeID, value: Value?)] = []
    /// Places of states in `staged`, once there are more than a few.
    private var positions: [AttributeID: Int] = [:]
    /// Animations of the bindings that were written through, by the state they reached.
    private(set) var bindingAnimations: [AttributeID: String] = [:]
    /// True once the engine has got writes ahead of the commit.
    var isAhead = false
    private(set) var touched: [Touched] = []
    /// The places that were written in states whose reports somebody reads.
    private(set) var reports: [Place] = []
    /// The entries that were written in states with `entries`.
    private(set) var entries: [(state: AttributeID, written: EntryReports.Written)] = []
    private var known: Set<AttributeID> = []

    /// Up to so many states are searched one by one.
    private static let few = 8

    /// A vertex as it was before.
    struct Touched {
        var attribute: AttributeID
        /// nil: its rule had never run.
        var content: Content?
        var changedAt: UInt64
    }

    /// Number of nested bindings with rules that the current write goes through.
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

    /// Drops the writes. Keeps memory for a few.
    func end() {
        if !reports.isEmpty { reports = [] }
        if !entries.isEmpty { entries = [] }
        guard !isAhead, staged.count <= OpenTransaction.few else {
            staged = []
            positions = [:]
            touched = []
            known = []
            isAhead = false
            bindingAnimations = [:]
            return
        }
        staged.removeEach()
        if !bindingAnimations.isEmpty { bindingAnimations = [:] }
    }

    /// The value that was staged for a state; nil if the engine has the state's value.
    func value(of state: AttributeID) -> Value? { position(of: state).flatMap { staged[$0].value } }

    private func position(of state: AttributeID) -> Int? {
        staged.count > OpenTransaction.few ? positions[state] : staged.firstIndex { $0.state == state }
    }

    /// The states that have been written, in the order of their first writes.
    var states: some Sequence<AttributeID> { staged.lazy.map(\.state) }

    var hasWrites: Bool { staged.contains { $0.value != nil } }

    func isStaged(_ state: AttributeID) -> Bool { position(of: state) != nil }

    /// Passes each value that the engine does not have yet to `body`, in the order in which the states were first
    /// written.
    func takeWrites(_ body: (AttributeID, consuming Value) -> Void) {
        for position in staged.indices {
            if let value = staged[position].value.take() { body(staged[position].state, value) }
        }
    }

    func stage(_ value: consuming Value, for state: AttributeID, _ animation: String?) {
        if let position = position(of: state) {
            staged[position].value = consume value
        } else {
            staged.append((state, consume value))
            if staged.count > OpenTransaction.few {
                if positions.isEmpty {
                    for (position, write) in staged.enumerated() { positions[write.state] = position }
                } else {
                    positions[state] = staged.count - 1
                }
            }
        }
        // The last write decides.
        if animation != nil || !bindingAnimations.isEmpty { bindingAnimations[state] = animation }
    }

    func noteReport(of place: Place) { reports.append(place) }

    func noteEntries(_ written: EntryReports.Written, of state: AttributeID) { entries.append((state, written)) }

    /// True if the content of a vertex has to be noted before it changes.
    func needsNote(of attribute: AttributeID) -> Bool { isAhead && !known.contains(attribute) }

    func note(_ before: Touched) {
        known.insert(before.attribute)
        touched.append(before)
    }
}
