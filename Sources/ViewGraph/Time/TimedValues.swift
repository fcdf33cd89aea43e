import AttributeGraph
import AttributeValues
import RuleLanguage

/// One operator over one operand. All rules that use it share its vertex.
final class TimedValue {
    let operation: TimeOperator
    let operand: AttributeID
    /// The attribute that gives the window; nil for a constant one.
    let span: AttributeID?
    let past: Past
    /// Its own vertex; known once it is made.
    fileprivate(set) var vertex = AttributeID(index: 0, generation: 0)
    /// When it has to be evaluated although the operand has not changed.
    fileprivate(set) var deadline: Int64?
    /// True while `Unsettled` has it.
    var isDue = false
    /// True if the operand depends on durable states alone, so that the store keeps the past; nil: not looked up yet.
    var isStored: Bool?
    /// The row that the store has, and when it was stored.
    var storedRow: Value?
    var storedAt: Int64 = 0
    /// The name of a row that the store has of this past, and that the next one replaces.
    var outdatedName: String?
    /// Reports of that moment are part of its first value.
    fileprivate var madeAt: Int64

    init(_ operation: TimeOperator, of operand: AttributeID, over span: AttributeID? = nil, at now: Int64) {
        self.operation = operation
        self.span = span
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
        let span: AttributeID?

        init(_ value: TimedValue) { self.init(value.operation, value.operand, value.span) }

        init(_ operation: TimeOperator, _ operand: AttributeID, _ span: AttributeID?) {
            (self.operation, self.operand, self.span) = (operation, operand, span)
        }
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
    /// Operators that were fed at a start, while nothing was stored. The store gets them with the first turn.
    private var unkept: [TimedValue] = []
    /// Made since the last `takeMade`.
    private var made: [TimedValue] = []
    /// Nodes and names of rows whose operators were removed.
    private var forgotten: [(node: NodeID, name: String)] = []
    private var queue = Heap<Deadline>()
    private var expired: [AttributeID] = []
    private(set) var time: OperatorTime
    /// The store needs to know the time, because it has got rows since it was told last, or the wall clock was set.
    private var isTimeDue = false
    /// The store has rows of operators.
    private var isInStore = false

    init(time: OperatorTime) { self.time = time }

    var now: Int64 { time.now }

    var isEmpty: Bool { values.isEmpty }
    var count: Int { values.count }
    /// In no order.
    var all: some Collection<TimedValue> { values.values }

    func value(_ operation: TimeOperator, of operand: AttributeID, over span: AttributeID? = nil) -> TimedValue? {
        values[Key(operation, operand, span)]
    }

    mutating func add(_ value: TimedValue, at vertex: AttributeID) {
        if values.isEmpty, time.settle() { isTimeDue = isInStore }
        value.vertex = vertex
        values[Key(value)] = value
        made.append(value)
    }

    mutating func remove(_ value: TimedValue) {
        values[Key(value)] = nil
        value.deadline = nil
    }

    /// True if an operand that was last reported at this time was reported now.
    func isReport(_ time: Content?, of value: TimedValue) -> Bool {
        time == .value(.instant(now)) && now > value.madeAt
    }

    /// The operators of a construction begin now.
    func begin(_ made: [TimedValue]) { for value in made { value.madeAt = now } }

    /// Nothing is due for the store.
    var isUntouched: Bool { unkept.isEmpty && forgotten.isEmpty && !isTimeDue }

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

    mutating func noteExpired(_ state: AttributeID) { expired.append(state) }

    mutating func takeExpired() -> [AttributeID] {
        if expired.isEmpty { return [] }
        defer { expired = [] }
        return expired
    }

    // MARK: Time

    /// - Returns: the values whose deadline has come, or whose result is a date of a wall clock that was set.
    mutating func advance(to wall: Timestamp, elapsed: TimeSpan) -> [TimedValue] {
        if values.isEmpty {
            time.pass(to: wall, elapsed: elapsed)
            return []
        }
        var reached: [TimedValue] = []
        if time.advance(to: wall, elapsed: elapsed) {
            isTimeDue = isInStore
            reached = values.values.filter { $0.operation.isDate || $0.operation.period != nil }
        }
        while let next = queue.first, next.time <= now {
            queue.removeFirst()
            guard next.isCurrent else { continue }
            next.value.deadline = nil
            reached.append(next.value)
        }
        return reached
    }

    // MARK: The time in the store

    /// While there are no operators.
    mutating func beginTime(at wall: Timestamp, elapsed: TimeSpan) { time = OperatorTime(wall: wall, elapsed: elapsed) }

    mutating func resumeTime(from row: Value) { time.resume(from: row) }

    /// Notes that a row of an operator is in the store.
    mutating func noteInStore() { isInStore = true }

    /// Notes that the store gets a row, which has the present time.
    mutating func noteStored() { (isInStore, isTimeDue) = (true, true) }

    /// The row of the time, if the store needs it.
    mutating func takeTimeRow() -> Value? {
        defer { isTimeDue = false }
        return isTimeDue ? time.row : nil
    }

    /// Nanoseconds from a moment until the next value has to be evaluated.
    mutating func wait(from elapsed: TimeSpan) -> Int64? {
        while let next = queue.first {
            if next.isCurrent { return next.time - time.reading(at: elapsed) }
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
        queue.giveBack()
    }
}
