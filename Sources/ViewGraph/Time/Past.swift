import AttributeValues
import RuleLanguage

/// The memory of an operator over time: what it needs to know of its operand's past.
///
/// Times are nanoseconds on the clock of `TimedValues`, which never goes back. `absorb` is called once for each commit
/// in which the operand changed or was reported. Between these calls, `result` may be called with the operand's value
/// in an open transaction, so it must not store that value.
class Past {
    typealias Instant = Int64

    let kind: TimeOperator.Kind
    private(set) var span: Int64
    /// The operand's value since `since`; nil before the first one.
    var current: Value?
    var since: Instant = 0

    init(_ operation: TimeOperator) {
        kind = operation.kind
        span = operation.span.nanoseconds
    }

    static func make(_ operation: TimeOperator) -> Past {
        if let period = operation.period { return CalendarWindow(operation, period) }
        return switch operation.kind {
        case .previous, .changed: LastChange(operation)
        case .reported: LastReport(operation)
        case .held: Hold(operation)
        case .debounced: Debounce(operation)
        case .throttled: Throttle(operation)
        case .least, .greatest: Extremum(operation)
        case .rate, .increase: Rate(operation)
        case .average, .sum: Window(operation)
        case .smoothed: Smoothing(operation)
        case .history: Chart(operation)
        case .entries: EntryReports(operation)
        }
    }

    /// Makes the window longer or shorter. What is known of the time within the new one counts.
    func change(span: Int64, _ now: Instant) { self.span = span }

    /// The result if the operand has this value now. Called only with values in which `fault` finds no fault.
    func result(_ value: Value, _ now: Instant) -> Value { value }

    /// Notes that the operand has this value from now on.
    func absorb(_ value: Value, _ now: Instant) {
        guard value != current else { return }
        current = value
        since = now
    }

    /// True if reports of an equal value matter. Only then the following two are called.
    var hearsReports: Bool { false }

    /// As `result`, if the operand was reported now, whether its value is another one or not.
    func result(ofReport value: Value, _ now: Instant) -> Value { result(value, now) }

    /// As `absorb`, if the operand was reported now.
    func absorb(report value: Value, _ now: Instant) { absorb(value, now) }

    /// Nobody can say what the operand was between two moments, because the machine was asleep.
    func interrupt(from: Instant, to: Instant) {}

    /// Counts the operand's value until now, before the past is stored.
    func count(until now: Instant) {}

    /// When the result next changes while the operand stays as it is; nil: never.
    func deadline(_ now: Instant) -> Instant? { nil }

    /// Why the operator has no result for a value; nil if it has one.
    func fault(_ value: Value) -> Failure? { nil }

    /// Tells where the clock on the wall stands, before the past is asked or told anything.
    func place(in frame: CalendarFrame) {}

    /// Steps that a result costs.
    var cost: Int { 2 }

    /// True if the store gets every change. Windows are stored from time to time.
    var isExact: Bool { true }

    /// True if the store must have more than the row that it has.
    func isDue(after row: Value) -> Bool { isExact }

    // MARK: In the store

    /// Everything that is remembered. Times are counted from `origin`.
    func stored(from origin: Instant) -> [Value] { [] }

    /// - Returns: false for fields that are no such record. Then nothing is changed.
    func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool { fields.isEmpty }

    final func row(from origin: Instant) -> Value? {
        current.map { .list([$0, .int(since &- origin)] + stored(from: origin)) }
    }

    final func take(row: Value, from origin: Instant) -> Bool {
        guard let fields = row.list, fields.count >= 2, case .int(let since) = fields[1],
            restore(fields[2...], from: origin)
        else { return false }
        current = fields[0]
        self.since = since &+ origin
        return true
    }

    // MARK: Numbers

    static func number(_ value: Value?) -> Double? {
        switch value {
        case .int(let number)?: Double(number)
        case .uint(let number)?: Double(number)
        case .double(let number)? where number.isFinite: number
        default: nil
        }
    }

    /// Operators over numbers take numbers and null, which stands for no number.
    final func numberFault(_ value: Value) -> Failure? {
        if Past.number(value) != nil || value == .null { return nil }
        if case .double = value { return Failure(.ruleFailed, "\(kind.rawValue)() takes finite numbers, not \(value)") }
        return Failure(.ruleFailed, "\(kind.rawValue)() takes a number, not a value of type '\(value.shortTypeName)'")
    }

    /// The number of extremes or samples that an operator remembers. If there are more, the older half is thinned out.
    static let mostSamples = 1000
}

/// `previous`, `changed`.
final class LastChange: Past {
    private var previous: Value?

    override func result(_ value: Value, _ now: Instant) -> Value {
        let isChanged = current.map { $0 != value } ?? true
        if kind == .changed { return .instant(isChanged ? now : since) }
        return (isChanged ? current : previous) ?? value
    }

    override func absorb(_ value: Value, _ now: Instant) {
        if value != current { previous = current }
        super.absorb(value, now)
    }

    override func stored(from origin: Instant) -> [Value] { kind == .previous ? previous.map { [$0] } ?? [] : [] }

    override func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool {
        previous = fields.first
        return fields.count <= 1
    }
}

/// `reported`, which also tells when a state expires.
final class LastReport: Past {
    /// The time after which the operand, a state, is stale; nil: never.
    var expiry: Int64?
    /// True once the state has become stale, until it is reported.
    private(set) var isStale = false

    override var hearsReports: Bool { true }

    override func result(_ value: Value, _ now: Instant) -> Value { .instant(value == current ? since : now) }

    override func result(ofReport value: Value, _ now: Instant) -> Value { .instant(now) }

    override func absorb(_ value: Value, _ now: Instant) {
        if value != current { absorb(report: value, now) }
    }

    override func absorb(report value: Value, _ now: Instant) {
        (current, since) = (value, now)
        isStale = false
    }

    override func deadline(_ now: Instant) -> Instant? {
        guard let expiry, current != nil, !isStale else { return nil }
        return since &+ expiry
    }

    /// - Returns: whether the state is stale.
    func expire(_ now: Instant) -> Bool {
        isStale = expiry.map { current != nil && now &- since >= $0 } ?? false
        return isStale
    }

    override var isExact: Bool { false }

    /// A changed value is stored with the state. Reports of an equal value are stored from time to time.
    override func isDue(after row: Value) -> Bool { row.list?.first != current }

    override func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool {
        isStale = false
        return fields.isEmpty
    }
}

/// `held`: whether the condition has been true for the whole span.
final class Hold: Past {
    override func fault(_ value: Value) -> Failure? {
        if case .bool = value { return nil }
        return Failure(.ruleFailed, "held() takes a bool, not a value of type '\(value.shortTypeName)'")
    }

    override func result(_ value: Value, _ now: Instant) -> Value {
        .bool(value == true && current == true && now - since >= span)
    }

    override func deadline(_ now: Instant) -> Instant? {
        current == true && now - since < span ? since + span : nil
    }
}

/// `debounced`: the last value that has stayed for the whole span.
final class Debounce: Past {
    private var settled: Value?

    private func settledValue(_ now: Instant) -> Value? { now - since >= span ? current : settled }

    override func result(_ value: Value, _ now: Instant) -> Value { settledValue(now) ?? settled ?? value }

    override func absorb(_ value: Value, _ now: Instant) {
        settled = settledValue(now) ?? settled ?? value
        super.absorb(value, now)
    }

    override func deadline(_ now: Instant) -> Instant? {
        settled == current || now - since >= span ? nil : since + span
    }

    override func stored(from origin: Instant) -> [Value] { settled.map { [$0] } ?? [] }

    override func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool {
        guard fields.count == 1 else { return false }
        settled = fields.first
        return true
    }
}

/// `throttled`: the value, which changes at most once in each span.
final class Throttle: Past {
    private var shown: Value?
    /// nil: the shown value may change at once.
    private var shownAt: Instant?

    override func result(_ value: Value, _ now: Instant) -> Value {
        guard let shown, let shownAt, now - shownAt < span else { return value }
        return shown
    }

    override func absorb(_ value: Value, _ now: Instant) {
        let result = result(value, now)
        if let shown, shown != result { shownAt = now }
        shown = result
        super.absorb(value, now)
    }

    override func deadline(_ now: Instant) -> Instant? {
        guard let shownAt, shown != current, now - shownAt < span else { return nil }
        return shownAt + span
    }

    override func stored(from origin: Instant) -> [Value] {
        shown.map { [$0] + (shownAt.map { [.int($0 &- origin)] } ?? []) } ?? []
    }

    override func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool {
        guard let first = fields.first, fields.count <= 2 else { return false }
        shown = first
        shownAt = nil
        if fields.count == 2, case .int(let time)? = fields.last { shownAt = time &+ origin }
        return true
    }
}

extension Value {
    /// The timestamp of a time in nanoseconds since 1970.
    static func instant(_ time: Int64) -> Value {
        .timestamp(Timestamp.epoch.advanced(by: TimeSpan(nanoseconds: time)) ?? .epoch)
    }
}
