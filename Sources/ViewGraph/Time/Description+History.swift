import AttributeGraph
import AttributeValues
import RuleLanguage

extension Description {
    /// The recorded history of an attribute: the least and the greatest value of each stretch of time, oldest first.
    public struct RecordedHistory {
        public var span: TimeSpan
        /// The length of a stretch.
        public var step: TimeSpan
        public var stretches: [(beginning: Timestamp, least: Double, greatest: Double)]
    }

    /// - Throws: `notFound` if nothing is recorded, and `limit`.
    public func recordedHistory(of place: Place, named path: String) throws(Failure) -> RecordedHistory {
        let target =
            place.steps.isEmpty && graph.record(place.attribute).definition?.history != nil
            ? place : graph.follow(place)
        guard target.steps.isEmpty, graph.isVisible(target.attribute),
            let span = graph.attributes[target.attribute]?.definition?.history
        else {
            throw Failure(
                .notFound, "\(path) has no history", path: path,
                hint: "define it with one, as {initial: 0, history: 10m} or {rule: a + b, history: 10m}")
        }
        guard let vertex = graph.record(target.attribute).history, case .timed(let value) = graph.record(vertex).source,
            let chart = value.past as? Chart
        else {
            throw Failure(
                .limit,
                "\(path) is not recorded, because there were \(graph.limits.timedValues) operators over time already",
                path: path, hint: "the setting time-operators is the limit")
        }
        let stretches = chart.read(graph.timedValues.now)
        try graph.charge(stretches.count)
        return RecordedHistory(
            span: span, step: TimeSpan(nanoseconds: chart.width),
            stretches: stretches.map {
                (graph.timedValues.time.wallTime(of: $0.time), $0.bucket.least, $0.bucket.greatest)
            })
    }
}
