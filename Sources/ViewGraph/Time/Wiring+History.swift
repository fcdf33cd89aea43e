import AttributeGraph
import AttributeValues
import RuleLanguage

// An attribute with `history` uses a vertex that records it, as a rule uses the operators that it names.

extension Wiring {
    /// Begins or ends the record of an attribute's past, as its definition says.
    func connectHistory(of attribute: AttributeID) {
        let record = record(attribute)
        guard record.history != nil || record.definition?.history != nil else { return }
        let operation = record.definition?.history.map { TimeOperator(.history, span: $0) }
        let wanted = operation.flatMap { timedVertex($0, of: attribute) }
        guard wanted != record.history else { return }
        releaseHistory(of: record)
        if let wanted { holdShared(wanted) }
        attributes[Int(attribute.index)]?.history = wanted
    }

    func releaseHistory(of record: AttributeRecord) {
        var record = record
        guard let vertex = record.history else { return }
        record.history = nil
        releaseShared(vertex)
    }

    /// The recorded history of an attribute: the least and the greatest value of each stretch of time, oldest first.
    public struct RecordedHistory {
        public var span: TimeSpan
        /// The length of a stretch.
        public var step: TimeSpan
        public var stretches: [(beginning: Timestamp, least: Double, greatest: Double)]
    }

    /// - Throws: `notFound` if nothing is recorded, and `limit`.
    public func recordedHistory(of place: Place, named path: String) throws(Failure) -> RecordedHistory {
        let target = place.steps.isEmpty && record(place.attribute).definition?.history != nil ? place : follow(place)
        guard target.steps.isEmpty, isVisible(target.attribute),
            let span = attributes[Int(target.attribute.index)]?.definition?.history
        else {
            throw Failure(
                .notFound, "\(path) has no history", path: path,
                hint: "define it with one, as {initial: 0, history: 10m} or {rule: a + b, history: 10m}")
        }
        guard let vertex = record(target.attribute).history, case .timed(let value) = record(vertex).source,
            let chart = value.past as? Chart
        else {
            throw Failure(
                .limit, "\(path) is not recorded, because there were \(limits.timedValues) operators over time already",
                path: path, hint: "the setting time-operators is the limit")
        }
        let stretches = chart.read(timedValues.now)
        try charge(stretches.count)
        return RecordedHistory(
            span: span, step: TimeSpan(nanoseconds: chart.width),
            stretches: stretches.map {
                (timedValues.wallTime(of: $0.time), $0.bucket.least, $0.bucket.greatest)
            })
    }
}
