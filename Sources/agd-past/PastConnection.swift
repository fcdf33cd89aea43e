import Archive
import AttributeValues
import EventLoop
import Glibc
import GraphRuntime
import Replay
import ViewGraph
import WireProtocol

/// One connection: a client, and the graph of a moment. It has the process for itself, so it waits for its client
/// and works for nobody else.
final class PastConnection {
    private let descriptor: Int32
    private let readClock: () -> Moment
    private let past: Past
    private let decoder = RequestDecoder()
    private let client = ClientID(number: 1)
    private let peer: Peer
    /// It has no nodes: it knows the client's rights until the client asks for a moment.
    private let empty: GraphRuntime
    /// The graph of the moment; nil before the client has asked for it.
    private var graph: PastGraph?
    /// A graph of some moment that nobody uses yet; nil: the first moment makes one.
    private var spare: PastGraph?
    private var runtime: GraphRuntime { graph?.runtime ?? empty }
    /// By number, as the client has asked for them.
    private var subscriptions: [Int64: Request.Subscribe] = [:]
    /// The generation of the graph in which the subscriptions are.
    private var known = 0
    /// The principal for which the client acts.
    private var principal: String?
    /// How the connection follows the records; nil: it stands.
    private var playing: Playing?
    private let output = ByteBuffer(capacity: 1 << 16)
    private var input: [UInt8] = []
    /// Calls of a batch, whose answers are one list.
    private var batch: [ByteBuffer]?
    /// Events that follow the answer to the batch.
    private let events = ByteBuffer()

    private struct Playing {
        var speed: Double
        /// Where it began, on the recorded clock and on the clock here.
        var wall: Timestamp
        var monotonic: Double
    }

    /// A connection that asks for nothing ends after so many milliseconds.
    private static let patience: Int32 = 600_000
    /// Seconds between two looks for new records.
    private static let look = 1.0

    /// - Parameter peer: nil: who the system says that it is.
    init(
        _ descriptor: Int32, _ past: Past, from spare: PastGraph? = nil, for peer: Peer? = nil,
        now: @escaping () -> Moment = PastConnection.realNow
    ) {
        self.descriptor = descriptor
        self.spare = spare
        self.past = past
        self.readClock = now
        self.peer = peer ?? PastConnection.peer(of: descriptor)
        empty = GraphRuntime(limits: past.limits, access: past.access, epoch: "", at: now())
        _ = empty.apply([.connected(client, self.peer)], at: now())
    }

    deinit { close(descriptor) }

    private static func peer(of descriptor: Int32) -> Peer {
        // A peer that cannot be asked has no rights but those of everyone.
        guard let process = try? PeerCredentials.read(descriptor) else { return Peer(pid: 0, uid: .max, gid: .max) }
        return Peer(
            pid: process.pid, uid: process.uid, gid: process.gid,
            groups: (try? PeerCredentials.groups(descriptor)) ?? [])
    }

    private var now: Moment { readClock() }

    static func realNow() -> Moment {
        var (wall, monotonic) = (timespec(), timespec())
        clock_gettime(CLOCK_REALTIME, &wall)
        clock_gettime(CLOCK_MONOTONIC, &monotonic)
        return Moment(
            monotonic: Double(monotonic.tv_sec) + Double(monotonic.tv_nsec) / 1e9,
            wall: Timestamp(seconds: Int64(wall.tv_sec), nanoseconds: Int64(wall.tv_nsec)) ?? .epoch)
    }

    func run() { while step() {} }

    /// Waits until there is something to do, and does it.
    /// - Parameter most: milliseconds.
    /// - Returns: false if the connection ends.
    func step(atMost most: Int32 = .max) -> Bool {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let timeout = timeout
        let count = poll(&wait, 1, min(timeout, most))
        if count < 0 { return errno == EINTR }
        if count == 0, timeout <= most, playing == nil, runtime.nextDeadline == nil { return false }
        if count > 0, !receive() { return false }
        if playing != nil { goOn() } else if runtime.nextDeadline != nil { wake() }
        return send()
    }

    /// Milliseconds until there is something to do without the client.
    private var timeout: Int32 {
        var seconds = Double(PastConnection.patience) / 1000
        if let next = nextRecord { seconds = min(seconds, next) }
        if let graph, let deadline = graph.runtime.nextDeadline {
            seconds = min(seconds, deadline - now.monotonic)
        }
        return Int32(max(0, seconds * 1000).rounded(.up))
    }

    /// Seconds until the next record is due; nil if the connection stands.
    private var nextRecord: Double? {
        guard let playing, let graph else { return nil }
        guard let next = try? graph.nextTime(), let span = next.since(playing.wall) else { return PastConnection.look }
        return playing.monotonic + span.seconds / playing.speed - now.monotonic
    }

    /// - Returns: false if the client has gone, or sends too much.
    private func receive() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &bytes, bytes.count)
        if count < 0, errno == EINTR { return true }
        guard count > 0 else { return false }
        input += bytes[..<count]
        while let end = input.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(input[..<end])
            input.removeFirst(end + 1)
            line.withUnsafeBufferPointer { decoder.decode($0, take) }
            output.append(events)
            events.removeAll()
            guard send() else { return false }
        }
        return input.count <= past.messageSize
    }

    private func send() -> Bool {
        defer { output.removeAll() }
        return output.withBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }

    // MARK: Requests

    private func take(_ incoming: Incoming) {
        switch incoming {
        case .call(let id, let request): answer(perform(request), to: id)
        case .fault(let id, let fault): answer(.fault(fault), to: id)
        case .batchBegins: batch = []
        case .batchEnds:
            let answers = batch ?? []
            batch = nil
            if answers.isEmpty { return }
            output.append(UInt8(ascii: "["))
            for (number, answer) in answers.enumerated() {
                if number > 0 { output.append(UInt8(ascii: ",")) }
                output.append(answer)
            }
            output.append("]\n")
        }
    }

    private func answer(_ answer: Answer, to id: RequestID?) {
        guard let id else { return }
        guard batch != nil else {
            output.appendReply(answer, to: id)
            return output.append(UInt8(ascii: "\n"))
        }
        let text = ByteBuffer()
        text.appendReply(answer, to: id)
        batch?.append(text)
    }

    private func perform(_ request: Request) -> Answer {
        do throws(Failure) {
            switch request {
            case .log(let log): return .value(try self.log(log, request))
            case .series(let series): return .value(try self.series(series, request))
            case .hello(_, _, let time):
                if let time { try open(at: time) }
                let answer = try passOn(request)
                if case .value(let value) = answer { return .value(withRelease(value)) }
                return answer
            case .ping, .describe(nil, _): return try passOn(request)
            case .seek(let time):
                try open(at: time)
                return .value(try here())
            case .play(let speed):
                let graph = try opened()
                playing =
                    speed == 0
                    ? nil
                    : Playing(speed: speed, wall: graph.position.wall, monotonic: now.monotonic)
                return .value(try here())
            default:
                _ = try opened()
                return try passOn(request)
            }
        } catch { return .fault(RequestFault(failure: error)) }
    }

    private func log(_ log: Request.Log, _ request: Request) throws(Failure) -> Value {
        if let refusal = runtime.refusal(of: request, by: client) { throw refusal }
        let (runtime, client) = (runtime, client)
        var query = try LogQuery(
            log, in: past.folder, mayReadAll: runtime.mayReadEverything(client),
            mayRead: { runtime.mayRead($0, client) }, told: { runtime.told($0, to: client) })
        return try query.answer()
    }

    private func series(_ series: Request.Series, _ request: Request) throws(Failure) -> Value {
        if let refusal = runtime.refusal(of: request, by: client) { throw refusal }
        let now = self.now.wall
        return try SeriesQuery(series, in: past, for: client, peer, as: principal, now: now).answer()
    }

    /// Lets the runtime answer.
    private func passOn(_ request: Request) throws(Failure) -> Answer {
        let deliveries = apply([.call(client, id: .int(0), request)])
        var answer: Answer?
        for case .reply(_, _, let result) in deliveries { answer = result }
        guard let answer else { throw Failure(.unavailable, "there is no answer") }
        switch (request, answer) {
        case (.hello(_, let principal, _), .value) where principal != nil:
            self.principal = principal
            graph?.client?.principal = principal
        case (.subscribe(let subscribe), .value(let value)):
            if case .int(let number)? = value.map?["subscription"] { subscriptions[number] = subscribe }
        case (.unsubscribe(let number), .revision): subscriptions[number] = nil
        default: break
        }
        // Events of subscriptions follow the answer.
        tellLater(deliveries)
        return answer
    }

    private func apply(_ commands: [Command]) -> [Delivery] {
        guard let graph else { return empty.apply(commands, at: now).deliveries }
        return graph.apply(commands)
    }

    // MARK: Moments

    private func opened() throws(Failure) -> PastGraph {
        if let graph { return graph }
        try open(at: nil)
        guard let graph else { preconditionFailure("a moment that was opened") }
        return graph
    }

    /// Goes to a moment. Subscriptions begin again there.
    /// - Parameter time: nil: now.
    private func open(at time: PastTime?) throws(Failure) {
        let refusal = empty.refusal(of: .seek(time ?? .revision(0, epoch: nil)), by: client)
        if let refusal, principal == nil { throw refusal }
        playing = nil
        graph?.onDeliveries = nil
        if let graph {
            try graph.seek(to: time)
        } else if let begun = spare {
            spare = nil
            begun.connect(PastClient(client, peer, as: principal))
            try begun.seek(to: time)
            graph = begun
        } else {
            graph = try PastGraph(past, at: time, for: PastClient(client, peer, as: principal)) { [readClock] in
                readClock().monotonic
            }
        }
        beginAgain()
        graph?.onDeliveries = { [unowned self] in tellLater($0) }
    }

    /// Begins all subscriptions in the present graph.
    private func beginAgain() {
        guard let graph else { return }
        known = graph.generation
        for (number, subscribe) in subscriptions.sorted(by: { $0.key < $1.key }) {
            _ = graph.apply([.call(client, id: nil, .unsubscribe(subscription: number))])
            var again = subscribe
            again.since = nil
            graph.runtime.nextSubscription(is: number)
            tellLater(graph.apply([.call(client, id: nil, .subscribe(again))]))
        }
        if let last = subscriptions.keys.max() { graph.runtime.nextSubscription(is: last + 1) }
    }

    private func here() throws(Failure) -> Value {
        let graph = try opened()
        return withRelease([
            "epoch": .string(graph.epoch), "revision": .int(Int64(clamping: graph.position.revision)),
            "time": .timestamp(graph.position.wall),
        ])
    }

    /// Adds which release recorded the moment, if it is another one.
    private func withRelease(_ answer: Value) -> Value {
        guard let release = graph?.otherRelease, var map = answer.map else { return answer }
        map["recordedBy"] = Value.string(release)
        return .map(map)
    }

    /// Performs the records that are due.
    private func goOn() {
        guard let graph, let playing else { return }
        let span = (now.monotonic - playing.monotonic) * playing.speed
        let nanoseconds = Int64(exactly: (span * 1e9).rounded()) ?? .max
        guard let wall = playing.wall.advanced(by: TimeSpan(nanoseconds: nanoseconds)) else { return }
        do throws(Failure) {
            while let next = try graph.nextTime(), next <= wall {
                try graph.advance(to: .time(next))
                if graph.generation != known { beginAgain() }
            }
        } catch { self.playing = nil }
        output.append(events)
        events.removeAll()
    }

    private func wake() {
        tellLater(apply([.woken]))
        output.append(events)
        events.removeAll()
    }

    private func tellLater(_ deliveries: [Delivery]) {
        for case .event(let receivers, let event) in deliveries {
            let (head, tail) = (ByteBuffer(), ByteBuffer())
            head.appendHead(of: event)
            tail.appendTail(of: event)
            for receiver in receivers {
                events.append(head)
                events.append(receiver.subscription)
                events.append(tail)
            }
        }
    }
}
