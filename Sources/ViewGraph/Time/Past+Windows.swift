import AttributeValues
import Glibc
import RuleLanguage

/// `average`, `sum`: weighted by time, from sixty buckets and the one that is being filled.
///
/// Buckets begin at multiples of their width, so that windows of one length step together. The oldest bucket counts by
/// the part of it that is within the window.
final class Window: Past {
    private static let parts: Int64 = 60

    private var width: Int64
    private var count: Int64
    /// By the bucket's number modulo their count: value times seconds, and seconds with a value.
    private var integrals: [Double] = []
    private var weights: [Double] = []
    /// The time until which the buckets are filled; nil before the first value.
    private var filled: Instant?
    private var began: Instant = 0

    override init(_ operation: TimeOperator) {
        (width, count) = Window.buckets(of: operation.span.nanoseconds)
        super.init(operation)
    }

    private static func buckets(of span: Int64) -> (width: Int64, count: Int64) {
        let width = max(span / parts, TimeOperator.shortestSpan)
        return (width, max(1, span / width))
    }

    /// Spreads what the buckets have evenly over those of the new width.
    override func change(span: Int64, _ now: Instant) {
        advance(now)
        let (old, oldest) = (self.width, bucket(now) - count)
        let kept = (oldest...oldest + count).map {
            (integrals.isEmpty ? 0 : integrals[slot($0)], weights.isEmpty ? 0 : weights[slot($0)])
        }
        super.change(span: span, now)
        (width, count) = Window.buckets(of: span)
        guard filled != nil else { return }
        integrals = Array(repeating: 0, count: Int(slots))
        weights = integrals
        for (position, (integral, weight)) in kept.enumerated() where weight > 0 {
            let from = (oldest + Int64(position)) * old
            let to = min(from + old, now)
            var time = max(from, (bucket(now) - count) * width)
            while time < to {
                let end = min(to, (bucket(time) + 1) * width)
                let part = Double(end - time) / Double(to - from)
                integrals[slot(bucket(time))] += integral * part
                weights[slot(bucket(time))] += weight * part
                time = end
            }
        }
    }

    private var slots: Int64 { count + 1 }

    private func bucket(_ time: Instant) -> Int64 {
        time >= 0 ? time / width : (time - width + 1) / width
    }

    private func slot(_ bucket: Int64) -> Int { Int(((bucket % slots) + slots) % slots) }

    /// Adds the present value to the buckets until now.
    private func advance(_ now: Instant) {
        guard let from = filled, now > from else { return }
        let number = Past.number(current)
        var time = max(from, (bucket(now) - count) * width)
        // Everything in the buckets is older than the window.
        if bucket(from) < bucket(now) - count { for at in integrals.indices { (integrals[at], weights[at]) = (0, 0) } }
        while time < now {
            let at = bucket(time)
            let position = slot(at)
            if time == at * width { (integrals[position], weights[position]) = (0, 0) }
            let end = min(now, (at + 1) * width)
            if let number {
                let seconds = Double(end - time) / 1e9
                integrals[position] += number * seconds
                weights[position] += seconds
            }
            time = end
        }
        // A bucket that begins now has nothing of the time before.
        if now == bucket(now) * width { (integrals[slot(bucket(now))], weights[slot(bucket(now))]) = (0, 0) }
        filled = now
    }

    private func totals(_ now: Instant) -> (integral: Double, weight: Double) {
        let last = bucket(now)
        let oldest = last - count
        let part = Double((oldest + 1) * width - (now - count * width)) / Double(width)
        var total = (integral: 0.0, weight: 0.0)
        for at in integrals.indices {
            total.integral += integrals[at]
            total.weight += weights[at]
        }
        // The oldest bucket has the slot of the next one, and counts in part.
        let position = slot(oldest)
        total.integral -= integrals[position] * (1 - part)
        total.weight -= weights[position] * (1 - part)
        return total
    }

    /// True if all buckets of the window have the present value alone. The oldest bucket also has what came just before
    /// the window.
    private func isConstant(_ now: Instant) -> Bool { (bucket(now) - count) * width >= since || since == began }

    override func fault(_ value: Value) -> Failure? { numberFault(value) }

    override var cost: Int { 10 }

    override func result(_ value: Value, _ now: Instant) -> Value {
        advance(now)
        if let current, let number = Past.number(current), isConstant(now), now > since {
            // Computed exactly: a sum of many parts has rounding errors.
            let seconds = min(Double(now - since), Double(span)) / 1e9
            return .double(kind == .average ? number : number * seconds)
        }
        let (integral, weight) = integrals.isEmpty ? (0, 0) : totals(now)
        if kind == .sum { return weight > 0 || Past.number(value) != nil ? .double(integral) : .null }
        guard weight > 0 else { return Past.number(value).map { .double($0) } ?? .null }
        return .double(integral / weight)
    }

    override func absorb(_ value: Value, _ now: Instant) {
        advance(now)
        if filled == nil {
            integrals = Array(repeating: 0, count: Int(slots))
            weights = integrals
            filled = now
            began = now
        }
        super.absorb(value, now)
    }

    override func deadline(_ now: Instant) -> Instant? {
        guard current != nil else { return nil }
        let isSettled = isConstant(now) && (kind == .average || now - since >= span)
        return isSettled ? nil : (bucket(now) + 1) * width
    }

    override var isExact: Bool { false }

    override func stored(from origin: Instant) -> [Value] {
        guard let filled else { return [] }
        return [.int(filled &- origin), .int(began &- origin)] + integrals.map { .double($0) }
            + weights.map { .double($0) }
    }

    override func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool {
        let positions = Int(slots)
        let fields = Array(fields)
        guard fields.count == 2 + 2 * positions, case .int(let filled) = fields[0], case .int(let began) = fields[1]
        else { return false }
        let numbers = fields[2...].compactMap { Past.number($0) }
        guard numbers.count == 2 * positions else { return false }
        integrals = Array(numbers[..<positions])
        weights = Array(numbers[positions...])
        self.filled = filled &+ origin
        self.began = began &+ origin
        return true
    }
}

/// `smoothed`: follows the operand exponentially. After the span, 1/e of any distance is left. It steps every sixtieth
/// of the span until a thousandth of the distance is left, and then has the operand's value.
final class Smoothing: Past {
    private var step: Int64 { max(span / 60, TimeOperator.shortestSpan) }
    private var level: Double?
    private var time: Instant = 0
    /// The distance from the operand at its last change.
    private var distance = 0.0

    override func fault(_ value: Value) -> Failure? { numberFault(value) }

    private func advance(_ now: Instant) {
        guard let from = level, let goal = Past.number(current), now > time else { return }
        let rest = (from - goal) * exp(-Double(now - time) / Double(span))
        level = abs(rest) <= distance / 1000 ? goal : goal + rest
        time = now
    }

    override func result(_ value: Value, _ now: Instant) -> Value {
        advance(now)
        if value == .null { return .null }
        return (level ?? Past.number(value)).map { .double($0) } ?? .null
    }

    override func absorb(_ value: Value, _ now: Instant) {
        advance(now)
        time = now
        if let number = Past.number(value) {
            if value != current { distance = abs((level ?? number) - number) }
            level = level ?? number
        } else {
            level = nil
        }
        super.absorb(value, now)
    }

    override func deadline(_ now: Instant) -> Instant? {
        guard let level, let goal = Past.number(current), level != goal else { return nil }
        return (now / step + 1) * step
    }

    override var isExact: Bool { false }

    override func stored(from origin: Instant) -> [Value] {
        level.map { [.double($0), .int(time &- origin), .double(distance)] } ?? []
    }

    override func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool {
        let fields = Array(fields)
        guard fields.count == 3, let level = Past.number(fields[0]), case .int(let time) = fields[1],
            let distance = Past.number(fields[2])
        else { return fields.isEmpty }
        self.level = level
        self.time = time &+ origin
        self.distance = distance
        return true
    }
}

/// `history`: the least and the greatest value in each of at most 600 stretches of time.
final class Chart: Past {
    static let parts: Int64 = 600

    struct Bucket {
        var least: Double
        var greatest: Double
    }

    let width: Int64
    private let count: Int64
    private var buckets: [(number: Int64, bucket: Bucket)] = []
    private var head = 0
    /// The time until which the buckets are filled; nil before the first value, and after a restart.
    private var filled: Instant?
    /// The end of the earlier life's record.
    private var ended: Instant?

    override init(_ operation: TimeOperator) {
        width = max(operation.span.nanoseconds / Chart.parts, TimeOperator.shortestSpan)
        count = max(1, operation.span.nanoseconds / width)
        super.init(operation)
    }

    /// Every value is accepted; values that are no numbers leave a gap.
    override func result(_ value: Value, _ now: Instant) -> Value { .null }

    private func note(_ number: Double, from: Instant, to: Instant) {
        note(Bucket(least: number, greatest: number), from: from, to: to)
    }

    private func note(_ values: Bucket, from: Instant, to: Instant) {
        let last = to / width
        var at = max(from / width, last - count)
        while at <= last {
            if let end = buckets.last, end.number == at {
                let position = buckets.count - 1
                buckets[position].bucket.least = min(end.bucket.least, values.least)
                buckets[position].bucket.greatest = max(end.bucket.greatest, values.greatest)
            } else {
                buckets.append((at, values))
            }
            at += 1
        }
        drop(to)
    }

    private func drop(_ now: Instant) {
        while head < buckets.count, buckets[head].number <= now / width - count { head += 1 }
        guard head > 64, head > buckets.count / 2 else { return }
        buckets.removeFirst(head)
        head = 0
    }

    private func advance(_ now: Instant) {
        guard let from = filled, now > from else { return }
        // A bucket that begins now has nothing of the time before.
        if let number = Past.number(current) { note(number, from: from, to: max(from, now - 1)) }
        filled = now
        drop(now)
    }

    override func count(until now: Instant) { advance(now) }

    override func interrupt(from: Instant, to: Instant) {
        guard filled != nil else { return }
        advance(from)
        filled = to
    }

    override func absorb(_ value: Value, _ now: Instant) {
        advance(now)
        filled = now
        super.absorb(value, now)
        if let number = Past.number(value) { note(number, from: now, to: now) }
    }

    /// Takes what another record of the same attribute has, with its own stretches: each has the values of all
    /// stretches of the other one that it touches.
    func take(from other: Chart, _ now: Instant) {
        other.advance(now)
        let end = other.filled ?? other.ended ?? now
        (buckets, head) = ([], 0)
        for (number, values) in other.buckets[other.head...] {
            let begin = number * other.width
            note(values, from: begin, to: max(begin, min(begin + other.width - 1, end)))
        }
        drop(now)
        (current, since, filled) = (other.current, other.since, other.filled)
    }

    /// The stretches that have a value, oldest first, each with its beginning.
    func read(_ now: Instant) -> [(time: Instant, bucket: Bucket)] {
        advance(now)
        if let number = Past.number(current) { note(number, from: now, to: now) }
        return buckets[head...].map { ($0.number * width, $0.bucket) }
    }

    override var isExact: Bool { false }

    override func stored(from origin: Instant) -> [Value] {
        [.int((filled ?? ended ?? since) &- origin), .int(origin)]
            + buckets[head...].flatMap {
                [.int($0.number), .double($0.bucket.least), .double($0.bucket.greatest)]
            }
    }

    override func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool {
        let fields = Array(fields)
        guard fields.count >= 2, (fields.count - 2) % 3 == 0, fields.count <= 2 + 3 * Int(Chart.parts + 2),
            case .int(let end) = fields[0], case .int(let before) = fields[1]
        else { return false }
        // Rounded down, so that no stretch begins after the end of the record.
        let (whole, rest) = (origin - before).quotientAndRemainder(dividingBy: width)
        let shift = rest < 0 ? whole - 1 : whole
        var read: [(number: Int64, bucket: Bucket)] = []
        for at in stride(from: 2, to: fields.count, by: 3) {
            guard case .int(let number) = fields[at], let least = Past.number(fields[at + 1]),
                let greatest = Past.number(fields[at + 2])
            else { return false }
            let moved = number + shift
            if let last = read.last, moved <= last.number { continue }
            read.append((moved, Bucket(least: least, greatest: greatest)))
        }
        (buckets, head) = (read, 0)
        // Nothing is known of the time until the daemon knows the value again.
        filled = nil
        ended = end &+ origin
        return true
    }
}
