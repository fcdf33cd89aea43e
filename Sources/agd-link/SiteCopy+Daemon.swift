import AGClient
import AttributeValues
import LinkProtocol
import WireProtocol

// A mirrored site and the daemon.
extension SiteCopy {
    /// Sends the queued requests. A copy that the daemon does not have yet is applied whole.
    func flush(_ connection: Connection, _ pulse: Pulse, _ log: inout Log) throws(ClientError) {
        if !told.isApplied, !(try adopt(connection, &log)) { return }
        guard !isLoop else { return try leave(connection, &log) }
        // First, because the nodes may be an earlier link's, which the daemon keeps for a link.
        guard try delegate(connection, &log) else { return }
        try send(connection, pulse, &log)
        try verify(connection, pulse, &log)
        guard try delegate(connection, &log) else { return }
        for place in nested.union([SiteCopy.isLiveOfRoot]) where told.willed.insert(place).inserted {
            let options = TransactionOptions(label: "\(name): agd-link has ended", typed: true)
            let mutation = Mutation(operation: .set, path: path + place.path, value: false)
            _ = try connection.call(.onDisconnect([mutation], options))
        }
    }

    /// Shows that the site is silent because its messages or its state cannot be taken. The last good state stays.
    func show(_ problem: String, _ failure: Failure, _ connection: Connection) throws(ClientError) {
        let willed = told.willed
        (told, waiting) = (Told(), [])
        told.willed = willed
        let parts = [failure.message, failure.path.map { "at \($0)" }, failure.hint].compactMap(\.self)
        let text = "\(problem): \(parts.joined(separator: "; "))"
        told.fault = failure.message
        let reason: Value = ["/": .string(text)]
        let options = TransactionOptions(label: name, typed: true)
        do throws(ClientError) {
            let mutations = [mutation("isLive", false), mutation("failures", reason)]
            _ = try connection.call(.transact(mutations, options))
        } catch {
            guard case .refused = error else { throw error }
            try makeRoot(reason, connection)
        }
    }

    /// Makes a root without nodes and attributes of the site, unless the daemon refuses even that.
    private func makeRoot(_ failures: Value, _ connection: Connection) throws(ClientError) {
        let root = rootDocument(ownStates(term: 0, revision: 0, failures), ValueMap())
        do throws(ClientError) {
            _ = try connection.call(.apply(["nodes": [root]], at: container, .merge, name))
        } catch { guard case .refused = error else { throw error } }
    }

    /// A site that contains a mirror of itself would change with each of its own changes, and grow.
    private func leave(_ connection: Connection, _ log: inout Log) throws(ClientError) {
        (told.isApplied, waiting) = (false, [])
        log.report(
            "loop \(name)",
            "\(name) contains a mirror of itself, so it is no longer followed: publish a part without the mirror")
        let options = TransactionOptions(label: name, typed: true)
        do throws(ClientError) {
            _ = try connection.call(.transact([mutation("isLive", .bool(false))], options))
        } catch { guard error.failure?.code == .notFound else { throw error } }
    }

    /// Takes over the nodes that an earlier link has left, and queues what makes them those of the tree.
    /// - Returns: false if nothing is known of the site that is as new as these nodes.
    private func adopt(_ connection: Connection, _ log: inout Log) throws(ClientError) -> Bool {
        guard let position = feed.position else { return false }
        var found: ValueMap?
        do throws(ClientError) {
            found = try connection.call(.describe(path: path, depth: 0)).map?["attributes"]?.map
        } catch {
            guard error.failure?.code == .notFound else { throw error }
        }
        // NATS may answer with what it had some time ago. A mirror never goes back.
        if let shown = Position(found?["term"]?.map?["value"], found?["revision"]?.map?["value"]), position < shown {
            feed.needSnapshot(in: 1)
            log.report(name, "\(name): NATS has an older state than this mirror; reading again")
            return false
        }
        queueAll(found: found)
        return true
    }

    private func send(_ connection: Connection, _ pulse: Pulse, _ log: inout Log) throws(ClientError) {
        let requests = waiting
        waiting = []
        // Transactions that the daemon has not answered yet.
        var sent: [Int64] = []
        for request in requests {
            if case .transact(_, let options) = request, options.motions.isEmpty {
                sent.append(connection.send(request))
                continue
            }
            // The daemon may refuse these, and they are done in another way then.
            try receiveAnswers(to: &sent, connection)
            // Each may take a while.
            pulse.beat()
            do throws(ClientError) { _ = try connection.call(request) } catch {
                guard case .refused = error else { throw error }
                switch request {
                case .transact(let mutations, var options):
                    // A curve that this daemon does not know: the values count.
                    (options.motions, options.elapsed) = ([], 0)
                    _ = try connection.call(.transact(mutations, options))
                case .apply where !rules.isEmpty:
                    log.report("rules of \(name)", "\(name) is mirrored without its rules: \(error.told)")
                    withoutRule.formUnion(rules)
                    queueStructure()
                    return try send(connection, pulse, &log)
                default: throw error
                }
            }
            // The root that is made next is another one.
            if case .remove = request { told.isDelegated = false }
        }
        try receiveAnswers(to: &sent, connection)
    }

    private func receiveAnswers(to sent: inout [Int64], _ connection: Connection) throws(ClientError) {
        for id in sent { _ = try connection.answer(to: id) }
        sent = []
    }

    /// Has writes of others to the site sent to this connection, once the daemon has its root.
    /// - Returns: false if another client, as a second link, has the writes. The writes of this connection would reach
    ///   the owner.
    private func delegate(_ connection: Connection, _ log: inout Log) throws(ClientError) -> Bool {
        guard !told.isDelegated else { return true }
        do throws(ClientError) {
            _ = try connection.call(.delegate(path: path))
            told.isDelegated = true
        } catch {
            guard let failure = error.failure else { throw error }
            if failure.code == .notFound { return true }
            log.report("delegate \(name)", "\(name) is not mirrored at \(path): \(error.told)")
            (told.isApplied, waiting) = (false, [])
            refusal.note(nil)
            return false
        }
        return true
    }

    // MARK: Rules

    /// Compares what rules have computed here with the owner's values. Where they differ, the owner's values count from
    /// now on.
    private func verify(_ connection: Connection, _ pulse: Pulse, _ log: inout Log) throws(ClientError) {
        while !unverified.isEmpty {
            let differing = try findDiffering(connection)
            unverified = []
            if differing.isEmpty { return }
            withoutRule.formUnion(differing)
            queueStructure()
            try send(connection, pulse, &log)
        }
    }

    private func findDiffering(_ connection: Connection) throws(ClientError) -> [Transaction.Place] {
        let paths = unverified.count > 100 ? [path + "/**"] : unverified.map { path + $0.path }
        let result = try connection.call(.get(.init(paths: paths, typed: true)))
        let values = result.map?["values"]?.map ?? ValueMap()
        var differing: [Transaction.Place] = []
        for place in unverified where findRule(place) != nil {
            guard let theirs = tree.contents[place] else { continue }
            var ours: Content?
            if let result = values[.string(path + place.path)] { ours = try Content(result: result, typed: true) }
            if ours?.value != theirs.value { differing.append(place) }
        }
        return differing
    }
}
