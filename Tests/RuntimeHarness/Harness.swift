import AttributeValues
@testable import GraphRuntime
import SceneTesting
import Testing
import ViewGraph
import WireProtocol

/// A runtime with a scene, a test clock and clients that are only numbers.
final class Harness {
    private let daemon: VirtualDaemon
    var runtime: GraphRuntime { daemon.runtime }
    var now: Moment {
        get { daemon.now }
        set { daemon.now = newValue }
    }
    /// Everything said in the last call, in order.
    var deliveries: [Delivery] { daemon.deliveries }
    /// What has to be done again in the next call.
    var postponed: [Command] { daemon.postponed }
    /// What the last call gave the store.
    var kept: [StoreChange] { daemon.kept }
    /// Rules that ran, by path; not while the runtime records.
    private var recorded: [String] = []

    static var start: Moment { Moment(monotonic: 1000, wall: Timestamp.epoch) }

    /// - Parameters:
    ///   - earlier: an earlier life, whose clock goes on.
    ///   - pause: the seconds between the two.
    ///   - correction: the seconds by which somebody sets the wall clock in between.
    convenience init(_ scene: String, from earlier: Harness, after pause: Double, correction: Double = 0) throws {
        var now = earlier.now
        now.asleep = 0
        now.monotonic = Harness.start.monotonic
        now.wall = now.wall.advanced(by: TimeSpan(nanoseconds: Int64((pause + correction) * 1e9))) ?? now.wall
        // A daemon restores its store before anybody connects. `call` connects.
        try self.init(scene, clients: 0, after: earlier.daemon, at: now)
    }

    /// The next life of this graph, with what its store has. The clock goes on by these seconds.
    /// - Parameter correction: the seconds by which somebody sets the wall clock in between.
    func restarted(_ scene: String, after seconds: Double, correction: Double = 0) throws -> Harness {
        let next = try Harness(scene, from: self, after: seconds, correction: correction)
        #expect(next.runtime.restore(daemon.rows).isEmpty)
        for client in 1...2 { next.daemon.connect(UInt64(client)) }
        return next
    }

    /// A graph with a document that a client has applied.
    convenience init(applied document: String) throws {
        try self.init()
        _ = try apply(document)
    }

    /// A graph with a document as another one has exported it.
    convenience init(document: Value) throws {
        try self.init()
        try apply(document: document)
    }

    /// - Parameter libraries: what the scene imports.
    init(
        _ scene: String = "", importing libraries: [String] = [], limits: RuntimeLimits = RuntimeLimits(),
        clients: Int = 2, after earlier: VirtualDaemon? = nil, at now: Moment = Harness.start
    ) throws {
        daemon = VirtualDaemon(limits: limits, after: earlier, at: now)
        for library in libraries { try runtime.load(library, file: "library.yaml") }
        if !scene.isEmpty { try runtime.load("agd: 1\n" + scene, file: "test.yaml") }
        for number in 0..<clients { daemon.connect(UInt64(number + 1)) }
        runtime.graph.runRecorder = RunRecorder(now: { 0 }) { [unowned self] in
            recorded.append(runtime.graph.path(of: $0.attribute))
        }
    }

    @discardableResult
    func turn(_ commands: [Command]) -> [Delivery] {
        daemon.turn(commands)
        return deliveries
    }

    /// Turns until nothing waits to be freed.
    func settle() {
        while runtime.graph.hasUnlinked { turn([]) }
    }

    /// Lets time pass and wakes the runtime.
    @discardableResult
    func advance(_ seconds: Double) -> [Delivery] {
        daemon.advanceClock(TimeSpan(nanoseconds: Int64(seconds * 1e9)))
        return turn([.woken])
    }

    /// The machine sleeps, and wakes the runtime some seconds later.
    func sleep(_ seconds: Double) {
        now.asleep += seconds
        now.wall = now.wall.advanced(by: TimeSpan(nanoseconds: Int64(seconds * 1e9))) ?? now.wall
        turn([.woken])
    }

    /// The daemon ends.
    func end() { daemon.end() }

    /// The rows of the store, by key and name.
    var rows: [String: StoredRow] {
        Dictionary(uniqueKeysWithValues: daemon.rows.map { ($0.key + "\n" + $0.name, $0) })
    }

    /// Somebody sets the wall clock back.
    func setBack(_ seconds: Double) {
        now.wall = now.wall.advanced(by: TimeSpan(nanoseconds: Int64(-seconds * 1e9))) ?? now.wall
    }

    /// One request of one client, with its result.
    @discardableResult
    func call(_ request: Request, from client: UInt64 = 1) throws -> Answer {
        // A client that has gone comes back.
        if runtime.clients[ClientID(number: client)] == nil { daemon.connect(client) }
        guard let result = daemon.call(request, from: client) else { throw Failure(.unavailable, "no reply") }
        if case .fault(let fault) = result { expectListed(fault.failure, request) }
        return result
    }

    /// What each method is described with.
    private static let errors = Dictionary(uniqueKeysWithValues: Method.table().map { ($0.name, $0.errors) })

    /// Whatever refuses a request is among the errors that its method is described with.
    private func expectListed(_ failure: Failure, _ request: Request) {
        let name = Mirror(reflecting: request).children.first?.label ?? "\(request)"
        #expect(
            Harness.errors[name]?.contains(failure.code) == true,
            "\(name) is refused with \(failure.code): \(failure.message)")
    }

    /// The same, where a fault is a thrown failure.
    @discardableResult
    func succeed(_ request: Request, from client: UInt64 = 1) throws -> Answer {
        let result = try call(request, from: client)
        if case .fault(let fault) = result { throw fault.failure }
        return result
    }

    func get(_ path: String, presentation: Bool = false, from client: UInt64 = 1) throws -> Content {
        guard
            case .content(let content, _, _) = try succeed(
                .get(.init(paths: [path], isSingle: true, presentation: presentation)), from: client)
        else { throw Failure(.unavailable, "no content") }
        return content
    }

    /// What several paths and patterns have, by path.
    func contents(_ paths: [String]) throws -> [String: Content] {
        guard case .contents(let contents, _, _) = try succeed(.get(.init(paths: paths))) else {
            throw Failure(.unavailable, "no contents")
        }
        #expect(Set(contents.map(\.path)).count == contents.count, "each path is answered once")
        return Dictionary(contents.map { ($0.path, $0.content) }) { first, _ in first }
    }

    func value(_ path: String, presentation: Bool = false) throws -> Value {
        try get(path, presentation: presentation).get()
    }

    func set(_ path: String, _ value: Value, animation: Value? = nil, from client: UInt64 = 1) throws {
        try succeed(
            .set(Mutation(operation: .set, path: path, value: value), TransactionOptions(animation: animation)),
            from: client)
    }

    func transact(_ mutations: [Mutation], label: String? = nil, animation: Value? = nil) throws {
        try succeed(.transact(mutations, TransactionOptions(animation: animation, label: label)))
    }

    /// The answer to a request that is answered with a map.
    func map(_ request: Request, from client: UInt64 = 1) throws -> ValueMap {
        guard case .value(.map(let map)) = try succeed(request, from: client) else {
            throw Failure(.unavailable, "no map")
        }
        return map
    }

    func apply(_ document: String, at: String = "/", mode: Request.ApplyMode = .merge, dryRun: Bool = false) throws
        -> Value
    {
        try apply(document: .string("agd: 1\n" + document), at: at, mode: mode, dryRun: dryRun)
    }

    @discardableResult
    func apply(document: Value, at: String = "/", mode: Request.ApplyMode = .create, dryRun: Bool = false) throws
        -> Value
    {
        .map(try map(.apply(.init(document: document, at: at, mode: mode, dryRun: dryRun, options: .init()))))
    }

    func described(_ path: String) throws -> ValueMap { try map(.describe(path: path, depth: nil)) }

    /// The ids of a node's children, in order.
    func children(of path: String) throws -> [String] {
        (try described(path)["children"]?.list ?? []).compactMap { $0.map?["id"]?.string }
    }

    func explained(_ path: String, at revision: UInt64? = nil, from client: UInt64 = 1) throws -> ValueMap {
        try map(.explain(path: path, revision: revision), from: client)
    }

    /// A part of the tree as a document.
    func exported(_ path: String = "/") throws -> Value {
        guard let document = try map(.dump(path: path, format: .scene))["document"] else {
            throw Failure(.unavailable, "no document")
        }
        return document
    }

    @discardableResult
    func subscribe(
        _ patterns: [String], events: EventKinds = .update, initial: Bool = false, since: Request.Position? = nil,
        maxRate: Double? = nil, frames: Double? = nil, from client: UInt64 = 1
    ) throws -> Int64 {
        let result = try succeed(
            .subscribe(
                .init(
                    patterns: patterns, events: events, initial: initial, since: since, maxRate: maxRate,
                    frameRate: frames, css: false, typed: false, bookmarks: false)), from: client)
        guard case .value(let value) = result, case .int(let number)? = value.map?["subscription"] else {
            throw Failure(.unavailable, "not subscribed")
        }
        return number
    }

    /// The rules that ran since this was last asked, by path.
    func runs() -> [String] {
        defer { recorded = [] }
        return recorded
    }

    /// The events in the last deliveries.
    var events: [Event] {
        deliveries.compactMap { if case .event(_, let event) = $0 { event } else { nil } }
    }

    /// The changes in the last deliveries' update events, in order.
    var told: [Change] {
        events.flatMap { if case .update(_, _, _, _, _, let changes, _) = $0 { changes } else { [Change]() } }
    }

    /// The same by path.
    var changes: [String: Content] { Dictionary(told.map { ($0.path, $0.content) }) { $1 } }

    /// The timeline that the last deliveries have for a path.
    func timeline(_ path: String) -> ValueMap? { told.first { $0.path == path }?.timeline }

    /// The changes in the last deliveries' structure events.
    var structures: [(added: [String], removed: [String], moved: [String], details: StructureDetails?)] {
        events.compactMap {
            if case .structure(_, let added, let removed, let moved, let details) = $0 {
                (added, removed, moved, details)
            } else {
                nil
            }
        }
    }

    /// The methods of the last deliveries' events, in order.
    var methods: [String] { events.map { "\($0.method)" } }

    /// Paths in the last deliveries' invalidate events.
    var invalidated: [String] {
        events.flatMap { if case .invalidate(_, let paths) = $0 { paths } else { [String]() } }
    }
}

/// The failure that a refused request throws; nil if it was not refused.
func refusal(_ body: () throws -> some Any) -> Failure? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? Failure
    }
}

/// Counts the answers that it gets, and keeps the updates.
final class CountingOutput: TurnOutput {
    private(set) var answers = 0
    /// Those that came as text.
    private(set) var texts: [(writer: String?, changes: String, clients: [ClientID])] = []
    /// The changes of the others.
    private(set) var events: [(changes: [Change], clients: [ClientID])] = []

    func take(_ delivery: consuming Delivery) {
        switch consume delivery {
        case .reply: answers += 1
        case .event(let receivers, .updateText(_, _, let writer, let changes)):
            texts.append((writer, changes.text, receivers.map(\.client)))
        case .event(let receivers, .update(_, _, _, _, _, let changes, _)):
            events.append((changes, receivers.map(\.client)))
        default: break
        }
    }
}
