import AttributeValues
import RuleLanguage
import TestSupport
import Testing

@testable import ViewGraph

/// Operators over time beside a model that knows the whole past.
@Suite("pasts of operators over time")
struct PastTests {
    private static let second: Int64 = 1_000_000_000
    private static let start: Int64 = 1_800_000_000 * second

    /// Every value with the time from which the operand had it.
    private struct Model {
        var changes: [(time: Int64, value: Int64)] = []

        mutating func set(_ value: Int64, _ now: Int64) {
            if changes.last?.value == value { return }
            changes.append((now, value))
        }

        /// The values within (from, now], each with how long it stood there in seconds.
        func parts(_ from: Int64, _ now: Int64) -> [(value: Int64, seconds: Double)] {
            changes.indices.compactMap { at in
                let end = at + 1 < changes.count ? changes[at + 1].time : now
                let begin = max(from, changes[at].time)
                if at + 1 < changes.count, end <= from { return nil }
                return (changes[at].value, Double(max(0, end - begin)) / 1e9)
            }
        }

        func value(_ time: Int64) -> Int64? { changes.last { $0.time <= time }?.value }
        func last(_ time: Int64) -> (time: Int64, value: Int64)? { changes.last { $0.time <= time } }
    }

    /// Plays random writes and waits. Whenever something happens, the operator is asked, as the daemon does.
    private func play(
        _ kind: TimeOperator.Kind, seed: UInt64, span: Int64 = 6 * second, values: ClosedRange<Int64> = 0...9,
        grid: Int64 = second / 20, _ check: (Value, Model, Int64, _ hasStepped: Bool) -> Void
    ) throws {
        var random = SeededGenerator(seed: seed)
        var past = Past.make(TimeOperator(kind, span: TimeSpan(nanoseconds: span)))
        var model = Model()
        var now = PastTests.start
        var value = values.lowerBound
        past.absorb(.int(value), now)
        model.set(value, now)
        for step in 0..<600 {
            let wanted = now + grid * Int64.random(in: 0...(step % 50 == 0 ? 300 : 20), using: &random)
            while let deadline = past.deadline(now), deadline <= wanted {
                try #require(deadline > now, "a deadline that has passed")
                now = deadline
                check(past.result(.int(value), now), model, now, true)
                past.absorb(.int(value), now)
            }
            now = wanted
            check(past.result(.int(value), now), model, now, false)
            if Int.random(in: 0..<3, using: &random) > 0 { value = Int64.random(in: values, using: &random) }
            let ahead = past.result(.int(value), now)
            past.absorb(.int(value), now)
            #expect(isClose(past.result(.int(value), now), ahead), "remembering a value changes no result")
            model.set(value, now)
            check(ahead, model, now, false)
            if step % 40 == 39 {
                // As over a restart, with another origin of time.
                let row = try #require(past.row(from: 17))
                past = Past.make(TimeOperator(kind, span: TimeSpan(nanoseconds: span)))
                #expect(past.take(row: row, from: 17))
                #expect(isClose(past.result(.int(value), now), ahead))
            }
        }
    }

    /// Equal, but for the last digits of a sum.
    private func isClose(_ a: Value, _ b: Value) -> Bool {
        guard case .double(let a) = a, case .double(let b) = b else { return a == b }
        return abs(a - b) <= 1e-9 * max(1, abs(b))
    }

    @Test("least and greatest are exact at every moment", arguments: freshSeeds(3))
    func extremes(seed: UInt64) throws {
        for kind in [TimeOperator.Kind.least, .greatest] {
            try play(kind, seed: seed) { result, model, now, _ in
                let values = model.parts(now - 6 * PastTests.second, now).map(\.value)
                #expect(result == .int((kind == .least ? values.min() : values.max()) ?? -1))
            }
        }
    }

    @Test("average and sum are exact at every step", arguments: freshSeeds(3))
    func windows(seed: UInt64) throws {
        for kind in [TimeOperator.Kind.average, .sum] {
            try play(kind, seed: seed) { result, model, now, hasStepped in
                guard hasStepped else { return }
                let parts = model.parts(now - 6 * PastTests.second, now)
                let total = parts.reduce(0.0) { $0 + Double($1.value) * $1.seconds }
                let weight = parts.reduce(0.0) { $0 + $1.seconds }
                let expected = kind == .sum ? total : total / weight
                guard case .double(let number) = result else { return #expect(Bool(false), "\(result)") }
                #expect(abs(number - expected) < 1e-9 * max(1, abs(expected)))
            }
        }
    }

    /// The totals of a counter at its reports, with a line between them.
    private struct CounterModel {
        var reports: [(time: Int64, total: Double)] = []
        /// The value that falls are compared with.
        var last: Int64?
        var wasZero = false

        mutating func report(_ value: Int64, _ now: Int64) {
            var increase: Int64 = 0
            if let mark = last {
                // A tenth less is a dip, and a 0 is a mistake if the value is back after it.
                let isDip = value < mark && Double(mark - value) <= 0.1 * Double(mark)
                let isZero = value == 0 && mark > 0 && !wasZero
                if value >= mark { increase = value - mark } else if !isDip, !isZero { increase = value }
                wasZero = isZero
                if value >= mark || !isDip && !isZero { last = value }
            } else {
                last = value
            }
            let total = (reports.last?.total ?? 0) + Double(increase)
            if reports.last?.time == now, reports.count > 1 { reports.removeLast() }
            reports.append((now, total))
        }

        func total(at time: Int64) -> Double {
            guard let after = reports.firstIndex(where: { $0.time > time }) else { return reports.last?.total ?? 0 }
            if after == 0 { return reports[0].total }
            let (a, b) = (reports[after - 1], reports[after])
            return a.total + (b.total - a.total) * Double(time - a.time) / Double(b.time - a.time)
        }

        func rate(_ span: Int64, _ now: Int64) -> Double {
            guard let first = reports.first, let last = reports.last, now - last.time < span else { return 0 }
            let length = min(span, last.time - first.time)
            return length > 0 ? (last.total - total(at: last.time - length)) / (Double(length) / 1e9) : 0
        }
    }

    @Test(
        "a rate is the part of the increases within the window that ends at the last report", arguments: freshSeeds(5))
    func rates(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let span = 6 * PastTests.second
        let operation = TimeOperator(.rate, span: TimeSpan(nanoseconds: span))
        var past = Past.make(operation)
        var model = CounterModel()
        var now = PastTests.start
        var value: Int64 = 0
        func check(_ result: Value, _ what: String) {
            guard case .double(let number) = result else { return #expect(Bool(false), "\(result)") }
            let expected = model.rate(span, now)
            #expect(abs(number - expected) < 1e-9 * max(1, expected), "\(what) at \(now)")
        }
        past.absorb(.int(value), now)
        model.report(value, now)
        for step in 0..<900 {
            let wanted = now + PastTests.second / 20 * Int64.random(in: 0...(step % 50 == 0 ? 300 : 20), using: &random)
            if let deadline = past.deadline(now), deadline <= wanted {
                #expect(deadline > now)
                now = deadline
                check(past.result(.int(value), now), "the end of a window")
            }
            now = wanted
            check(past.result(.int(value), now), "a wait")
            if Int.random(in: 0..<3, using: &random) > 0 {
                switch Int.random(in: 0..<12, using: &random) {
                case 0: value = 0
                case 1: value = value * Int64.random(in: 85...99, using: &random) / 100
                case 2: value = Int64.random(in: 0...9, using: &random)
                case 3: value = max(value, model.last ?? 0)
                default: value += Int64.random(in: 0...50, using: &random)
                }
            }
            let ahead = past.result(ofReport: .int(value), now)
            past.absorb(report: .int(value), now)
            model.report(value, now)
            check(ahead, "a report")
            check(past.result(.int(value), now), "a report that is remembered")
            if step % 40 == 39 {
                let row = try #require(past.row(from: 17))
                past = Past.make(operation)
                #expect(past.take(row: row, from: 17))
                check(past.result(.int(value), now), "a restart")
            }
        }
    }

    /// What a counter with a rule for falls has counted in the end.
    private func counted(_ values: [Value], _ falls: TimeOperator.Falls = TimeOperator.Falls()) -> Double {
        var counter = Counter(falls)
        return values.reduce(0) { $0 + counter.increase(to: $1) }
    }

    @Test("a small dip of a counter is ignored, and so is a single zero; other falls are new beginnings") func falls() {
        #expect(abs(counted([1000.1, 1000.06, 1000.2]) - 0.1) < 1e-9)
        #expect(counted([100, 91, 95, 110]) == 10)
        #expect(counted([100, 89, 95]) == 95)
        #expect(counted([83_291, 0, 83_292]) == 1)
        // Back, but a little lower.
        #expect(counted([83_291, 0, 83_290, 83_292]) == 1)
        #expect(counted([83_291, 0, 0, 5]) == 5)
        #expect(counted([83_291, 0, 5, 7]) == 7)
        #expect(counted([5, 0, 3, 4]) == 4)
        #expect(counted([10, -3, 2]) == 5)
        #expect(counted([.uint(7), .uint(9)]) == 2)
        #expect(counted([.int(.max - 1), .int(.max)]) == 1)
        var exact = TimeOperator.Falls()
        (exact.dip, exact.zeros) = (0, 0)
        #expect(counted([100, 91, 0, 100], exact) == 191)
        var patient = TimeOperator.Falls()
        (patient.dip, patient.zeros) = (0.5, 3)
        #expect(counted([100, 50, 0, 0, 0, 101], patient) == 1)
        #expect(counted([100, 0, 0, 0, 0, 101], patient) == 101)
    }

    @Test("a past of a rate that an earlier version has stored is taken") func earlierRate() throws {
        let past = Past.make(TimeOperator(.rate, span: TimeSpan(nanoseconds: 10 * PastTests.second)))
        let row = Value.list([
            20, .int(2 * PastTests.second), .int(0), 0.0, .int(PastTests.second), 5.0, .int(2 * PastTests.second), 20.0,
        ])
        #expect(past.take(row: row, from: 0))
        #expect(past.result(20, 2 * PastTests.second) == 10.0)
        past.absorb(report: 40, 4 * PastTests.second)
        #expect(past.result(40, 4 * PastTests.second) == 10.0)
    }

    @Test("a rate needs no timer while it is 0, and remembers equal reports as one stretch") func restingRate() throws {
        let past = Past.make(TimeOperator(.rate, span: TimeSpan(nanoseconds: 10 * PastTests.second)))
        for step in Int64(0)..<1000 {
            past.absorb(report: 7, step * PastTests.second)
            #expect(past.deadline(step * PastTests.second) == nil)
        }
        #expect(try #require(past.row(from: 0)?.list).count == 2 + 1 + 3 * 2)
    }

    @Test("held is true from the moment at which the condition has stood for the span") func holds() throws {
        let hold = Past.make(TimeOperator(.held, span: TimeSpan(nanoseconds: 5 * PastTests.second)))
        hold.absorb(true, 0)
        #expect(hold.result(true, 4_999_999_999) == false)
        #expect(hold.deadline(0) == 5 * PastTests.second)
        #expect(hold.result(true, 5 * PastTests.second) == true)
        #expect(hold.deadline(5 * PastTests.second) == nil)
        // In a transaction that sets it to false.
        #expect(hold.result(false, 6 * PastTests.second) == false)
        hold.absorb(false, 6 * PastTests.second)
        #expect(hold.deadline(6 * PastTests.second) == nil)
    }

    @Test("debounced shows the last value that stood for the span", arguments: freshSeeds(3))
    func debounced(seed: UInt64) throws {
        try play(.debounced, seed: seed, span: PastTests.second / 2) { result, model, now, _ in
            var expected = model.changes[0].value
            for (at, change) in model.changes.enumerated() {
                let end = at + 1 < model.changes.count ? model.changes[at + 1].time : now
                if end - change.time >= PastTests.second / 2 { expected = change.value }
            }
            #expect(result == .int(expected))
        }
    }

    @Test("throttled changes at most once in a span, and ends with the last value", arguments: freshSeeds(3))
    func throttled(seed: UInt64) throws {
        let span = PastTests.second / 2
        var shown: Value?
        var shownAt: Int64?
        try play(.throttled, seed: seed, span: span) { result, model, now, _ in
            if let known = shown, known != result {
                if let shownAt { #expect(now - shownAt >= span) }
                shownAt = now
            }
            shown = result
            if let shownAt, now - shownAt < span { return }
            #expect(result == model.value(now).map { .int($0) })
        }
    }

    @Test("smoothed follows the exponential and ends at the value itself")
    func smoothed() throws {
        let past = Past.make(TimeOperator(.smoothed, span: TimeSpan(nanoseconds: PastTests.second)))
        past.absorb(.int(0), 0)
        past.absorb(.int(100), PastTests.second)
        var now = PastTests.second
        var steps = 0
        while let deadline = past.deadline(now) {
            now = deadline
            steps += 1
            guard case .double(let level) = past.result(.int(100), now) else { return }
            if now == 2 * PastTests.second { #expect(abs(level - 100 * (1 - 0.36787944117144233)) < 1e-9) }
        }
        #expect(past.result(.int(100), now) == 100.0)
        // 6.9 spans of sixty steps each.
        #expect(steps == 415)
    }

    @Test("a window over a value that stays needs no timer and has exactly that value")
    func constant() {
        let past = Past.make(TimeOperator(.average, span: TimeSpan(nanoseconds: 60 * PastTests.second)))
        past.absorb(.double(0.1), PastTests.start)
        #expect(past.deadline(PastTests.start) == nil)
        #expect(past.result(.double(0.1), PastTests.start + 7) == 0.1)
        past.absorb(.double(0.3), PastTests.start + PastTests.second)
        #expect(past.deadline(PastTests.start + PastTests.second) == PastTests.start + 2 * PastTests.second)
        #expect(past.deadline(PastTests.start + 61 * PastTests.second) == nil)
        #expect(past.result(.double(0.3), PastTests.start + 61 * PastTests.second) == 0.3)
    }

    @Test("null is no number: it has no weight, and a rate begins again behind it")
    func gaps() {
        let average = Past.make(TimeOperator(.average, span: TimeSpan(nanoseconds: 60 * PastTests.second)))
        average.absorb(.null, 0)
        #expect(average.result(.null, 0) == .null)
        average.absorb(10, PastTests.second)
        average.absorb(.null, 2 * PastTests.second)
        average.absorb(20, 10 * PastTests.second)
        #expect(average.result(20, 11 * PastTests.second) == 15.0)
        let rate = Past.make(TimeOperator(.rate, span: TimeSpan(nanoseconds: 10 * PastTests.second)))
        rate.absorb(.null, 0)
        rate.absorb(1_000_000, PastTests.second)
        #expect(rate.result(1_000_000, PastTests.second) == 0.0)
        rate.absorb(1_000_010, 2 * PastTests.second)
        #expect(rate.result(1_000_010, 2 * PastTests.second) == 10.0)
    }

    @Test("the memory of an operator is bounded, whatever is written")
    func bounded() throws {
        for kind in [TimeOperator.Kind.least, .rate, .average, .history] {
            let past = Past.make(TimeOperator(kind, span: TimeSpan(nanoseconds: 100_000 * PastTests.second)))
            for step in Int64(0)..<20_000 { past.absorb(.int(step), step * PastTests.second) }
            let row = try #require(past.row(from: 0)?.list)
            #expect(row.count <= 3 * 1100)
            // Thinned out, and still of the right size.
            if kind == .least { #expect(past.result(19_999, 19_999 * PastTests.second) == 0) }
            if kind == .rate { #expect(past.result(19_999, 19_999 * PastTests.second) == 1.0) }
        }
    }

    @Test("a history has the least and the greatest value of each stretch")
    func chart() throws {
        let past = try #require(
            Past.make(TimeOperator(.history, span: TimeSpan(nanoseconds: 600 * PastTests.second))) as? Chart)
        let start = PastTests.start
        past.absorb(5, start)
        past.absorb(9, start + PastTests.second / 2)
        past.absorb(2, start + 3 * PastTests.second)
        let read = past.read(start + 4 * PastTests.second)
        #expect(read.map(\.time) == (0...4).map { start + Int64($0) * PastTests.second })
        #expect(read.map(\.bucket.least) == [5, 9, 9, 2, 2])
        #expect(read.map(\.bucket.greatest) == [9, 9, 9, 2, 2])
        #expect(past.read(start + 10_000 * PastTests.second).count == 600)
    }
}
