import AGClient
import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

/// What a rule was over a time, from agd-past.
struct RuleSeries {
    let answer: ValueMap
    /// The series of the rule.
    private let series: ValueMap

    /// - Parameters:
    ///   - span: the time, which ends now, or at the moment of `--time`.
    ///   - lead: so much before it is asked for, too.
    init(
        _ rule: String, at node: String, over span: TimeSpan, lead: TimeSpan = TimeSpan(nanoseconds: 0), points: Int,
        changes: Bool, _ session: Session
    ) throws {
        let end = try RuleSeries.end(session)
        let back = TimeSpan(nanoseconds: -(span.nanoseconds &+ lead.nanoseconds))
        guard let begin = end.advanced(by: back), begin < end else {
            throw Complaint(.usage, "--over \(span): the time is too long")
        }
        let past = try session.past()
        func ask(from: Timestamp) throws(ClientError) -> ValueMap {
            try past.call(
                .series(
                    Request.Series(
                        .rule(rule, at: node), from: .time(from), to: .time(end), points: points, changes: changes))
            ).map ?? ValueMap()
        }
        answer = try ask(from: begin)
        session.tellRelease(in: answer)
        var series = answer["series"]?.list?.first?.map ?? ValueMap()
        var steps = Array(series["steps"]?.list ?? [])
        // The next answer begins with the last step of this one.
        while series["more"] == true, let last = steps.popLast()?.map?["time"]?.string.flatMap({ Timestamp($0) }) {
            series = try ask(from: last)["series"]?.list?.first?.map ?? ValueMap()
            steps += series["steps"]?.list ?? []
        }
        self.series = series
        self.steps = steps.compactMap { step in
            guard let map = step.map, let time = map["time"]?.string.flatMap({ Timestamp($0) }) else { return nil }
            return (time, map["value"])
        }
    }

    /// Each change, and what the rule was from then on; nil: an error, or nothing is known.
    let steps: [(time: Timestamp, value: Value?)]

    var from: Timestamp { answer["from"]?.string.flatMap { Timestamp($0) } ?? .epoch }
    var to: Timestamp { answer["to"]?.string.flatMap { Timestamp($0) } ?? .epoch }
    private var step: Double { answer["step"]?.number ?? 0 }

    private static func end(_ session: Session) throws(Complaint) -> Timestamp {
        switch session.location.time {
        case .time(let time)?: return time
        case .revision?:
            throw Complaint(.usage, "--over ends at a time, not at a revision", hint: "as --time 03:12")
        case nil:
            var now = timespec()
            clock_gettime(CLOCK_REALTIME, &now)
            return Timestamp(seconds: Int64(now.tv_sec), nanoseconds: Int64(now.tv_nsec)) ?? .epoch
        }
    }

    // MARK: Text

    private func list(_ name: String) -> [Value] { Array(series[name]?.list ?? []) }

    /// A bar for each stretch, as high as the greatest value in it, and a space where nothing is known.
    var sparkline: String? {
        let greatest = list("greatest").map(\.number)
        let least = list("least").compactMap(\.number)
        guard var low = least.min(), var high = greatest.compactMap(\.self).max() else { return nil }
        if isBool { (low, high) = (0, 1) }
        let signs = Array("▁▂▃▄▅▆▇█")
        return String(
            greatest.map { value -> Character in
                guard let value else { return " " }
                return high > low ? signs[min(7, Int((value - low) / (high - low) * 8))] : signs[0]
            })
    }

    /// The figures of the whole time in one line.
    var summary: String {
        let last = list("last").last { $0 != .null }
        var parts: [String] = []
        if isBool {
            let share = averages.reduce(0, +) / Double(max(1, averages.count))
            parts.append("true for \(RuleSeries.short((share * 1000).rounded() / 10)) % of the time")
        } else if let low = list("least").compactMap(\.number).min(),
            let high = list("greatest").compactMap(\.number).max(), !averages.isEmpty
        {
            let average = averages.reduce(0, +) / Double(averages.count)
            parts += [
                "least \(RuleSeries.short(low))", "average \(RuleSeries.short(average))",
                "greatest \(RuleSeries.short(high))",
            ]
        }
        parts.append(last.map { "last \(RuleSeries.shown($0))" } ?? "nothing is known")
        return parts.joined(separator: ", ")
    }

    private var averages: [Double] { list("average").compactMap(\.number) }
    /// True if the bars say it all.
    var isNumber: Bool { !isBool && !averages.isEmpty }
    private var isBool: Bool { list("last").contains { if case .bool = $0 { true } else { false } } }

    private static func shown(_ value: Value) -> String {
        if case .double(let number) = value { short(number) } else { value.jsonText.printable }
    }

    /// At most four digits behind the point.
    static func short(_ number: Double) -> String {
        let rounded = (number * 10_000).rounded() / 10_000
        return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int64(rounded))" : "\(rounded)"
    }

    /// A line for each stretch.
    var table: TextTable {
        let columns = ["least", "average", "greatest"].map { list($0) }
        let last = list("last")
        let rows = last.indices.map { position -> [String] in
            let begin = from.advanced(by: TimeSpan(nanoseconds: Int64(Double(position) * step * 1e9))) ?? from
            let numbers = columns.map { position < $0.count ? $0[position].number.map(RuleSeries.short) ?? "-" : "-" }
            return [LocalTime.text(begin)] + numbers + [
                last[position] == .null ? "-" : RuleSeries.shown(last[position])
            ]
        }
        return TextTable(rows: [["from", "least", "average", "greatest", "last"]] + rows)
    }

    /// The last changes, and how long each value stayed.
    func changes(rows: Int) -> TextTable {
        let first = max(0, steps.count - rows)
        let lines = steps.indices[first...].map { position -> [String] in
            let end = position + 1 < steps.count ? steps[position + 1].time : to
            let value = steps[position].value.map(RuleSeries.shown) ?? "-"
            return [
                LocalTime.text(steps[position].time), RuleSeries.length(from: steps[position].time, to: end), value,
            ]
        }
        return TextTable(rows: lines)
    }

    static func length(from: Timestamp, to: Timestamp) -> String {
        DashText.duration(to.since(from)?.seconds ?? 0)
    }

    var gaps: [Gap] { Gap.all(in: answer) }
}

/// A time of which nothing is known.
struct Gap {
    var from: Timestamp
    var to: Timestamp

    /// The gaps that an answer of agd-past names, in its order.
    static func all(in answer: ValueMap) -> [Gap] {
        (answer["gaps"]?.list ?? []).compactMap { gap in
            guard let from = gap.map?["from"]?.string.flatMap({ Timestamp($0) }),
                let to = gap.map?["to"]?.string.flatMap({ Timestamp($0) })
            else { return nil }
            return Gap(from: from, to: to)
        }
    }

    var text: String { "nothing was recorded from \(LocalTime.text(from)) to \(LocalTime.text(to))" }
}

/// Times as people of the machine's time zone read them.
enum LocalTime {
    /// To the second.
    static func text(_ time: Timestamp) -> String {
        var seconds = Int(time.seconds)
        var date = tm()
        localtime_r(&seconds, &date)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, "%F %T", &date)
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The times at which a rule would have made `agctl when` run its command.
struct Firings {
    struct Firing {
        /// When the rule became true, and when the command would have run.
        var from: Timestamp
        var fired: Timestamp
        /// When the rule became false; nil: it has not.
        var until: Timestamp?
    }

    private(set) var all: [Firing] = []

    /// - Parameters:
    ///   - steps: the changes of the rule; nil: nobody knows.
    ///   - delay: for so many seconds the rule has to stay true.
    ///   - begin: what would have been before is left out.
    init(
        _ steps: [(time: Timestamp, isTrue: Bool?)], delay: Double, skipsFirst: Bool, from begin: Timestamp,
        to end: Timestamp
    ) {
        var edge = RisingEdge(delay: delay, skipsFirst: skipsFirst)
        /// When the rule became true.
        var since: Timestamp?
        var open: Firing?
        func seconds(_ time: Timestamp) -> Double { time.since(begin)?.seconds ?? 0 }
        for (number, step) in steps.enumerated() {
            edge.note(step.isTrue, at: seconds(step.time))
            if step.isTrue == true { since = since ?? step.time }
            if step.isTrue == false {
                open?.until = step.time
                if let open { all.append(open) }
                (since, open) = (nil, nil)
            }
            // Until then, nothing changes.
            let next = number + 1 < steps.count ? steps[number + 1].time : end
            guard let from = since, edge.takeIfDue(at: seconds(next)) else { continue }
            let due = from.advanced(by: TimeSpan(nanoseconds: Int64((delay * 1e9).rounded()))) ?? from
            open = Firing(from: from, fired: max(due, step.time), until: nil)
        }
        if let open { all.append(open) }
        all.removeAll { $0.fired < begin }
    }

    static func table(_ firings: [Firing], to end: Timestamp) -> TextTable {
        TextTable(
            rows: [["fired", "true from", "until", "for"]]
                + firings.map { firing in
                    [
                        LocalTime.text(firing.fired), LocalTime.text(firing.from),
                        firing.until.map(LocalTime.text) ?? "-",
                        RuleSeries.length(from: firing.from, to: firing.until ?? end),
                    ]
                })
    }
}

extension Firings.Firing {
    var json: Value {
        [
            "fired": .timestamp(fired), "from": .timestamp(from), "until": until.map { .timestamp($0) } ?? .null,
        ]
    }
}
