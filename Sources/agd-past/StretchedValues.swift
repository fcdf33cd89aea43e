import AttributeValues

/// What one attribute or rule was over a time, in stretches of equal length. Times are nanoseconds since its beginning.
struct StretchedValues {
    private let length: Int64
    private let count: Int
    private var least: [Double]
    private var greatest: [Double]
    /// The sum of numbers times nanoseconds, and the nanoseconds with a number.
    private var sums: [Double]
    private var weights: [Double]
    private var last: [Value?]
    private var changes: [Int64]
    /// What it is now; nil: it is not there, or nothing is known.
    private var present: Content?
    private var number: Double?
    /// The last value that was no error.
    private var known: Value?
    /// The last error.
    var error: Failure?
    /// The present moment, the stretch that it is in, and the end of that.
    private var time: Int64 = 0
    private var stretch = 0
    private var end: Int64
    /// Bytes of its values in the answer, about.
    private(set) var size = 0
    /// nil: each change is not asked for.
    private var steps: [(time: Int64, content: Content?)]?
    private var hasMore = false

    static let mostSteps = 10_000

    init(length: Int64, count: Int, keepsSteps: Bool) {
        (self.length, self.count) = (length, count)
        least = Array(repeating: .infinity, count: count)
        greatest = Array(repeating: -.infinity, count: count)
        sums = Array(repeating: 0, count: count)
        weights = sums
        last = Array(repeating: nil, count: count)
        changes = Array(repeating: 0, count: count)
        if keepsSteps { steps = [(0, nil)] }
        end = 0
        end = bound(0)
    }

    /// The end of a stretch.
    private func bound(_ stretch: Int) -> Int64 { Int64(Int128(length) * Int128(stretch + 1) / Int128(count)) }

    /// Notes what it is from a moment on. At the beginning and before it, that is no change.
    mutating func set(_ content: Content?, at moment: Int64) {
        if content == present { return }
        if moment > time { advance(to: moment) }
        if moment >= length { return }
        present = content
        number = content?.value.flatMap(StretchedValues.number)
        if case .failure(let failure)? = content { error = failure }
        noteStep(at: max(0, moment))
        guard moment > 0, let value = content?.value else { return }
        if let known, known != value { changes[stretch] += 1 }
        known = value
        last[stretch] = value
        if let number { note(number) }
    }

    /// True if it never had a value.
    var isEmpty: Bool { known == nil }

    /// Notes a value that it had for a moment.
    mutating func note(_ value: Value, at moment: Int64) {
        advance(to: moment)
        if time < length, let number = StretchedValues.number(value) { note(number) }
    }

    private mutating func note(_ number: Double) {
        least[stretch] = min(least[stretch], number)
        greatest[stretch] = max(greatest[stretch], number)
    }

    private mutating func noteStep(at moment: Int64) {
        guard let count = steps?.count else { return }
        if moment == 0 { return steps = [(0, present)] }
        if count >= StretchedValues.mostSteps { return hasMore = true }
        steps?.append((moment, present))
        measure(present?.value)
    }

    private mutating func measure(_ value: Value?) {
        var budget = Int.max
        value?.draw(from: &budget, isTyped: false)
        size = size.addingReportingOverflow(.max - budget).partialValue
    }

    /// Lets time pass in which nothing changes.
    mutating func advance(to moment: Int64) {
        let moment = min(moment, length)
        while true {
            let next = min(moment, end)
            if next > time, let value = present?.value {
                if let number {
                    note(number)
                    sums[stretch] += number * Double(next - time)
                    weights[stretch] += Double(next - time)
                }
                known = value
                last[stretch] = value
            }
            time = max(time, next)
            guard time == end, stretch + 1 < count else { return }
            measure(last[stretch])
            stretch += 1
            end = bound(stretch)
        }
    }

    /// A bool counts as 0 and 1.
    private static func number(_ value: Value) -> Double? {
        if case .bool(let flag) = value { return flag ? 1 : 0 }
        return value.number.flatMap { $0.isFinite ? $0 : nil }
    }

    // MARK: The answer

    /// - Parameter moment: gives the time of a moment.
    func answer(typed: Bool, moment: (Int64) -> Value) -> ValueMap {
        func told(_ value: Value) -> Value { typed ? value.typedJSON : value }
        func list(_ value: (Int) -> Value) -> Value { .list(ValueList((0..<count).map(value))) }
        var map = ValueMap()
        map["least"] = list { least[$0].isFinite ? .double(least[$0]) : .null }
        map["greatest"] = list { greatest[$0].isFinite ? .double(greatest[$0]) : .null }
        map["average"] = list { weights[$0] > 0 ? .double(sums[$0] / weights[$0]) : .null }
        map["last"] = list { last[$0].map(told) ?? .null }
        map["changes"] = list { .int(changes[$0]) }
        if let error { map["error"] = error.json }
        if let steps {
            map["steps"] = Value.list(
                ValueList(
                    steps.map { step in
                        var change = ValueMap()
                        change["time"] = moment(step.time)
                        switch step.content {
                        case .value(let value)?: change["value"] = told(value)
                        case .failure(let failure)?: change["error"] = Value.string(failure.code.rawValue)
                        case nil: break
                        }
                        return .map(change)
                    }))
        }
        if hasMore { map["more"] = true }
        return map
    }
}
