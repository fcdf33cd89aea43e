import AGClient
import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

/// Tells one receiver what the alerts of an `alerts` line want people to know, each notice at least once. Alerts keep
/// under the receiver's name what it has got, so nothing is lost when the bridge or the daemon is started anew.
final class Courier {
    private struct Entry {
        var notice: Value?
        var alert: Value?
        var sent: Value?
        /// The record of the notice that the receiver has accepted, until the daemon has confirmed that it stores it.
        var delivered: Value?
        /// Monotonic seconds of the last delivery.
        var deliveryTime = 0.0
        var attempts = 0

        /// Another daemon tells it again.
        mutating func forget() { (notice, alert, sent) = (nil, nil, nil) }
    }

    private static let attributes = ["notice", "alert", "sent"]
    /// How often a program is looked for that has closed its output.
    private static let shortPause = 0.02
    private static let readSize = 4096

    private let line: Configuration.Alerts
    private let host: String
    private let time: Double
    private let limit: Int
    private let graph: Graph
    /// nil if a program gets the notices.
    private let transfer: Transfer?
    private var subscription: Int64?
    private var entries: [String: Entry] = [:]
    /// Alerts whose notice the receiver does not have.
    private var due: Set<String> = []
    /// The notice that is being sent.
    private var sending: Notice?
    private var process: pid_t?
    /// The program's output; -1 without one.
    private(set) var descriptor: Int32 = -1
    private var end = Double.infinity
    private var retryTime = 0.0
    private var backoff = Backoff(first: 1, longest: 60)
    private var log: Log
    private(set) var delivered = 0
    private(set) var failures = 0

    var name: String { line.name }
    var waiting: Int { due.count }

    init(_ line: Configuration.Alerts, _ settings: Configuration, _ graph: Graph, _ transfer: Transfer?) {
        (self.line, self.graph, self.transfer) = (line, graph, transfer)
        (time, limit) = (settings.answerTime, settings.entries)
        log = Log(subject: "alerts to \(line.name)")
        var system = utsname()
        uname(&system)
        host = withUnsafeBytes(of: system.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if let process { ChildProcess.end(process) }
    }

    // MARK: From the graph

    /// A daemon has accepted the connection.
    func subscribe() {
        subscription = nil
        let request = Request.Subscribe(
            patterns: Courier.attributes.map { "\(line.pattern).\($0)" }, events: [.update, .structure])
        graph.subscribe(request) { [unowned self] result in
            do throws(Failure) { subscription = try result.get() } catch {
                log.report("subscribe", error.message, .error)
            }
        }
    }

    func receive(_ number: Int64, _ event: Event) {
        guard subscription == number else { return }
        switch event {
        case .update(_, _, _, _, let isInitial, let changes, _):
            if isInitial {
                for path in entries.keys { entries[path]?.forget() }
            }
            var changed: Set<String> = []
            for change in changes {
                if let path = take(change) { changed.insert(path) }
            }
            if isInitial { entries = entries.filter { changed.contains($0.key) } }
            due.formIntersection(entries.keys)
            for path in changed { check(path) }
        case .structure(_, _, let removed, _, _):
            for path in removed { remove(below: path) }
        case .ended(_, let reason): log.report("subscribe", "agd has ended the subscription: \(reason)", .error)
        default: break
        }
    }

    private func take(_ change: Change) -> String? {
        guard let place = try? AttributePath(change.path), let attribute = place.attribute else { return nil }
        let path = AttributePath.describe(nodes: place.nodes)
        guard entries[path] != nil || entries.count < limit else {
            log.report("limit", "there are more than \(limit) alerts (the setting 'entries' is the limit)")
            return nil
        }
        var value: Value?
        if case .value(let present) = change.content { value = present }
        switch attribute {
        case "notice": entries[path, default: Entry()].notice = value
        case "alert": entries[path, default: Entry()].alert = value
        default: entries[path, default: Entry()].sent = value
        }
        return path
    }

    private func remove(below path: String) {
        for known in entries.keys where known == path || known.hasPrefix(path + "/") {
            entries[known] = nil
            due.remove(known)
        }
    }

    private func notice(of path: String) -> Notice? {
        entries[path].flatMap { Notice(path, notice: $0.notice, alert: $0.alert) }
    }

    /// Compares what the receiver shall have with what it has.
    private func check(_ path: String) {
        guard let entry = entries[path], let record = notice(of: path)?.record else {
            due.remove(path)
            return
        }
        if entry.sent?.map?[.string(name)] == record {
            entries[path]?.delivered = nil
            due.remove(path)
        } else if entry.delivered == record {
            due.remove(path)
            tell(path, record)
        } else {
            due.insert(path)
        }
    }

    /// The alert shall keep what the receiver has got.
    private func tell(_ path: String, _ record: Value) {
        let mutation = Mutation(
            operation: .merge, path: "\(path).sent", value: .map(ValueMap([(.string(name), record)])))
        graph.request(.transact([mutation], TransactionOptions(label: "agd-bridge"))) { [unowned self] reply in
            guard case .fault(let fault) = reply else { return }
            log.report(
                "sent",
                "agd does not keep that \(path) was told, so a restart tells it again: \(fault.failure.message)", .error
            )
        }
    }

    // MARK: To the receiver

    /// When there is something to do although nothing arrives.
    func nextTime(_ now: Double) -> Double {
        if process != nil { return descriptor < 0 ? now + Courier.shortPause : end }
        if sending != nil || !graph.isConnected { return .infinity }
        var next = due.isEmpty ? .infinity : now
        if let interval = line.receiver.refreshInterval {
            for entry in entries.values where Courier.isFiring(entry) {
                next = min(next, entry.deliveryTime + interval)
            }
        }
        return max(next, retryTime)
    }

    private static func isFiring(_ entry: Entry) -> Bool { entry.notice?.map?["status"] == "firing" }

    func work(_ now: Double) {
        if process != nil { watch(now) }
        guard sending == nil, now >= retryTime, graph.isConnected else { return }
        if let interval = line.receiver.refreshInterval {
            for (path, entry) in entries where Courier.isFiring(entry) && now >= entry.deliveryTime + interval {
                due.insert(path)
            }
        }
        // A notice that a receiver refuses does not stop the others.
        let next = due.min { (entries[$0]?.attempts ?? 0, $0) < (entries[$1]?.attempts ?? 0, $1) }
        guard let path = next else { return }
        guard let notice = notice(of: path) else {
            due.remove(path)
            return
        }
        send(notice, now)
    }

    private func send(_ notice: Notice, _ now: Double) {
        sending = notice
        let body = line.receiver.body(of: notice, on: host)
        if let transfer {
            return transfer.fetch(sending: body) { [unowned self] result in
                switch result {
                case .success: succeed()
                case .failure(let error): fail(error.message)
                }
            }
        }
        do throws(Failure) {
            (process, descriptor) = try ChildProcess.start(line.receiver.words ?? [], input: body)
            end = now + time
        } catch { fail(error.message) }
    }

    /// Looks whether the program has ended. Its output is dropped.
    private func watch(_ now: Double) {
        guard let process else { return }
        if descriptor >= 0 {
            var bytes = [UInt8](repeating: 0, count: Courier.readSize)
            let count = read(descriptor, &bytes, bytes.count)
            if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR {
                close(descriptor)
                descriptor = -1
            }
        }
        if now >= end {
            ChildProcess.end(process)
            forgetProcess()
            return fail("the program has not ended within \(time) s (answer-time)")
        }
        var status: Int32 = 0
        guard descriptor < 0, waitpid(process, &status, WNOHANG) == process else { return }
        forgetProcess()
        if let fault = ChildProcess.fault(status) { fail(fault) } else { succeed() }
    }

    private func forgetProcess() {
        if descriptor >= 0 { close(descriptor) }
        (process, descriptor, end) = (nil, -1, .infinity)
    }

    private func succeed() {
        guard let notice = sending else { return }
        sending = nil
        delivered += 1
        backoff.reset()
        log.report("receiver", "told \(notice.id)", .info)
        guard entries[notice.path] != nil else { return }
        entries[notice.path]?.delivered = notice.record
        entries[notice.path]?.deliveryTime = MonotonicTime.now
        entries[notice.path]?.attempts = 0
        due.remove(notice.path)
        check(notice.path)
    }

    private func fail(_ message: String) {
        guard let notice = sending else { return }
        sending = nil
        failures += 1
        entries[notice.path]?.attempts += 1
        retryTime = MonotonicTime.now + backoff.pause() * .random(in: 0.5...1.5)
        log.report("receiver", "cannot tell \(notice.id), trying again: \(message)")
    }
}
