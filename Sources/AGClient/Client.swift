@_exported public import AttributeValues
@_exported public import WireProtocol

/// The daemon's client for Swift programs with tasks. Any number of tasks may use one client. Their requests share a
/// connection. The first request opens it, and the next request after a loss opens it again.
///
/// If the connection ends before the answer to a request arrives, the request throws `lost`. Without `retry` it is not
/// repeated, because the daemon may have performed it.
///
/// With `retry`, the client waits for a daemon that is not there, and repeats what was under way when the connection
/// broke. `set`, `add`, `toggle`, `transact` and `do` carry an identifier (`once`), so that the daemon performs them
/// once. `apply`, `remove`, `move` and `prune` are repeated only if they were not sent. Requests that a program has not
/// waited for may be performed in another order.
///
/// Values are sent as typed JSON, so an int returns as an int and a timestamp as a timestamp.
///
/// ```swift
/// let client = try Client(name: "player remote")
/// try await client.set("/player.volume", to: 0.5, options: TransactionOptions(animation: "smooth"))
/// for try await news in client.subscribe("/player.*") {
///     guard case .event(.update(_, _, _, _, _, let changes, _)) = news else { continue }
///     for change in changes { print(change.path, change.content) }
/// }
/// ```
public final class Client: Sendable {
    private let location: SocketLocation
    private let name: String?
    private let principal: String?
    private let timeout: Double?
    private let retry: Double?
    private let channel: RequestChannel

    /// Does not connect yet.
    /// - Parameters:
    ///   - name: the daemon's name for this client in explanations.
    ///   - principal: the principal for which the client acts. This needs the right *admin*.
    ///   - timeout: maximum seconds for an answer; nil waits without limit.
    ///   - retry: seconds during which requests are repeated while no daemon answers, 0 or more; nil repeats nothing.
    /// - Throws: `system` if there are no descriptors left.
    public init(
        at location: SocketLocation = .find(), name: String? = nil, as principal: String? = nil,
        timeout: Double? = 10, retry: Double? = nil
    ) throws(ClientError) {
        precondition(retry.map { $0 >= 0 } ?? true, "retry is 0 or more seconds")
        self.location = location
        self.name = name
        self.principal = principal
        self.timeout = timeout
        self.retry = retry
        channel = try RequestChannel(to: location, name: name, as: principal, timeout: timeout)
    }

    deinit { channel.close() }

    /// Sends any request and returns its result unchanged.
    /// - Throws: `refused` with the daemon's reason, `unreachable`, `lost`, `timedOut`, `cancelled`; with `retry` also
    ///   `gaveUp`.
    public nonisolated(nonsending) func call(_ request: Request) async throws(ClientError) -> Value {
        var attempts = Attempts(request, retry: retry)
        let line = channel.encode(attempts.request)
        while true {
            var isOfConnection = false
            do throws(ClientError) {
                let (id, reply) = try await exchange(line)
                isOfConnection = id == nil
                return try reply.get()
            } catch {
                let pause = try attempts.pause(after: error, isOfConnection: isOfConnection)
                do { try await Task.sleep(for: .seconds(pause)) } catch { throw .cancelled }
            }
        }
    }

    private nonisolated(nonsending) func exchange(
        _ line: RequestChannel.Line
    ) async throws(ClientError) -> (id: Int64?, Reply) {
        guard case .reply(let id, let reply) = try MessageDecoder().decode(try await channel.exchange(line)) else {
            throw .malformed("an event where a reply was expected")
        }
        // A request without an answer may have been performed, so it was not refused.
        if case .fault(let fault) = reply, fault.failure.code == .unavailable,
            fault.failure.message.hasPrefix("outcome unknown")
        {
            throw .lost(fault.failure.message)
        }
        return (id, reply)
    }

    /// Sends nothing before the sequence is iterated. Values are always sent typed.
    public func subscribe(_ request: Request.Subscribe, backoff: Backoff = Backoff()) -> Subscription {
        var request = request
        request.typed = true
        return Subscription(
            request: request,
            source: WatchSource(
                location: location, name: name, principal: principal, timeout: timeout, retry: retry, backoff: backoff))
    }

    public func subscribe(_ paths: String...) -> Subscription { subscribe(.init(patterns: paths)) }
}

// MARK: Reading and writing

extension Client {
    /// - Parameter presentation: true for the displayed value instead of the model value.
    /// - Throws: `attribute` if the attribute has an error instead of a value, and the errors of `call`.
    public nonisolated(nonsending) func get(_ path: String, presentation: Bool = false) async throws(ClientError)
        -> Value
    {
        let result = try await call(.get(.init(paths: [path], isSingle: true, presentation: presentation, typed: true)))
        switch try Content(result: result, typed: true) {
        case .value(let value): return value
        case .failure(let failure): throw .attribute(failure)
        }
    }

    /// - Throws: also `unexpectedType`.
    public nonisolated(nonsending) func get<T: ValueRepresentable>(
        _ path: String, as type: T.Type, presentation: Bool = false
    ) async throws(ClientError) -> T {
        let value = try await get(path, presentation: presentation)
        guard let converted = T(value) else {
            throw .unexpectedType(path: path, wanted: "\(type)", found: value.shortTypeName)
        }
        return converted
    }

    /// Several attributes at one revision, in the order of `paths`. A path that names nothing has an error.
    public nonisolated(nonsending) func get(
        _ paths: [String], presentation: Bool = false
    ) async throws(ClientError) -> (contents: [(path: String, content: Content)], revision: UInt64) {
        let result = try await call(.get(.init(paths: paths, presentation: presentation, typed: true)))
        guard let values = result.map?["values"]?.map else { throw .malformed("get was answered without values") }
        var contents: [(path: String, content: Content)] = []
        for (path, content) in values {
            contents.append((path.string ?? "", try Content(result: content, typed: true)))
        }
        return (contents, try revision(of: result))
    }

    /// - Returns: the revision that contains the value.
    @discardableResult
    public nonisolated(nonsending) func set(
        _ path: String, to value: some ValueRepresentable, options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> UInt64 {
        try await commit(options) { .set(Mutation(operation: .set, path: path, value: value.value), $0) }
    }

    @discardableResult
    public nonisolated(nonsending) func toggle(
        _ path: String, options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> UInt64 {
        try await transact([Mutation(operation: .toggle, path: path)], options: options)
    }

    /// Adds to a number, a duration or a timestamp. No other client's change is lost in between.
    @discardableResult
    public nonisolated(nonsending) func add(
        _ path: String, _ amount: some ValueRepresentable, options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> UInt64 {
        try await transact([Mutation(operation: .add, path: path, value: amount.value)], options: options)
    }

    /// Commits all mutations or none, as one revision.
    @discardableResult
    public nonisolated(nonsending) func transact(
        _ mutations: [Mutation], options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> UInt64 {
        try await commit(options) { .transact(mutations, $0) }
    }

    /// Calls an action of a node.
    /// - Parameter arguments: the action's parameters by name; those with a default may be left out.
    /// - Returns: the revision that contains everything that it writes.
    @discardableResult
    public nonisolated(nonsending) func `do`(
        _ path: String, _ arguments: [String: any ValueRepresentable] = [:],
        options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> UInt64 {
        try await commit(options) { .do(path: RequestPath(path), arguments: ValueMap(arguments), $0) }
    }

    /// Mutations that the daemon commits when this client's connection ends for any reason. Each connection begins with
    /// them, also the first one if no daemon answers now. If the daemon refuses them then, the request that opened the
    /// connection throws the refusal and is not sent. Later connections do without them.
    /// - Returns: nil if no daemon has confirmed them yet.
    @discardableResult
    public nonisolated(nonsending) func onDisconnect(
        _ mutations: [Mutation], options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> UInt64? {
        var options = options
        options.typed = true
        let line = channel.encode(.onDisconnect(mutations, options))
        var revision: UInt64?
        do throws(ClientError) {
            let (id, reply) = try await exchange(line)
            if id != nil { revision = try self.revision(of: try reply.get()) }
        } catch {
            switch error {
            // The next connection begins with them.
            case .unreachable, .lost, .timedOut: break
            default: throw error
            }
        }
        channel.leave(line)
        return revision
    }

    private nonisolated(nonsending) func commit(
        _ options: TransactionOptions, _ request: (TransactionOptions) -> Request
    ) async throws(ClientError) -> UInt64 {
        var options = options
        options.typed = true
        return try revision(of: try await call(request(options)))
    }

    private func revision(of result: Value) throws(ClientError) -> UInt64 {
        guard case .int(let number)? = result.map?["revision"] else { throw .malformed("an answer without a revision") }
        return UInt64(clamping: number)
    }
}

// MARK: Asking and waiting

/// The recorded past of an attribute. Stretches of time without a number are left out.
public struct History: Hashable, Sendable {
    /// The time at which each stretch begins, oldest first.
    public var times: [Timestamp]
    /// The least value in each stretch.
    public var least: [Double]
    /// The greatest value in each stretch.
    public var greatest: [Double]
    /// The length of a stretch.
    public var step: TimeSpan
    /// The time that is recorded.
    public var span: TimeSpan
    public var revision: UInt64
}

extension Client {
    /// The least and the greatest values of an attribute whose definition has `history`, by time.
    public nonisolated(nonsending) func history(_ path: String) async throws(ClientError) -> History {
        let result = try await call(.history(path: path))
        func members<T>(_ name: String, _ read: (Value) -> T?) throws(ClientError) -> [T] {
            let list = result.map?[name]?.list ?? []
            let read = list.compactMap(read)
            guard result.map?[name]?.list != nil, read.count == list.count else {
                throw .malformed("a history with wrong \(name)")
            }
            return read
        }
        func span(_ name: String) throws(ClientError) -> TimeSpan {
            guard let seconds = result.map?[name]?.number, let nanoseconds = Int64(exactly: (seconds * 1e9).rounded())
            else { throw .malformed("a history without \(name)") }
            return TimeSpan(nanoseconds: nanoseconds)
        }
        return History(
            times: try members("times") { $0.string.flatMap { Timestamp($0) } }, least: try members("least", \.number),
            greatest: try members("greatest", \.number), step: try span("step"), span: try span("span"),
            revision: try revision(of: result))
    }

    /// Evaluates a rule once.
    /// - Parameters:
    ///   - node: the path of the node whose names the rule can use.
    ///   - bindings: variables by name.
    /// - Throws: `attribute` if the rule fails, and the errors of `call`.
    public nonisolated(nonsending) func eval(
        _ expression: String, at node: String? = nil, bindings: [String: any ValueRepresentable] = [:]
    ) async throws(ClientError) -> Value {
        let request = Request.eval(expression: expression, bindings: ValueMap(bindings), at: node, typed: true)
        switch try Content(result: try await call(request), typed: true) {
        case .value(let value): return value
        case .failure(let failure): throw .attribute(failure)
        }
    }

    /// - Throws: also `unexpectedType`.
    public nonisolated(nonsending) func eval<T: ValueRepresentable>(
        _ expression: String, as type: T.Type, at node: String? = nil,
        bindings: [String: any ValueRepresentable] = [:]
    ) async throws(ClientError) -> T {
        let value = try await eval(expression, at: node, bindings: bindings)
        guard let converted = T(value) else {
            throw .unexpectedType(path: "'\(expression)'", wanted: "\(type)", found: value.shortTypeName)
        }
        return converted
    }

    /// Waits until a condition is true of the value of an attribute. While the attribute has an error or another type,
    /// it waits. It goes on after a loss of the connection.
    /// - Parameter timeout: maximum seconds, also for a daemon that is not there; nil waits without limit.
    /// - Returns: the value.
    /// - Throws: `waited` with the last value; `unreachable` or `gaveUp` if no first connection is made; `ended` if the
    ///   attribute is removed; `refused`, `cancelled`.
    public nonisolated(nonsending) func waitFor<T: ValueRepresentable>(
        _ path: String, as type: T.Type = T.self, timeout: Double? = nil, until condition: (T) -> Bool
    ) async throws(ClientError) -> T {
        let source = WatchSource(
            location: location, name: name, principal: principal, timeout: self.timeout, retry: retry,
            backoff: Backoff())
        let feed = try EventFeed(.init(patterns: [path], typed: true), from: source)
        let timer = timeout.map { seconds in
            Task {
                try? await Task.sleep(for: .seconds(seconds))
                feed.close()
            }
        }
        defer {
            timer?.cancel()
            feed.close()
        }
        var last: Content?
        var isLive = false
        let decoder = MessageDecoder()
        while let news = try await feed.next(isolation: #isolation) {
            switch news {
            case .interrupted: isLive = false
            case .resumed: isLive = true
            case .event(let message):
                isLive = true
                guard case .event(_, .update(_, _, _, _, _, let changes, _)) = try decoder.decode(message, typed: true)
                else { continue }
                for change in changes {
                    last = change.content
                    if case .value(let value) = change.content, let value = T(value), condition(value) { return value }
                }
            }
        }
        guard let timeout, !Task.isCancelled else { throw .cancelled }
        throw .waited(path, seconds: timeout, state: ClientError.text(last), isLive: isLive)
    }
}

extension ValueMap {
    fileprivate init(_ members: [String: any ValueRepresentable]) {
        self.init(members.map { (.string($0.key), $0.value.value) })
    }
}

// MARK: Definitions

/// The changes that a scene made in the tree, or would make.
public struct AppliedScene: Hashable, Sendable {
    public var revision: UInt64
    /// Paths of nodes.
    public var added: [String]
    public var removed: [String]
    /// Nodes whose definition changed.
    public var changed: [String]
}

extension Client {
    /// Checks a whole scene document and then adds it to the tree.
    /// - Parameters:
    ///   - document: YAML or JSON.
    ///   - dryRun: only check, and return what would change.
    @discardableResult
    public nonisolated(nonsending) func apply(
        document: String, at path: String = "/", mode: Request.ApplyMode = .create, dryRun: Bool = false,
        options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> AppliedScene {
        try await apply(.init(document: .string(document), at: path, mode: mode, dryRun: dryRun, options: options))
    }

    @discardableResult
    public nonisolated(nonsending) func apply(_ request: Request.Apply) async throws(ClientError) -> AppliedScene {
        let result = try await call(.apply(request))
        func texts(_ name: String) -> [String] { (result.map?[name]?.list ?? []).compactMap(\.string) }
        return AppliedScene(
            revision: try revision(of: result), added: texts("added"), removed: texts("removed"),
            changed: texts("changed"))
    }

    @discardableResult
    public nonisolated(nonsending) func remove(
        _ path: String, options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> UInt64 {
        try revision(of: try await call(.remove(path: path, options)))
    }

    /// Brings back a node of a scene that was removed or moved away.
    @discardableResult
    public nonisolated(nonsending) func restore(
        _ path: String, options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> UInt64 {
        try revision(of: try await call(.restore(path: path, options)))
    }

    /// Moves a node to another parent, or to another position among its siblings.
    /// - Parameters:
    ///   - parent: nil for the present one.
    ///   - index: nil for the last position.
    @discardableResult
    public nonisolated(nonsending) func move(
        _ path: String, to parent: String? = nil, index: Int? = nil, options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> UInt64 {
        try revision(of: try await call(.move(path: path, to: parent, index: index, options)))
    }
}
