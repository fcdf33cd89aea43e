import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

extension GraphRuntime {
    /// Performs all mutations or none, as one revision. Subscribers get the changes before the reply.
    func transact(_ mutations: [Mutation], _ options: TransactionOptions, _ client: Client) throws(Failure) -> Answer {
        guard mutations.count <= limits.mutationsPerTransaction else {
            throw Failure(
                .limit, "at most \(limits.mutationsPerTransaction) mutations in a transaction",
                hint: "the setting mutations-per-transaction is the limit")
        }
        let motions = options.motions.isEmpty ? [:] : try presentations.motions(options, of: mutations.count)
        return try commit(options, client) { () throws(Failure) in
            for (position, mutation) in mutations.enumerated() {
                do throws(Failure) { try perform(mutation, options, motions.isEmpty ? nil : motions[position]) } catch {
                    guard mutations.count > 1 else { throw error }
                    throw error.within("mutations[\(position)]")
                }
            }
        }
    }

    /// The same for one mutation. With it as a collection of one, `once` included, a `set` takes 8 % more instructions
    /// (decision 162).
    func set(_ mutation: Mutation, _ options: TransactionOptions, _ client: Client) throws(Failure) -> Answer {
        try commit(options, client) { () throws(Failure) in try perform(mutation, options) }
    }

    /// - Parameter animation: of this mutation alone.
    private func perform(
        _ mutation: Mutation, _ options: TransactionOptions, _ animation: String? = nil
    ) throws(Failure) {
        try graph.charge(ViewGraph.stepsPerMutation)
        try graph.perform(mutation, options.typed, animation: animation)
    }

    /// Calls an action. It reads and writes with the rights of its author.
    func callAction(
        _ target: RequestPath, _ arguments: ValueMap, _ options: TransactionOptions, _ client: Client
    ) throws(Failure) -> Answer {
        let path = target.text
        var call = try self.call(target, arguments, options)
        call.caller = client.forActions
        if let grants = client.grants { try requireCall(of: call, at: path, grants) }
        var options = options
        if options.label == nil { options.label = "do \(path)" }
        do throws(Failure) {
            return try graph.showing(nil) { () throws(Failure) in
                let writes = try graph.makeWrites(of: call)
                guard writes.count <= limits.mutationsPerTransaction else {
                    throw Failure(.limit, "at most \(limits.mutationsPerTransaction) mutations in a transaction")
                }
                return try commit(options, client) { () throws(Failure) in try graph.perform(writes, of: call) }
            }
        } catch {
            // Clients that may not read everything must not see what the action reads and writes.
            throw client.isPartial ? Failure(error.code, "\(path) failed", path: path) : error
        }
    }

    /// A client that calls an action by an attribute that hands it down needs the right to call the action itself.
    private func requireCall(of call: ActionCall, at path: String, _ grants: Grants) throws(Failure) {
        let end = PathPattern(attributesAt: try AttributePath(graph.path(of: call.attribute)))
        guard !grants.allow(.do, end) else { return }
        throw Failure(.denied, "\(grants.title) lacks the right 'do' where \(path) leads", path: path)
    }

    func call(
        _ target: RequestPath, _ arguments: ValueMap, _ options: TransactionOptions
    ) throws(Failure) -> ActionCall {
        var given = arguments
        if options.typed { for (name, value) in arguments { given[name] = try Value(typedJSON: value) } }
        return try graph.call(actionAt: try graph.locate(target).place, named: target.text, given)
    }

    /// Commits the writes of `body`, all or none.
    private func commit(
        _ options: TransactionOptions, _ client: Client, _ body: () throws(Failure) -> Void
    ) throws(Failure) -> Answer {
        let motion = options.isPlain ? nil : try presentations.motion(options)
        let stamp = graph.stamp
        graph.begin()
        writer = client.id
        do throws(Failure) { try body() } catch {
            writer = nil
            graph.rollBack()
            statistics.refusals += 1
            throw error
        }
        writer = nil
        lastCommit.notesEqual = watching.topics.completionCount > 0
        graph.commit(into: lastCommit)
        if !lastCommit.states.isEmpty || lastCommit.hasReports || watching.isAwaited(lastCommit, motion) {
            watching.complete(lastCommit, since: stamp, by: client, options.isPlain ? nil : cut(options.label), motion)
            store.addValues(of: lastCommit.states)
        } else if store.recorder != nil {
            store.addReports(at: turn.now)
        }
        return .revision(revision)
    }

    /// Shortens a client's label for the history and events.
    func cut(_ label: String?) -> String? {
        // A text has no more characters than bytes.
        guard let label, label.utf8.count > limits.labelLength else { return label }
        return String(label.prefix(limits.labelLength))
    }

    /// Stores mutations that are committed when the client disconnects. As much as possible is checked now, so that the
    /// client learns of mistakes.
    func onDisconnect(_ mutations: [Mutation], _ options: TransactionOptions, _ client: Client) throws(Failure)
        -> Answer
    {
        guard client.will.count + mutations.count <= limits.onDisconnectPerClient else {
            throw Failure(
                .limit, "at most \(limits.onDisconnectPerClient) mutations on disconnect",
                hint: "the setting on-disconnect-per-client is the limit")
        }
        var budget = client.will.bytesLeft
        options.draw(from: &budget)
        for mutation in mutations where budget >= 0 { mutation.draw(from: &budget) }
        guard budget >= 0 else {
            throw Failure(
                .limit, "at most \(limits.onDisconnectSize) bytes of mutations on disconnect",
                hint: "the setting on-disconnect-size is the limit")
        }
        _ = try presentations.motion(options)
        writer = client.id
        defer { writer = nil }
        for mutation in mutations { try refuseHopeless(mutation, options.typed) }
        let entry = LastWill.Entry(mutations: mutations, options: options, row: wills.nextRow())
        let author = try authors.author(client, by: clients.access)
        for change in authors.takeUnkept() { store.add(change) }
        store.add(StoreChange(key: LastWills.key, name: entry.row, value: entry.kept(of: client, author)))
        client.will.append(entry, bytesLeft: budget)
        return .revision(revision)
    }

    /// Tries a mutation, undoes it, and refuses it if it could never be committed. Checks that depend on the value at
    /// that place are left to the time of the commit.
    private func refuseHopeless(_ mutation: Mutation, _ typed: Bool) throws(Failure) {
        let path = try AttributePath(mutation.path)
        let place = try graph.locate(path)
        graph.begin()
        defer { graph.rollBack() }
        do throws(Failure) { try graph.perform(mutation, typed) } catch {
            if hasReachedDelegated {
                hasReachedDelegated = false
                throw error
            }
            switch error.code {
            case .typeMismatch where mutation.operation != .set && !graph.isOfOneType(place): break
            case .typeMismatch, .readOnly, .dangling, .removed, .invalid, .denied: throw error
            default: break
            }
        }
    }
}
