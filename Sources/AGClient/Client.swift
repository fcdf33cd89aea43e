@_exported public import AttributeValues
@_exported public import WireProtocol

/// The daemon's client for Swift programs with tasks. Any number of tasks may use one client. Their requests share a
/// connection. The first request opens it, and the next request after a loss opens it again.
///
/// If the connection ends before the answer to a request arrives, the request throws `lost` and is not repeated: the
/// daemon may have performed it.
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
    private let channel: RequestChannel

    /// Does not connect yet.
    /// - Parameter name: the daemon's name for this client in explanations.
    /// - Throws: `system` if there are no descriptors left.
    public init(at location: SocketLocation = .find(), name: String? = nil) throws(ClientError) {
        self.location = location
        self.name = name
        channel = try RequestChannel(to: location, name: name)
    }

    deinit { channel.close() }

    /// Sends any request and returns its result unchanged.
    /// - Throws: `refused` with the daemon's reason, `unreachable`, `lost`, `cancelled`.
    public nonisolated(nonsending) func call(_ request: Request) async throws(ClientError) -> Value {
        let line = try await channel.exchange(request)
        guard case .reply(_, let reply) = try MessageDecoder().decode(line) else {
            throw .malformed("an event where a reply was expected")
        }
        return try reply.get()
    }

    /// Sends nothing before the sequence is iterated. Values are always sent typed.
    public func subscribe(_ request: Request.Subscribe, backoff: Backoff = Backoff()) -> Subscription {
        var request = request
        request.typed = true
        return Subscription(request: request, location: location, name: name, backoff: backoff)
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
        try await transact([Mutation(operation: .set, path: path, value: value.value)], options: options)
    }

    @discardableResult
    public nonisolated(nonsending) func toggle(
        _ path: String, options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> UInt64 {
        try await transact([Mutation(operation: .toggle, path: path)], options: options)
    }

    /// Commits all mutations or none, as one revision.
    @discardableResult
    public nonisolated(nonsending) func transact(
        _ mutations: [Mutation], options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> UInt64 {
        try await commit(mutations, options) { .transact($0, $1) }
    }

    /// Mutations that the daemon commits when this client's connection ends for any reason.
    @discardableResult
    public nonisolated(nonsending) func onDisconnect(
        _ mutations: [Mutation], options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> UInt64 {
        try await commit(mutations, options) { .onDisconnect($0, $1) }
    }

    private nonisolated(nonsending) func commit(
        _ mutations: [Mutation], _ options: TransactionOptions, _ request: ([Mutation], TransactionOptions) -> Request
    ) async throws(ClientError) -> UInt64 {
        var options = options
        options.typed = true
        return try revision(of: try await call(request(mutations, options)))
    }

    private func revision(of result: Value) throws(ClientError) -> UInt64 {
        guard case .int(let number)? = result.map?["revision"] else { throw .malformed("an answer without a revision") }
        return UInt64(clamping: number)
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
}
