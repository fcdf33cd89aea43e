import Archive
import AttributeValues
@testable import GraphRuntime
import StateStore
import TestSupport
import Testing
import ViewGraph
import WireProtocol

/// A graph with its store, without a daemon around them.
final class Life {
    let scene: String
    let limits: RuntimeLimits
    /// Requests that take more turns.
    private var postponed: [Command] = []
    private(set) var folder: Folder
    private(set) var store: StateStore
    private(set) var runtime: GraphRuntime
    private var nextRequest: Int64 = 1
    /// If set, it gets what happens.
    private(set) var archive: Archive?
    /// The requests that were not refused, and the starts.
    private(set) var acts: [Act] = []

    enum Act {
        case request(Request)
        case start(scene: String)
    }

    init(_ scene: String = "", limits: RuntimeLimits = RuntimeLimits()) throws {
        self.scene = scene
        self.limits = limits
        folder = try Folder()
        (store, runtime, failures) = try Life.open(folder, scene, limits)
    }

    /// Begins an archive of this life.
    func beginArchive(in folder: Folder, limits: Archive.Limits = .init()) throws {
        let basis = Archive.Basis(
            release: "1", epoch: runtime.epoch, scenes: [("test.yaml", "agd: 1\n" + scene)], machine: [:])
        let archive = try Archive(
            folder: folder.path, limits: limits, basis: basis, of: runtime.store, others: try rows().ofNoNode)
        archive.begin(at: Life.now, revision: runtime.revision)
        self.archive = archive
    }

    static var now: Moment { Moment(monotonic: 1000, wall: .epoch) }

    /// What the store holds that has no node at the start.
    private(set) var failures: [String] = []

    private static func open(_ folder: Folder, _ scene: String, _ limits: RuntimeLimits) throws -> (
        StateStore, GraphRuntime, [String]
    ) {
        let (store, restored) = try folder.open()
        let now = Moment(monotonic: 1000, wall: .epoch)
        let runtime = GraphRuntime(limits: limits, epoch: restored.epoch, revision: restored.revision, at: now)
        if !scene.isEmpty { try runtime.load("agd: 1\n" + scene, file: "test.yaml") }
        let failures = runtime.restore(restored.rows).map { "\($0.revision): \($0.failure)" }
        let outcome = runtime.apply([.connected(ClientID(number: 1), Peer(pid: 1, uid: 1000, gid: 1000))], at: now)
        try store.append(outcome.changes, revision: runtime.revision)
        return (store, runtime, failures)
    }

    /// True if a daemon would start with a scene.
    static func accepts(_ scene: String) -> Bool {
        let runtime = GraphRuntime(
            limits: RuntimeLimits(), epoch: "", at: Moment(monotonic: 1000, wall: .epoch))
        return (try? runtime.load("agd: 1\n" + scene, file: "test.yaml")) != nil
    }

    /// The next life of what a killed daemon leaves behind.
    /// - Parameter scene: what its daemon starts with, if that is another scene.
    func next(_ scene: String? = nil) throws -> Life {
        let next = try Life(of: folder.copy(), scene ?? self.scene, limits)
        next.acts = acts + [.start(scene: next.scene)]
        return next
    }

    private init(of folder: Folder, _ scene: String, _ limits: RuntimeLimits) throws {
        self.scene = scene
        self.limits = limits
        self.folder = folder
        (store, runtime, failures) = try Life.open(folder, scene, limits)
    }

    @discardableResult
    func call(_ request: Request) throws -> Value {
        let value = try answer(request)
        if !request.onlyReads { acts.append(.request(request)) }
        return value
    }

    private func answer(_ request: Request) throws -> Value {
        begin(request)
        while true {
            guard let result = try turn() else {
                guard !postponed.isEmpty else { throw Failure(.unavailable, "no reply") }
                continue
            }
            switch result {
            case .fault(let fault): throw fault.failure
            case .value(let value): return value
            case .content(let content, _, _): return try content.get()
            case .revision(let revision): return ["revision": .int(Int64(clamping: revision))]
            default: return .null
            }
        }
    }

    /// Asks for something in the next turn.
    func begin(_ request: Request) {
        postponed.append(.call(ClientID(number: 1), id: .int(nextRequest), request))
        nextRequest += 1
    }

    /// - Returns: the answer to what was asked for, if the turn has one.
    func turn() throws -> Answer? {
        let outcome = runtime.apply(postponed, at: Moment(monotonic: 1000, wall: .epoch))
        postponed = outcome.postponed
        try store.append(outcome.changes, revision: runtime.revision)
        for case .reply(_, _, let result) in outcome.deliveries { return result }
        return nil
    }

    /// Another client's change, while requests of this one wait.
    func commit(_ path: String, _ value: Value) throws {
        let other = ClientID(number: 2)
        let outcome = runtime.apply(
            [
                .connected(other, Peer(pid: 2, uid: 1000, gid: 1000)),
                .call(other, id: .int(0), .set(Mutation(operation: .set, path: path, value: value), .init())),
                .disconnected(other),
            ], at: Moment(monotonic: 1000, wall: .epoch))
        try store.append(outcome.changes, revision: runtime.revision)
    }

    /// Turns until nothing waits to be freed.
    func settle() throws {
        while runtime.graph.hasUnlinked { _ = try turn() }
    }

    func apply(_ nodes: String, at: String = "/", mode: Request.ApplyMode = .merge) throws {
        try apply(document: "agd: 1\nnodes: \(nodes)", at: at, mode: mode)
    }

    func apply(document: String, at: String = "/", mode: Request.ApplyMode = .merge) throws {
        try call(
            .apply(.init(document: .string(document), at: at, mode: mode, dryRun: false, options: .init())))
    }

    func remove(_ path: String) throws { try call(.remove(path: path, .init())) }

    func move(_ path: String, to parent: String?, at index: Int? = nil) throws {
        try call(.move(path: path, to: parent, index: index, .init()))
    }

    func set(_ path: String, _ value: Value) throws {
        try call(.set(Mutation(operation: .set, path: path, value: value), .init()))
    }

    func value(_ path: String) throws -> Value {
        try call(.get(.init(paths: [path], isSingle: true)))
    }

    func described(_ path: String = "/") throws -> Value { try call(.describe(path: path, depth: nil)) }

    /// Of all nodes, outer ones first.
    var paths: [String] {
        let graph = runtime.graph
        return graph.allNodes(below: .root).map { AttributePath.describe(nodes: graph.ids(of: $0)) }
    }

    func exported() throws -> Value { try call(.dump(path: "/", format: .scene)) }

    /// How many rows that say what clients changed have no node.
    var absentNodes: Int { runtime.graph.persistence.absentNodeCount }

    /// Rows of nodes that the store holds, as text.
    func structure() throws -> [String] { try rows().filter(\.name.isEmpty).map { "\($0.key) \($0.value)" } }

    /// All rows that the store holds, without those that say who has written parts.
    func rows() throws -> [StoredRow] {
        try folder.copy().open().restored.rows.filter { $0.key != StoreChange.authorKey }
    }
}

/// Expects that the next lives have the same tree and values.
/// - Returns: the last of them.
@discardableResult
func expectKept(_ life: Life, times: Int = 1, _ location: SourceLocation = #_sourceLocation) throws -> Life {
    var next = life
    for _ in 0..<times {
        next = try next.next()
        #expect(next.failures == [], sourceLocation: location)
        #expect(try differences(life.described(), next.described()) == [], sourceLocation: location)
    }
    return next
}

/// A graph that rows of an archive make.
struct VirtualPast {
    let runtime: GraphRuntime

    init(_ scene: String, _ rows: [StoredRow], _ limits: RuntimeLimits) throws {
        runtime = GraphRuntime(limits: limits, epoch: "past", at: Life.now)
        runtime.graph.keepsTransient = true
        if !scene.isEmpty { try runtime.load("agd: 1\n" + scene, file: "test.yaml") }
        _ = runtime.restore(rows)
        _ = runtime.apply([.connected(ClientID(number: 1), Peer(pid: 1, uid: 1000, gid: 1000))], at: Life.now)
    }

    func described() throws -> Value {
        let outcome = runtime.apply(
            [.call(ClientID(number: 1), id: .int(1), .describe(path: "/", depth: nil))], at: Life.now)
        for case .reply(_, _, .value(let value)) in outcome.deliveries { return value }
        throw Failure(.unavailable, "no reply")
    }
}
