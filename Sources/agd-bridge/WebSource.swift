import AttributeValues
import RuleLanguage
import WireProtocol

/// An address that is fetched at regular times.
class WebSource {
    let feed: Feed
    private let transfer: Transfer
    private let interval: Double
    /// Monotonic seconds.
    private var fetchTime: Double

    /// - Parameter now: the first transfer begins up to a second later, so that all sources do not begin at once.
    init(_ feed: Feed, _ transfer: Transfer, interval: Double, _ now: Double) {
        (self.feed, self.transfer, self.interval) = (feed, transfer, interval)
        fetchTime = now + .random(in: 0...min(interval, 1))
    }

    /// The end of a transfer comes by itself.
    var nextTime: Double { transfer.isRunning ? .infinity : fetchTime }

    func work(_ now: Double) {
        guard now >= nextTime else { return }
        fetchTime = max(fetchTime + interval, now)
        transfer.fetch { [unowned self] result in
            switch result {
            case .failure(let error): feed.fail(error.message)
            case .success(let body):
                do throws(Failure) {
                    try body.withUnsafeBufferPointer { bytes throws(Failure) in try take(bytes) }
                    feed.succeed()
                } catch { feed.fail(error.message) }
            }
        }
    }

    /// - Throws: why the answer is no value.
    func take(_ body: UnsafeBufferPointer<UInt8>) throws(Failure) {}
}

/// An exporter in Prometheus' text format. Its series are the entries of a map.
final class ScrapeSource: WebSource, Source {
    private let path: String
    private let refreshTime: Double
    private var table: SeriesTable
    private var isNew = false
    private var wholeTime = 0.0

    static let accepted = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.9,*/*;q=0.1"

    init(_ scrape: Configuration.Scrape, _ settings: Configuration, _ feed: Feed, _ transfer: Transfer, _ now: Double) {
        path = scrape.target.description
        refreshTime = settings.refreshTime
        table = SeriesTable(limit: settings.entries)
        super.init(feed, transfer, interval: scrape.interval, now)
        feed.add(
            self, scrape.target.attribute,
            [
                "type": "map(string, double)", "transient": true,
                "entries": ["limit": .int(Int64(settings.entries))],
            ])
    }

    override func take(_ body: UnsafeBufferPointer<UInt8>) throws(Failure) {
        try table.take(body)
        isNew = true
    }

    func takeChanges() -> [Mutation] {
        guard isNew else { return [] }
        isNew = false
        // An entry that somebody lets expire is written again although it has stayed.
        let now = MonotonicTime.now
        let isWhole = now >= wholeTime
        if isWhole { wholeTime = now + refreshTime }
        let changes = table.takeChanges(isWhole: isWhole)
        return changes.isEmpty ? [] : [Mutation(operation: .merge, path: path, value: .map(changes))]
    }

    func forgetTaken() {
        table.forgetSent()
        isNew = table.count > 0
    }
}

/// A value that is sent as it came last.
final class LastValue: Source {
    private let path: String
    private let rule: Program?
    private let evaluator = Evaluator()
    private var last: Value?
    private var isNew = false

    /// A state of any type.
    static var document: Value { ["type": "dyn", "transient": true] }

    init(_ target: Configuration.Target, _ rule: Program?) { (path, self.rule) = (target.description, rule) }

    /// - Throws: why the rule has no value for it.
    func take(_ value: Value) throws(Failure) {
        last =
            try rule.map { (rule) throws(Failure) in
                do throws(Failure) {
                    return try evaluator.evaluate(rule, bindings: ValueMap([(.string("body"), value)])).get()
                } catch {
                    throw Failure(error.code, "the rule fails: \(error.message)")
                }
            } ?? value
        isNew = true
    }

    func takeChanges() -> [Mutation] {
        guard isNew, let last else { return [] }
        isNew = false
        return [Mutation(operation: .set, path: path, value: last)]
    }

    func forgetTaken() { isNew = last != nil }
}

/// JSON at an address.
final class PollSource: WebSource {
    private let value: LastValue
    private let parser = JSONParser()

    init(_ poll: Configuration.Poll, _ feed: Feed, _ transfer: Transfer, _ now: Double) {
        value = LastValue(poll.target, poll.rule)
        super.init(feed, transfer, interval: poll.interval, now)
        feed.add(value, poll.target.attribute, LastValue.document)
    }

    override func take(_ body: UnsafeBufferPointer<UInt8>) throws(Failure) {
        let parsed: Value
        do throws(Failure) { parsed = try parser.parse(body).value } catch {
            throw Failure(.invalid, "the answer is no JSON: \(error.message)")
        }
        try value.take(parsed)
    }
}
