import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// Times of reports, for subscriptions that ask for them. A watched attribute then has a second vertex: the time of its
// last report. A report of an equal value marks that vertex. It is read once each second at most, and the graph does
// not mark it again before. So a value that is reported a thousand times a second costs one update.

/// The time of a watched attribute's last report.
struct WatchedReport {
    let vertex: AttributeID
    /// When it was made, on `ViewGraph.reportClock`. Reports before it are not known.
    let madeAt: Int64
    /// The last report that watchers were told with a change or an equal report.
    var told: Int64
}

/// The vertices with the times, and those that are due.
final class WatchedReports {
    private let graph: ViewGraph
    private var attributes: [AttributeID: AttributeID] = [:]
    private var due: Set<AttributeID> = []
    /// When the attributes that are due may be told, in monotonic seconds; nil: none is due.
    private(set) var deadline: Double?
    private var lastRound = -Double.infinity

    /// Seconds between two updates that tell only of equal reports.
    static let interval = 1.0

    init(_ graph: ViewGraph) { self.graph = graph }

    func begin(of attribute: AttributeID) -> WatchedReport {
        let vertex = graph.makeReportTime(of: attribute)
        attributes[vertex] = attribute
        graph.beginWatch(of: vertex)
        _ = graph.content(of: vertex)
        return WatchedReport(vertex: vertex, madeAt: graph.reportClock, told: graph.reportClock)
    }

    func end(_ report: inout WatchedReport?) {
        guard let ended = report else { return }
        report = nil
        if let attribute = attributes.removeValue(forKey: ended.vertex) { due.remove(attribute) }
        if due.isEmpty { deadline = nil }
        graph.endWatch(of: ended.vertex)
    }

    /// Notes that a vertex has changed, if it has the time of a report.
    func note(_ vertex: AttributeID, at now: Double) {
        guard let attribute = attributes[vertex] else { return }
        due.insert(attribute)
        if deadline == nil { deadline = max(now, lastRound + WatchedReports.interval) }
    }

    func takeDue(at now: Double) -> Set<AttributeID> {
        defer { (due, deadline, lastRound) = ([], nil, now) }
        return due
    }
}

extension Watching {
    /// The time in a change of this moment; nil for a topic without reports.
    func reportedNow(_ topic: Topic) -> Double? { topic.key.reports ? now : nil }

    /// The time in a change that tells a present value.
    func reported(_ attribute: AttributeID, _ topic: Topic) -> Double? {
        guard topic.key.reports, let report = topics[attribute]?.report else { return nil }
        let last = graph.lastReport(in: report.vertex) ?? graph.reportClock
        if last == report.madeAt, let age = ageOfChange(attribute) { return now - age }
        return now - Double(graph.reportClock - last) / 1e9
    }

    /// Seconds since the last change, which is a report of which the graph knows although nobody has asked for reports
    /// then.
    private func ageOfChange(_ attribute: AttributeID) -> Double? {
        guard let origin = graph.provenance.originState(of: attribute), graph.isState(origin) else { return nil }
        return history.recorded(at: graph.lastChange(of: origin)).flatMap { turn.now.wall.since($0.wall)?.seconds }
    }

    /// Tells reports of equal values.
    func deliverDueReports() {
        guard let deadline = topics.reports.deadline, deadline <= now else { return }
        var told: [Int64: (topic: Topic, attributes: [AttributeID])] = [:]
        for attribute in topics.reports.takeDue(at: now) {
            guard let watch = topics[attribute], let report = watch.report,
                let time = graph.lastReport(in: report.vertex), time > report.told
            else { continue }
            watch.report?.told = time
            for topic in watch.topics where topic.key.reports && topic.key.events.contains(.update) {
                told[topic.number, default: (topic, [])].attributes.append(attribute)
            }
        }
        for (_, (topic, attributes)) in told.sorted(by: { $0.key < $1.key }) { deliverReports(attributes, of: topic) }
    }

    private func deliverReports(_ attributes: [AttributeID], of topic: Topic) {
        var members: [Subscription] = []
        for member in topic.members {
            guard member.mustWait(at: now) else {
                members.append(member)
                continue
            }
            sender.delay(for: member) { pending in
                pending.reported.formUnion(attributes)
                guard pending.from == nil else { return }
                pending.from = history.revision
                pending.since = graph.stamp
            }
        }
        if members.isEmpty { return }
        let reported = Set(attributes)
        let changes = presentChanges(topic.order.filter(reported.contains), of: topic)
        let update = updateEvent(changes, of: topic)
        if !sender.writing(changes, isTyped: topic.key.typed, { sender.send(update, to: members) }) {
            endForLength(members)
        }
    }
}
