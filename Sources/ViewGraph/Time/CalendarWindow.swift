import AttributeValues
import RuleLanguage

/// Where the clock on the wall stands beside the time of operators.
struct CalendarFrame {
    /// How far the time of operators is ahead of the wall clock.
    var lead: Int64
    var timeZone: String
    var clock: LocalClock

    /// The period around a moment.
    func bounds(of period: TimeOperator.Period, around time: Past.Instant) -> (begin: Past.Instant, end: Past.Instant) {
        let wall = time &- lead
        let seconds = wall >= 0 ? wall / 1_000_000_000 : (wall - 999_999_999) / 1_000_000_000
        let day = clock.day(at: seconds)
        let (begin, end): (Int64, Int64)
        switch period {
        case .hour:
            let local = seconds + Int64(clock.offset(at: seconds))
            begin = seconds - ((local % 3600) + 3600) % 3600
            end = begin + 3600
        case .day: (begin, end) = (clock.instant(day: day, second: 0), clock.instant(day: day + 1, second: 0))
        case .month:
            let date = CalendarDate(days: day)
            let first = CivilTime.days(year: date.year, month: date.month, day: 1)
            let next =
                date.month == 12
                ? CivilTime.days(year: date.year + 1, month: 1, day: 1)
                : CivilTime.days(year: date.year, month: date.month + 1, day: 1)
            (begin, end) = (clock.instant(day: first, second: 0), clock.instant(day: next, second: 0))
        }
        return (begin * 1_000_000_000 + lead, end * 1_000_000_000 + lead)
    }
}

/// `increase`, `sum`, `average`, `least`, `greatest` over hours, days or months by local time: the present one, and so
/// many before it as the operator asks for.
final class CalendarWindow: Past {
    private struct Part {
        var integral = 0.0
        var weight = 0.0
        var increase = 0.0
        var least: Value?
        var greatest: Value?

        mutating func consider(_ value: Value) {
            guard let number = Past.number(value) else { return }
            if Past.number(least).map({ number < $0 }) ?? true { least = value }
            if Past.number(greatest).map({ number > $0 }) ?? true { greatest = value }
        }
    }

    private let period: TimeOperator.Period
    private let back: Int
    /// The present period is the last.
    private var parts: [Part] = []
    /// The end of the present period, and the time until which it is counted; nil before the first value.
    private var end: Instant?
    private var filled: Instant = 0
    private var counter: Counter
    private var frame: CalendarFrame?

    /// The longest period, in nanoseconds.
    private var longest: Int64 {
        switch period {
        case .hour: 3_600_000_000_000
        case .day: 25 * 3_600_000_000_000
        case .month: 745 * 3_600_000_000_000
        }
    }

    init(_ operation: TimeOperator, _ period: TimeOperator.Period) {
        self.period = period
        back = operation.back
        counter = Counter(operation.falls)
        super.init(operation)
    }

    override func place(in frame: CalendarFrame) {
        let isOther = self.frame.map { $0.lead != frame.lead || $0.timeZone != frame.timeZone } ?? true
        self.frame = frame
        // The wall clock or the time zone was set: the present period goes on, to the end that it has now.
        if isOther, let end, filled < end { self.end = frame.bounds(of: period, around: filled).end }
    }

    override func count(until now: Instant) { advance(now) }

    /// Counts the present value until now, and begins the periods that have begun.
    private func advance(_ now: Instant) {
        guard let frame else { return }
        if end == nil {
            // The time zone was not known when the value came.
            guard let current else { return }
            parts = [Part()]
            parts[0].consider(current)
            _ = counter.increase(to: current)
            filled = since
            end = frame.bounds(of: period, around: since).end
        }
        // After a long time, only the periods that are asked for are filled.
        let kept = longest * Int64(back + 2)
        if now - filled > kept, let current {
            parts = [Part()]
            filled = now - kept
            parts[0].consider(current)
            end = frame.bounds(of: period, around: filled).end
        }
        while let next = end, now >= next {
            fill(until: next)
            parts.append(Part())
            if parts.count > back + 1 { parts.removeFirst() }
            if let current { parts[parts.count - 1].consider(current) }
            end = frame.bounds(of: period, around: next).end
        }
        fill(until: now)
    }

    private func fill(until time: Instant) {
        guard time > filled else { return }
        if let number = Past.number(current) {
            let seconds = Double(time - filled) / 1e9
            parts[parts.count - 1].integral += number * seconds
            parts[parts.count - 1].weight += seconds
        }
        filled = time
    }

    override func fault(_ value: Value) -> Failure? { numberFault(value) }

    override var cost: Int { 10 }

    override func result(_ value: Value, _ now: Instant) -> Value {
        advance(now)
        let position = parts.count - 1 - back
        guard position >= 0 else { return back > 0 ? .null : first(value) }
        var part = parts[position]
        if back == 0 {
            part.consider(value)
            if value != current {
                var counter = counter
                part.increase += counter.increase(to: value)
            }
        }
        switch kind {
        case .increase: return back == 0 && value == .null ? .null : .double(part.increase)
        case .least: return part.least ?? .null
        case .greatest: return part.greatest ?? .null
        case .sum: return part.weight > 0 || back == 0 && value != .null ? .double(part.integral) : .null
        default:
            if part.weight > 0 { return .double(part.integral / part.weight) }
            return back == 0 ? Past.number(value).map { .double($0) } ?? .null : .null
        }
    }

    /// The result for the first value.
    private func first(_ value: Value) -> Value {
        if value == .null || kind == .least || kind == .greatest { return value }
        return kind == .average ? Past.number(value).map { .double($0) } ?? .null : .double(0)
    }

    override func absorb(_ value: Value, _ now: Instant) {
        advance(now)
        if end == nil, let frame {
            parts = [Part()]
            filled = now
            end = frame.bounds(of: period, around: now).end
        }
        guard !parts.isEmpty else { return super.absorb(value, now) }
        if value != current {
            if value == .null {
                counter.mark = nil
            } else {
                parts[parts.count - 1].increase += counter.increase(to: value)
            }
        }
        parts[parts.count - 1].consider(value)
        super.absorb(value, now)
    }

    override func deadline(_ now: Instant) -> Instant? {
        guard let end, current != nil else { return nil }
        guard back == 0, kind == .sum || kind == .average, let part = parts.last, Past.number(current) != nil,
            kind == .sum || part.least != part.greatest
        else { return end }
        return min(end, now + longest / 60)
    }

    override var isExact: Bool { false }

    private static let fields = 5

    override func stored(from origin: Instant) -> [Value] {
        guard let end else { return [] }
        return [.int(end &- origin), .int(filled &- origin), counter.mark ?? .null, .int(Int64(counter.zeros))]
            + parts.flatMap {
                [
                    .double($0.integral), .double($0.weight), .double($0.increase), $0.least ?? .null,
                    $0.greatest ?? .null,
                ]
            }
    }

    override func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool {
        let fields = Array(fields)
        if fields.isEmpty { return true }
        let count = (fields.count - 4) / CalendarWindow.fields
        guard fields.count == 4 + count * CalendarWindow.fields, (1...back + 1).contains(count),
            case .int(let end) = fields[0], case .int(let filled) = fields[1], case .int(let zeros) = fields[3]
        else { return false }
        var read: [Part] = []
        for at in stride(from: 4, to: fields.count, by: CalendarWindow.fields) {
            guard let integral = Past.number(fields[at]), let weight = Past.number(fields[at + 1]),
                let increase = Past.number(fields[at + 2])
            else { return false }
            let (least, greatest) = (fields[at + 3], fields[at + 4])
            read.append(
                Part(
                    integral: integral, weight: weight, increase: increase, least: least == .null ? nil : least,
                    greatest: greatest == .null ? nil : greatest))
        }
        counter.mark = fields[2] == .null ? nil : fields[2]
        counter.zeros = Int(clamping: zeros)
        (parts, self.end, self.filled) = (read, end &+ origin, filled &+ origin)
        return true
    }
}
