import AttributeValues
import GraphRuntime
import ViewGraph
import WireProtocol

/// A scene in a virtual daemon, with a client that watches it and writes to it.
final class SceneWorld {
    /// Times that the daemon is woken within one step. A clock that ticks each second is woken 86,400 times a day.
    private static let wakings = 1_000_000
    private static let client: UInt64 = 1

    private(set) var daemon: VirtualDaemon
    private let given: SceneTestFile.Given
    /// Scenes with their imports, each file once.
    private var scenes: [(file: String, text: String)]
    /// Everything that the client watches, as it was told.
    private var known: [String: Content] = [:]
    /// The attributes that have changed since `beginStep`.
    private(set) var changed: Set<String> = []
    /// The attributes whose rules have run since `beginStep`.
    private(set) var ran: Set<String> = []

    private static var limits: RuntimeLimits {
        var limits = RuntimeLimits()
        limits.watchedAttributes = 1_000_000
        return limits
    }

    /// - Throws: `Failure` for a scene or a document with faults.
    init(_ given: SceneTestFile.Given, scenes: [(file: String, text: String)]) throws(Failure) {
        self.given = given
        self.scenes = scenes
        // Any time: only differences count.
        daemon = VirtualDaemon(limits: SceneWorld.limits, at: Moment(monotonic: 1000, wall: given.time))
        try load()
    }

    private func load() throws(Failure) {
        daemon.runtime.beginWith(given.environment)
        for scene in scenes { try daemon.runtime.load(scene.text, file: scene.file) }
    }

    /// Connects the client, and begins to watch.
    func begin() throws(Failure) {
        daemon.connect(SceneWorld.client)
        try call(.hello(client: "test", principal: nil))
    }

    func watch() throws(Failure) {
        known = [:]
        if !given.watched.isEmpty {
            try call(.subscribe(.init(patterns: given.watched, events: .update, initial: true)))
        }
        changed = []
    }

    func beginStep(recordsRuns: Bool) {
        changed = []
        ran = []
        guard recordsRuns else { return daemon.runtime.graph.runRecorder = nil }
        daemon.runtime.graph.runRecorder = RunRecorder(now: { 0 }) { [unowned self] run in
            ran.insert(daemon.runtime.graph.path(of: run.attribute))
        }
    }

    // MARK: Requests

    /// Performs a request, and everything that is due after it.
    @discardableResult
    func call(_ request: Request) throws(Failure) -> Answer {
        var answer = daemon.call(request, from: SceneWorld.client)
        takeEvents()
        var turns = 0
        while answer == nil, turns < SceneWorld.wakings {
            turns += 1
            daemon.turn(daemon.postponed)
            takeEvents()
            for case .reply(_, _, let late) in daemon.deliveries { answer = late }
        }
        try settle()
        switch answer {
        case .fault(let fault)?: throw fault.failure
        case let answer?: return answer
        case nil: throw Failure(.unavailable, "the daemon does not answer")
        }
    }

    func content(_ path: String, isShown: Bool = false) -> Content {
        do throws(Failure) {
            let answer = try call(.get(.init(paths: [path], isSingle: true, presentation: isShown)))
            guard case .content(let content, _, _) = answer else {
                return .failure(Failure(.unavailable, "no content"))
            }
            return content
        } catch { return .failure(error) }
    }

    /// The value of a rule at the root.
    func value(of rule: String, _ bindings: ValueMap = ValueMap()) throws(Failure) -> Value {
        var bindings = bindings
        bindings["now"] = .timestamp(daemon.now.wall)
        let answer = try call(.eval(expression: rule, bindings: bindings, at: nil, typed: false))
        guard case .content(let content, _, _) = answer else { throw Failure(.unavailable, "no value") }
        return try content.get()
    }

    /// The answer to a request that is answered with a map; nil if it is refused.
    func map(_ request: Request) -> ValueMap? {
        guard case .value(.map(let map))? = try? call(request) else { return nil }
        return map
    }

    private func takeEvents() {
        for case .event(_, .update(_, _, _, _, let isInitial, let changes, _)) in daemon.deliveries {
            for change in changes {
                known[change.path] = change.content
                if !isInitial { changed.insert(change.path) }
            }
        }
    }

    // MARK: Time

    /// Lets time pass. The daemon is woken whenever it wants to be.
    func advance(_ span: TimeSpan) throws(Failure) {
        var left = span.nanoseconds
        for _ in 0..<SceneWorld.wakings {
            guard let wait = daemon.wait, wait.nanoseconds <= left else {
                daemon.advanceClock(TimeSpan(nanoseconds: left))
                wake()
                return try settle()
            }
            daemon.advanceClock(wait)
            left -= wait.nanoseconds
            wake()
        }
        throw Failure(
            .limit, "the daemon is woken more than \(SceneWorld.wakings) times in this step",
            hint: "advance less, or watch less (given: { watch: [/node/**] }), so that fewer clocks tick")
    }

    private func wake() {
        daemon.turn(daemon.postponed + [.woken])
        takeEvents()
    }

    /// Does what is due now.
    private func settle() throws(Failure) {
        var turns = 0
        while let wait = daemon.wait, wait.nanoseconds == 0 {
            turns += 1
            guard turns < SceneWorld.wakings else { throw Failure(.limit, "the graph does not come to rest") }
            wake()
        }
    }

    /// Ends the daemon and starts another one with what its store has.
    func restart(after pause: TimeSpan, scenes: [(file: String, text: String)]?) throws(Failure) {
        let earlier = known
        daemon.end()
        daemon.advanceClock(pause)
        if let scenes { self.scenes = scenes }
        daemon = VirtualDaemon(
            limits: SceneWorld.limits, after: daemon, revision: daemon.runtime.revision, at: daemon.now)
        try load()
        _ = daemon.runtime.restore(daemon.rows)
        try begin()
        try watch()
        changed = Set(known.filter { earlier[$0.key] != $0.value }.keys)
        changed.formUnion(earlier.keys.filter { known[$0] == nil })
    }
}
