import Archive
import AttributeValues
import GraphRuntime
import Replay
import WireProtocol

/// Answers `series`: runs the graph over the archive, from record to record and to the moments between them at which
/// clocks tick and operators change their results.
final class SeriesQuery {
    private let series: Request.Series
    private let past: Past
    private let client: ClientID
    private let peer: Peer
    private let principal: String?
    private let now: Timestamp
    private let mostSteps: Int
    private let mostCost: Int
    private var from = Timestamp.epoch
    private var to = Timestamp.epoch
    /// By number, as `Following` gives it.
    private var values: [StretchedValues] = []
    private var gaps: [(from: Timestamp, to: Timestamp)] = []
    private var isExact = true
    /// The first release that has recorded a part of it, and is another one than this.
    private var otherRelease: String?
    /// Bytes of values that the answer may still have.
    private var bytesLeft: Int

    static let mostAttributes = 1000
    /// Stretches of all attributes together.
    private static let mostStretches = 200_000
    /// Records and ticks.
    static let mostSteps = 10_000_000
    /// Steps of the rule, or of the rules that it reads, and of searches for attributes: about a minute.
    static let mostCost = 1_000_000_000

    init(
        _ series: Request.Series, in past: Past, for client: ClientID, _ peer: Peer, as principal: String?,
        now: Timestamp, atMost mostSteps: Int = SeriesQuery.mostSteps, costing mostCost: Int = SeriesQuery.mostCost
    ) {
        self.mostCost = mostCost
        self.mostSteps = mostSteps
        bytesLeft = past.outputMaximum
        (self.series, self.past, self.client, self.peer) = (series, past, client, peer)
        (self.principal, self.now) = (principal, now)
    }

    func answer() throws(Failure) -> Value {
        from = try moment(series.from)
        to = try series.to.map { (time) throws(Failure) in try moment(time) } ?? now
        guard let length = to.since(from)?.nanoseconds, length >= Int64(series.points) else {
            throw Failure(.invalid, "series: the end \(to) is not after the beginning \(from)")
        }
        let following = try walk(try source)
        for number in values.indices where values[number].isEmpty && values[number].error == nil {
            values[number].error = following.whyMissing(number)
        }
        if case .rule = series.subject, let error = values[0].error, values[0].isEmpty,
            [.ruleSyntax, .ruleType, .notFound].contains(error.code)
        {
            throw error
        }
        return try told(following.names, length)
    }

    /// The time of a moment.
    private func moment(_ time: PastTime) throws(Failure) -> Timestamp {
        guard case .revision(let revision, _) = time else {
            guard case .time(let wall) = time else { return from }
            return wall
        }
        for segment in Segment.all(in: past.folder).reversed() {
            guard let reader = SegmentReader(segment.number, in: past.folder), reader.basis.reaches(time) else {
                continue
            }
            var found = reader.basis.wall
            try reader.read { record in
                guard case .transaction(let transaction) = record else { return true }
                if transaction.revision <= revision, transaction.isRevision { found = transaction.wall }
                return transaction.revision < revision
            }
            return found
        }
        throw Failure(.notFound, "the archive does not have the revision \(revision)")
    }

    private var source: FollowedSource {
        get throws(Failure) {
            switch series.subject {
            case .rule(let text, let at): return .rule(text, at: try AttributePath(node: at))
            case .attributes(let texts):
                var patterns: [PathPattern] = []
                for text in texts { patterns.append(try PathPattern(text)) }
                return .attributes(patterns)
            }
        }
    }

    // MARK: Walking

    private func nanoseconds(_ time: Timestamp) -> Int64 {
        time.since(from)?.nanoseconds ?? (time < from ? .min / 2 : .max / 2)
    }

    private func begin(at time: Timestamp) throws(Failure) -> PastGraph {
        try PastGraph(
            past, at: .time(time), orLater: true, for: PastClient(client, peer, as: principal), monotonic: { 0 })
    }

    private func follow(_ source: FollowedSource, in graph: PastGraph) throws(Failure) -> Following {
        let most = min(SeriesQuery.mostAttributes, SeriesQuery.mostStretches / series.points)
        return try Following(source, in: graph.runtime, for: client, atMost: most) { [unowned graph] in
            take($0, $1, at: graph.position.wall)
        }
    }

    private func walk(_ source: FollowedSource) throws(Failure) -> Following {
        var graph = try begin(at: from)
        var following = try follow(source, in: graph)
        // Operators over time know what was before.
        if following.lookback.nanoseconds > 0,
            let earlier = from.advanced(by: TimeSpan(nanoseconds: -following.lookback.nanoseconds))
        {
            values = []
            graph = try begin(at: earlier)
            following = try follow(source, in: graph)
        }
        graph.onBurst = { [unowned self, unowned graph] in
            note(following.number(of: $0.path), $1, $2, at: graph.position.wall)
        }
        if graph.position.wall > from { gaps.append((from, graph.position.wall)) }
        let end = min(to, now)
        var steps = 0
        while true {
            if otherRelease == nil { otherRelease = graph.otherRelease }
            let (life, generation, before) = (graph.life, graph.generation, graph.position.wall)
            let next = try graph.nextTime()
            if graph.life != life { interrupt(from: before, to: graph.position.wall) }
            if graph.generation != generation { try move(following, to: graph) }
            try takeChanges(following, graph)
            if graph.life != life { continue }
            let due = graph.runtime.nextPassing.map { max($0, graph.position.wall) }
            guard let moment = [next, due].compactMap(\.self).min(), moment < end else { break }
            // Nobody knows what was after the end of the last life.
            if next == nil, graph.hasEnded { break }
            steps += 1
            guard steps <= mostSteps else {
                throw Failure(
                    .limit, "more than \(mostSteps) records and ticks of clocks until \(graph.position.wall)",
                    hint: "ask for a shorter time")
            }
            if let next, due.map({ next <= $0 }) ?? true { try graph.step() } else { graph.pass(to: moment) }
            if graph.generation != generation { try move(following, to: graph) }
            try takeChanges(following, graph)
            if bytesLeft < 0 { throw tooLong }
            guard following.cost <= mostCost else {
                throw Failure(
                    .limit, "the rules cost more than \(mostCost) steps until \(graph.position.wall)",
                    hint: "ask for a shorter time or less")
            }
        }
        if graph.hasEnded { interrupt(from: graph.position.wall, to: end) }
        for number in values.indices { values[number].advance(to: nanoseconds(end)) }
        return following
    }

    private func takeChanges(_ following: Following, _ graph: PastGraph) throws(Failure) {
        try following.takeChanges { [unowned graph] in take($0, $1, at: graph.position.wall) }
    }

    private func move(_ following: Following, to graph: PastGraph) throws(Failure) {
        try following.move(to: graph.runtime) { [unowned graph] in take($0, $1, at: graph.position.wall) }
    }

    private func take(_ number: Int, _ content: Content?, at time: Timestamp) {
        while values.count <= number {
            values.append(
                StretchedValues(length: nanoseconds(to), count: series.points, keepsSteps: series.changes))
        }
        let before = values[number].size
        values[number].set(content, at: nanoseconds(time))
        bytesLeft -= values[number].size - before
    }

    /// Nothing is known of a time.
    private func interrupt(from begin: Timestamp, to end: Timestamp) {
        for number in values.indices { values[number].set(nil, at: nanoseconds(begin)) }
        let (begin, end) = (max(begin, from), min(end, to, now))
        if begin < end { gaps.append((begin, end)) }
    }

    private func note(_ number: Int?, _ least: Value, _ greatest: Value, at time: Timestamp) {
        guard time >= from, time < to else { return }
        isExact = false
        guard let number else { return }
        values[number].note(least, at: nanoseconds(time))
        values[number].note(greatest, at: nanoseconds(time))
    }

    // MARK: The answer

    private func told(_ names: [String], _ length: Int64) throws(Failure) -> Value {
        func moment(_ nanoseconds: Int64) -> Value {
            .timestamp(from.advanced(by: TimeSpan(nanoseconds: nanoseconds)) ?? to)
        }
        let order: [Int]
        if case .rule = series.subject {
            order = [0]
        } else {
            order = names.indices.sorted { Name(names[$0]) < Name(names[$1]) }
        }
        let told = order.map { number -> Value in
            var map = ValueMap()
            switch series.subject {
            case .attributes: map["path"] = Value.string(names[number])
            case .rule(let text, let at):
                map["expression"] = Value.string(text)
                map["at"] = Value.string(at)
            }
            for (name, value) in values[number].answer(typed: series.typed, moment: moment) { map[name] = value }
            return .map(map)
        }
        var map = ValueMap([
            ("from", .timestamp(from)), ("to", .timestamp(to)),
            ("step", .double(Double(length) / Double(series.points) / 1e9)),
            ("gaps", .list(ValueList(gaps.map { ["from": .timestamp($0.from), "to": .timestamp($0.to)] }))),
            ("exact", .bool(isExact)),
        ])
        if let otherRelease { map["recordedBy"] = Value.string(otherRelease) }
        map["series"] = Value.list(ValueList(told))
        let answer = Value.map(map)
        bytesLeft = past.outputMaximum
        answer.draw(from: &bytesLeft, isTyped: false)
        if bytesLeft < 0 { throw tooLong }
        return answer
    }

    private var tooLong: Failure {
        Failure(
            .limit, "the answer would have more than \(past.outputMaximum) bytes (output-maximum)",
            hint: "name fewer attributes, or ask for fewer points or for a shorter time")
    }
}
