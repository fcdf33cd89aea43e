import AttributeGraph
import AttributeValues
import RuleLanguage

/// One operator over one operand. All rules that use it share its vertex.
final class TimedValue {
    let operation: TimeOperator
    let operand: AttributeID
    let past: Past
    /// Its own vertex; known once it is made.
    fileprivate(set) var vertex = AttributeID(index: 0, generation: 0)
    /// When it has to be evaluated although the operand has not changed.
    fileprivate(set) var deadline: Int64?
    fileprivate var isDue = false
    /// True if the operand depends on durable states alone, so that the store keeps the past; nil: not looked up yet.
    var isStored: Bool?
    /// The row that the store has, and when it was stored.
    var storedRow: Value?
    var storedAt: Int64 = 0
    /// The name of a row that the store has of this past, and that the next one replaces.
    var outdatedName: String?
    /// Reports of that moment are part of its first value.
    fileprivate let madeAt: Int64

    init(_ operation: TimeOperator, of operand: AttributeID, at now: Int64) {
        self.operation = operation
        self.operand = operand
        madeAt = now
        past = Past.make(operation)
    }
}

/// The vertices of operators over time, and when each has to be evaluated again.
///
/// This type does not read a real clock: like `Clocks`, it is told the time.
struct TimedValues {
    private struct Key: Hashable {
        let operand: AttributeID
        let operation: TimeOperator
    }

    private struct Deadline: Comparable {
        let time: Int64
        let value: TimedValue

        /// False if the value has another deadline now.
        var isCurrent: Bool { value.deadline == time }

        static func < (one: Deadline, other: Deadline) -> Bool { one.time < other.time }
        static func == (one: Deadline, other: Deadline) -> Bool { one.time == other.time }
    }

    private var values: [Key: TimedValue] = [:]
    /// Operators that are to be evaluated and fed at the end of the current change.
    private var due: [TimedValue] = []
    /// Operators that were fed at a start, while nothing was stored. The store gets them with the first turn.
    private var unkept: [TimedValue] = []
    /// Made since the last `takeMade`.
    private var made: [TimedValue] = []
    /// Nodes and names of rows whose operators were removed.
    private var forgotten: [(node: NodeID, name: String)] = []
    private var queue = Heap<Deadline>()
    /// Nanoseconds since 1970 that never go back, and how far they are ahead of the wall clock.
    private(set) var now: Int64
    private(set) var lead: Int64 = 0

    init(time: Timestamp) { now = TimedValues.nanoseconds(time) }

    private static func nanoseconds(_ time: Timestamp) -> Int64 {
        time.since(.epoch)?.nanoseconds ?? (time < .epoch ? -Int64.max / 2 : Int64.max / 2)
    }

    var isEmpty: Bool { values.isEmpty }
    var count: Int { values.count }
    var hasDue: Bool { !due.isEmpty }
    /// In no order.
    var all: some Collection<TimedValue> { values.values }

    func value(_ operation: TimeOperator, of operand: AttributeID) -> TimedValue? {
        values[Key(operand: operand, operation: operation)]
    }

    mutating func add(_ value: TimedValue, at vertex: AttributeID) {
        value.vertex = vertex
        values[Key(operand: value.operand, operation: value.operation)] = value
        made.append(value)
        noteDue(value)
    }

    mutating func remove(_ value: TimedValue) {
        values[Key(operand: value.operand, operation: value.operation)] = nil
        value.deadline = nil
    }

    /// True if an operand that was last reported at this time was reported now.
    func isReport(_ time: Content?, of value: TimedValue) -> Bool {
        time == .value(.instant(now)) && now > value.madeAt
    }

    mutating func noteDue(_ value: TimedValue) {
        guard !value.isDue else { return }
        value.isDue = true
        due.append(value)
    }

    mutating func takeDue() -> [TimedValue] {
        defer { due = [] }
        for value in due { value.isDue = false }
        return due
    }

    /// No operator has been forgotten, or was fed while a start made the graph.
    var isUntouched: Bool { unkept.isEmpty && forgotten.isEmpty }

    mutating func noteUnkept(_ value: TimedValue) { unkept.append(value) }

    mutating func takeUnkept() -> [TimedValue] {
        if unkept.isEmpty { return [] }
        defer { unkept = [] }
        return unkept
    }

    mutating func takeMade() -> [TimedValue] {
        if made.isEmpty { return [] }
        defer { made = [] }
        return made
    }

    mutating func noteForgotten(_ node: NodeID, _ name: String) { forgotten.append((node, name)) }

    mutating func takeForgotten() -> [(node: NodeID, name: String)] {
        if forgotten.isEmpty { return [] }
        defer { forgotten = [] }
        return forgotten
    }

    // MARK: Time

    /// If the wall clock is set back, the time goes on from where it was.
    /// - Returns: the values whose deadline has come.
    mutating func advance(to time: Timestamp) -> [TimedValue] {
        let wall = TimedValues.nanoseconds(time)
        if wall + lead < now { lead = now - wall }
        now = wall + lead
        var reached: [TimedValue] = []
        while let next = queue.first, next.time <= now {
            queue.removeFirst()
            guard next.isCurrent else { continue }
            next.value.deadline = nil
            reached.append(next.value)
        }
        return reached
    }

    /// The present time as `advance` would set it.
    func instant(of time: Timestamp) -> Int64 { max(now, TimedValues.nanoseconds(time) &+ lead) }

    func wallTime(of time: Int64) -> Timestamp {
        Timestamp.epoch.advanced(by: TimeSpan(nanoseconds: time - lead)) ?? .epoch
    }

    /// The time on the wall clock when the next value has to be evaluated.
    mutating func nextDeadline() -> Timestamp? {
        while let next = queue.first {
            if next.isCurrent { return wallTime(of: next.time) }
            queue.removeFirst()
        }
        return nil
    }

    mutating func schedule(_ value: TimedValue) {
        let deadline = value.past.deadline(now)
        guard deadline != value.deadline else { return }
        value.deadline = deadline
        guard let deadline else { return }
        if queue.count > 2 * values.count + 64 { queue.removeAll { !$0.isCurrent } }
        queue.push(Deadline(time: deadline, value: value))
    }

    mutating func giveBack() {
        values.giveBack()
        due.giveBack()
        queue.giveBack()
    }
}
