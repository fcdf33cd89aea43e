import AttributeValues
import RuleLanguage

/// `least`, `greatest`: over all values that the operand had within the window.
///
/// `ended` has former values that may still become the result, oldest first. A value that a later one outdoes is not
/// among them, so each is nearer to the present value than the one before it.
final class Extremum: Past {
    private var ended: [(value: Value, number: Double, leaves: Instant)] = []
    /// Entries before this one have left the window.
    private var head = 0

    override func fault(_ value: Value) -> Failure? { numberFault(value) }

    override func change(span new: Int64, _ now: Instant) {
        for at in ended.indices { ended[at].leaves += new - span }
        super.change(span: new, now)
    }

    private func outdoes(_ a: Double, _ b: Double) -> Bool { kind == .least ? a <= b : a >= b }

    private func drop(_ now: Instant) {
        while head < ended.count, ended[head].leaves <= now { head += 1 }
        guard head > 32, head > ended.count / 2 else { return }
        ended.removeFirst(head)
        head = 0
    }

    override func result(_ value: Value, _ now: Instant) -> Value {
        drop(now)
        var best = value
        var number = Past.number(value)
        func consider(_ candidate: Value, _ other: Double) {
            if let known = number, outdoes(known, other) { return }
            (best, number) = (candidate, other)
        }
        // If the value is another one, the value of the last commit ends now.
        if let current, let other = Past.number(current) { consider(current, other) }
        if head < ended.count { consider(ended[head].value, ended[head].number) }
        return best
    }

    override func absorb(_ value: Value, _ now: Instant) {
        drop(now)
        guard value != current else { return }
        if let current, let number = Past.number(current) {
            removeOutdone(by: number)
            ended.append((current, number, now + span))
        }
        if let number = Past.number(value) { removeOutdone(by: number) }
        if ended.count - head > Past.mostSamples { thin() }
        super.absorb(value, now)
    }

    private func removeOutdone(by number: Double) {
        while ended.count > head, let last = ended.last, outdoes(number, last.number) { ended.removeLast() }
    }

    /// Thins out the older half: of two neighbours the better one stays, as long as the other one would have stayed.
    private func thin() {
        var halved: [(value: Value, number: Double, leaves: Instant)] = []
        let half = head + (ended.count - head) / 2
        for at in stride(from: head, to: half - 1, by: 2) {
            halved.append((ended[at].value, ended[at].number, ended[at + 1].leaves))
        }
        ended = halved + ended[(head + (half - head) / 2 * 2)...]
        head = 0
    }

    override func deadline(_ now: Instant) -> Instant? {
        drop(now)
        return head < ended.count ? ended[head].leaves : nil
    }

    override var isExact: Bool { false }

    override func stored(from origin: Instant) -> [Value] {
        ended[head...].flatMap { [$0.value, .int($0.leaves &- origin)] }
    }

    override func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool {
        guard fields.count % 2 == 0, fields.count <= 2 * (Past.mostSamples + 1) else { return false }
        var read: [(value: Value, number: Double, leaves: Instant)] = []
        for at in stride(from: fields.startIndex, to: fields.endIndex, by: 2) {
            guard let number = Past.number(fields[at]), case .int(let time) = fields[at + 1] else { return false }
            read.append((fields[at], number, time &+ origin))
        }
        (ended, head) = (read, 0)
        return true
    }
}

/// `rate`: the increase per second of a counter. `increase`: what it has counted within the window.
///
/// An increase is spread evenly over the time since the report before it, so the total over time is a line through all
/// reports. The window ends at the last report. The result is the rise of that line within the window, divided by the
/// window, or by the time since the first report if that is shorter. It is 0 after a window without a report.
final class Rate: Past {
    /// The sum of all increases at the time of each report, oldest first. The first one is at or before the beginning
    /// of the window, or is the oldest known. Reports between equal totals are left out, except the last two.
    private var samples: [(time: Instant, total: Double)] = []
    private var head = 0

    override func fault(_ value: Value) -> Failure? { numberFault(value) }

    override var hearsReports: Bool { true }

    private var counter: Counter

    override init(_ operation: TimeOperator) {
        counter = Counter(operation.falls)
        super.init(operation)
    }

    /// A record that an earlier version has stored has no mark.
    private var knownCounter: Counter {
        var counter = counter
        if counter.mark == nil, !samples.isEmpty { counter.mark = current }
        return counter
    }

    /// The total after a report of a number now.
    private func total(after value: Value) -> Double {
        var counter = knownCounter
        let increase = counter.increase(to: value)
        return samples.last.map { $0.total + increase } ?? 0
    }

    /// Drops what no window that ends at the last report or later can reach.
    private func drop() {
        guard let last = samples.last else { return }
        while head + 1 < samples.count, samples[head + 1].time <= last.time - span { head += 1 }
        guard head > 32, head > samples.count / 2 else { return }
        samples.removeFirst(head)
        head = 0
    }

    /// The rate of a window that ends at a report.
    private func rate(endingWith last: (time: Instant, total: Double)) -> Double {
        guard head < samples.count else { return 0 }
        let begin = last.time - span
        // The last sample at or before the beginning of the window.
        let after = (head..<samples.count).partitioningIndex { samples[$0].time > begin }
        guard after > head else {
            let first = samples[head]
            let rise = last.total - first.total
            if kind == .increase { return rise }
            return last.time > first.time ? rise / (Double(last.time - first.time) / 1e9) : 0
        }
        let from = samples[after - 1]
        // The report may be one that replaces the last sample.
        let to = after < samples.count && samples[after].time < last.time ? samples[after] : last
        let part = to.time > from.time ? Double(begin - from.time) / Double(to.time - from.time) : 0
        let rise = last.total - from.total - (to.total - from.total) * part
        return kind == .increase ? rise : rise / (Double(span) / 1e9)
    }

    override func result(ofReport value: Value, _ now: Instant) -> Value {
        value == .null ? .null : .double(rate(endingWith: (now, total(after: value))))
    }

    override func result(_ value: Value, _ now: Instant) -> Value {
        if value != current { return result(ofReport: value, now) }
        if value == .null { return .null }
        guard let last = samples.last, now - last.time < span else { return .double(0) }
        return .double(rate(endingWith: last))
    }

    override func absorb(report value: Value, _ now: Instant) {
        if value == .null {
            // Nothing is known of the time until the next number.
            (samples, head) = ([], 0)
            counter.mark = nil
        } else {
            let total = total(after: value)
            counter = knownCounter
            _ = counter.increase(to: value)
            let last = samples.count - 1
            if last > head, samples[last].time == now {
                samples[last].total = total
            } else {
                // The line is the same without a report between equal totals. The last report stays: one at the same
                // time may replace it.
                if last - 2 >= head, samples[last - 2].total == samples[last].total { samples.remove(at: last - 1) }
                samples.append((now, total))
            }
            drop()
            if samples.count - head > Past.mostSamples { thin() }
        }
        super.absorb(value, now)
    }

    override func absorb(_ value: Value, _ now: Instant) {
        if value != current { absorb(report: value, now) }
    }

    private func thin() {
        let half = head + (samples.count - head) / 2
        samples = stride(from: head, to: half, by: 2).map { samples[$0] } + samples[half...]
        head = 0
    }

    override func deadline(_ now: Instant) -> Instant? {
        guard let last = samples.last, now - last.time < span, rate(endingWith: last) != 0 else { return nil }
        return last.time + span
    }

    override var isExact: Bool { false }

    /// The counter, and the samples. The records of earlier versions begin with the samples.
    override func stored(from origin: Instant) -> [Value] {
        [.list([counter.mark ?? .null, .int(Int64(counter.zeros))])]
            + samples[head...].flatMap { [.int($0.time &- origin), .double($0.total)] }
    }

    override func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool {
        var fields = fields
        var counter = Counter(counter.falls)
        if case .list(let known)? = fields.first {
            guard known.count == 2, case .int(let zeros) = known[1] else { return false }
            counter.mark = known[0] == .null ? nil : known[0]
            counter.zeros = Int(clamping: zeros)
            fields.removeFirst()
        }
        guard fields.count % 2 == 0, fields.count <= 2 * (Past.mostSamples + 1) else { return false }
        var read: [(time: Instant, total: Double)] = []
        for at in stride(from: fields.startIndex, to: fields.endIndex, by: 2) {
            guard case .int(let time) = fields[at], let total = Past.number(fields[at + 1]) else { return false }
            read.append((time &+ origin, total))
        }
        (samples, head) = (read, 0)
        self.counter = counter
        return true
    }
}

/// The amount that a counter has counted, by its reports. Meters err: a value may be a little too low, or 0 once.
///
/// A fall by a small part of the value counts nothing, and the counter goes on from where it was. So do a few zeros, if
/// the value is back after them. After any other fall, the counter has begun again at 0.
struct Counter {
    let falls: TimeOperator.Falls
    /// The greatest value since the counter began; nil before the first one.
    var mark: Value?
    /// The number of zeros since then, as long as they may be a mistake.
    var zeros = 0

    init(_ falls: TimeOperator.Falls) { self.falls = falls }

    /// Counts a report of a number.
    /// - Returns: the increase since the report before.
    mutating func increase(to value: Value) -> Double {
        guard let new = Past.number(value) else { return 0 }
        guard let mark, let old = Past.number(mark) else {
            self.mark = value
            return 0
        }
        if new >= old {
            (self.mark, zeros) = (value, 0)
            return difference(mark, value) ?? new - old
        }
        if old - new <= falls.dip * abs(old) {
            zeros = 0
            return 0
        }
        if new == 0, zeros < falls.zeros {
            zeros += 1
            return 0
        }
        (self.mark, zeros) = (value, 0)
        return max(0, new)
    }

    /// Exact for integers that are too large for a double.
    private func difference(_ old: Value, _ new: Value) -> Double? {
        guard case .int(let a) = old, case .int(let b) = new else { return nil }
        let (difference, overflow) = b.subtractingReportingOverflow(a)
        return overflow ? nil : Double(difference)
    }
}
