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

/// `rate`: the increase per second of a counter. A counter that falls has begun again at 0.
///
/// The result is the increase since the value that stood at the beginning of the window, divided by the time between
/// that value's change and the last change. So it does not depend on when it is asked, and a counter that is read every
/// second has the rate of its readings. It is 0 when nothing changed for the whole window.
final class Rate: Past {
    /// The sum of all increases at the time of each change, oldest first. The first one stood at the beginning of the
    /// window, or is the oldest known.
    private var samples: [(time: Instant, total: Double)] = []
    private var head = 0

    override func fault(_ value: Value) -> Failure? { numberFault(value) }

    private static func increase(from old: Value?, to new: Value) -> Double? {
        switch (old, new) {
        case (.int(let a)?, .int(let b)):
            let (difference, overflow) = b.subtractingReportingOverflow(a)
            return b < a ? Double(b) : overflow ? Double(b) - Double(a) : Double(difference)
        default:
            guard let a = Past.number(old), let b = Past.number(new) else { return nil }
            return b < a ? b : b - a
        }
    }

    private func drop(_ now: Instant) {
        while head + 1 < samples.count, samples[head + 1].time <= now - span { head += 1 }
        guard head > 32, head > samples.count / 2 else { return }
        samples.removeFirst(head)
        head = 0
    }

    override func result(_ value: Value, _ now: Instant) -> Value {
        drop(now)
        if value == .null { return .null }
        guard head < samples.count else { return .double(0) }
        let first = samples[head]
        var last = samples[samples.count - 1]
        if value != current, let increase = Rate.increase(from: current, to: value) {
            last = (now, last.total + increase)
        }
        guard last.time > first.time else { return .double(0) }
        return .double((last.total - first.total) / (Double(last.time - first.time) / 1e9))
    }

    override func absorb(_ value: Value, _ now: Instant) {
        drop(now)
        guard value != current else { return }
        if value == .null {
            // Nothing is known of the time until the next number.
            (samples, head) = ([], 0)
        } else {
            let last = samples.last?.total ?? 0
            let total = last + (samples.isEmpty ? 0 : Rate.increase(from: current, to: value) ?? 0)
            if let time = samples.last?.time, time == now, samples.count - head > 1 {
                samples[samples.count - 1].total = total
            } else {
                samples.append((now, total))
            }
            if samples.count - head > Past.mostSamples { thin() }
        }
        super.absorb(value, now)
    }

    private func thin() {
        let half = head + (samples.count - head) / 2
        samples = stride(from: head, to: half, by: 2).map { samples[$0] } + samples[half...]
        head = 0
    }

    override func deadline(_ now: Instant) -> Instant? {
        drop(now)
        return head + 1 < samples.count ? samples[head + 1].time + span : nil
    }

    override var isExact: Bool { false }

    override func stored(from origin: Instant) -> [Value] {
        samples[head...].flatMap { [.int($0.time &- origin), .double($0.total)] }
    }

    override func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool {
        guard fields.count % 2 == 0, fields.count <= 2 * (Past.mostSamples + 1) else { return false }
        var read: [(time: Instant, total: Double)] = []
        for at in stride(from: fields.startIndex, to: fields.endIndex, by: 2) {
            guard case .int(let time) = fields[at], let total = Past.number(fields[at + 1]) else { return false }
            read.append((time &+ origin, total))
        }
        (samples, head) = (read, 0)
        return true
    }
}
