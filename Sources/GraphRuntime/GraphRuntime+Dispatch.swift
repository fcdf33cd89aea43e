import AttributeValues
import ViewGraph
import WireProtocol

// Turns: dispatches commands to methods.
//
// Order within a turn: commands are performed in the order given. A transaction's events come before its reply, and the
// reply to `subscribe` comes before the subscription's events.

extension GraphRuntime {
    /// Plays one turn: applies the commands in order, and returns what clients must hear.
    public func apply(_ commands: [Command], at now: Moment) -> Outcome {
        beginTurn(at: now)
        for command in commands { take(command) }
        endTurn()
        defer { forgetOutcome() }
        return outcome
    }

    /// Begins a turn. Call `take` with each command, in order.
    public func beginTurn(at now: Moment) {
        turn.begin()
        store.beginTurn()
        recording.beginTurn(graph.counters)
        // The first turn begins at the time of the last commit.
        callFirst()
        if hasLostWills { performLostWills() }
        turn.now = now
        tickClocks()
        resumeRules()
        expireForwards()
        jobSteps = limits.sliceSteps
        doJobs()
        queue.begin()
    }

    /// Applies a command, or leaves it to the next turn (`Outcome.postponed`), so that no client delays the others for
    /// long.
    public func take(_ command: Command) {
        if case .call(let client, let id, let request) = command { return take(request, of: client, id) }
        if queue.postpones(command) { return }
        let isDone = working { apply(command) }
        queue.charge(command, isDone: isDone)
    }

    /// As `take(_:)`, for a request. As a command, it takes 7 % more instructions (decision 162).
    public func take(_ request: Request, of number: ClientID, _ id: RequestID?) {
        // A client that is gone gets no answer.
        guard let client = clients[number] else { return }
        guard queue.admits(number) else { return queue.postpone(.call(number, id: id, request), of: number) }
        let waiting = graph.waitingRuleCount
        if !working(for: client, { perform(request, for: client, id) }) {
            queue.postpone(.call(number, id: id, request), of: number)
        }
        queue.charge(request, of: client, leavesRules: graph.waitingRuleCount > waiting)
    }

    /// True if the turn has time for another request of this client.
    public func admits(_ client: ClientID) -> Bool { queue.admits(client) }

    /// Frees what the turn has left in `outcome`. Called before the next turn.
    public func forgetOutcome() { outcome.removeAll() }

    /// Ends the turn, and completes `outcome`: what clients must hear.
    public func endTurn() {
        if queue.hasLeftovers { outcome.postponed = queue.leftovers() }
        if turn.clock != nil { outcome.times = queue.times }
        if !watching.subscriptions.isEmpty { working { watching.deliverDue() } }
        store.endTurn(&outcome.changes)
        // Subscriptions end when all that they name has been removed.
        if watching.subscriptions.isEmpty { watching.updateScenePhase() }
        graph.sweepVertices()
        mostVertices = max(mostVertices, graph.counters.liveAttributes)
        recordTurn(queue.commands)
        if turn.output == nil { outcome.deliveries = turn.takeDeliveries() }
    }

    /// - Returns: false if the turn's time was over before the command was done. It then has to be applied again.
    private func apply(_ command: Command) -> Bool {
        switch command {
        case .connected(let client, let peer): clients.connect(client, peer)
        case .call: preconditionFailure("a request is taken by itself")
        case .refused(let client, let id, let fault): answer(.fault(fault), to: id, of: client)
        case .batchBegins(let client):
            clients[client]?.beginBatch(in: turn.number)
            turn.say(.batchBegins(client))
        case .batchEnds(let client):
            clients[client]?.endBatch()
            turn.say(.batchEnds(client))
            if let client = clients[client] { watching.beginSubscriptions(of: client) }
        case .disconnected(let client): return disconnect(client)
        case .behind(let client): if let client = clients[client] { watching.fallBehind(client) }
        case .drained(let client): if let client = clients[client] { watching.catchUp(client) }
        case .accessChanged(let rules): changeAccess(to: rules)
        case .gaveUp(let client): if clients[client] != nil { delegations.giveUp(client) }
        case .woken: break
        }
        return true
    }

    /// Performs a request and answers it. A refused request has changed nothing.
    /// - Returns: false for a request that has to be performed again, because its job is not done or its delegate has
    ///   not answered.
    private func perform(_ request: Request, for client: Client, _ id: RequestID?) -> Bool {
        if isPast, request.changesGraph {
            answer(
                .fault(RequestFault(failure: Failure(.readOnly, "nobody changes the past"))), to: id, of: client.id)
            return true
        }
        if request.changesStructure {
            guard let result = resultOfJob(request, for: client) else { return false }
            answer(result, to: id, of: client.id)
            return true
        }
        if !delegations.isEmpty {
            hasReachedDelegated = false
            switch forward(request, id, for: client) {
            case .none: break
            case .deferred: return true
            case .waiting: return false
            case .answered(let result):
                answer(result, to: id, of: client.id)
                return true
            }
        }
        statistics.requests += 1
        var opening: Watching.Opening?
        var result: Answer
        do throws(Failure) {
            if client.grants != nil { try checkAccess(of: client, to: request) }
            result = try graph.seeing(as: client) { () throws(Failure) in
                guard case .subscribe(let subscribe) = request else { return try self.result(of: request, for: client) }
                // It may resume from before a change of the tree in this turn.
                if subscribe.since != nil { store.takeChanges() }
                let made = try watching.prepare(subscribe, client)
                opening = made
                return subscribed(made, subscribe)
            }
            if request.onlyReads { try clients.admit(result, to: client) }
        } catch {
            result = .fault(RequestFault(failure: error))
            if hasReachedDelegated {
                hasReachedDelegated = false
                switch forwardEnds(of: request, id, for: client) {
                case .none: break
                case .deferred: return true
                case .waiting: return false
                case .answered(let other): result = other
                }
            }
        }
        answer(result, to: id, of: client.id)
        if let opening { watching.begin(opening) }
        return true
    }

    /// A notification (without id) gets no answer.
    func answer(_ result: Answer, to id: RequestID?, of client: ClientID) {
        if let id { turn.say(.reply(client, id: id, result)) }
    }

    /// Performs the method of a request.
    private func result(of request: Request, for client: Client) throws(Failure) -> Answer {
        switch request {
        case .hello(let name, let principal, let time):
            if time != nil, !isPast { throw GraphRuntime.present }
            if let principal { try act(for: principal, client) }
            return hello(name, client)
        case .ping: return .value(["pong": true])
        case .get(let get): return try reader.get(get, client)
        case .set(let mutation, let options):
            if options.isPlain { return try set(mutation, options, client) }
            return try once(options, client) { () throws(Failure) in try set(mutation, options, client) }
        case .transact(let mutations, let options):
            return try once(options, client) { () throws(Failure) in try transact(mutations, options, client) }
        case .do(let path, let arguments, let options):
            return try once(options, client) { () throws(Failure) in try callAction(path, arguments, options, client) }
        case .apply, .remove, .withdraw, .move, .restore: preconditionFailure("a job that was not queued")
        case .subscribe: preconditionFailure("answered before its first events")
        case .unsubscribe(let subscription):
            try watching.unsubscribe(subscription, client)
            return .revision(revision)
        case .onDisconnect(let mutations, let options): return try onDisconnect(mutations, options, client)
        case .delegate(let path): return try delegate(path, client)
        case .answer(let forward, let result, let error): return try self.answer(forward, result, error, client)
        case .describe(let path, let depth): return try reader.describe(path, depth)
        case .board(let path, let panel): return try reader.board(path, panel, client)
        case .explain(let path, let revision): return try reader.explain(path, revision, client)
        case .history(let path): return try reader.readPast(of: path)
        case .log, .series, .seek, .play: throw GraphRuntime.present
        case .dump(let path, let format, let layer): return try reader.dump(path, format, layer)
        case .layers(let path): return try reader.layers(path)
        case .stats(let format): return stats(format)
        case .trace(let enable): return trace(enable: enable)
        case .prune: return prune()
        case .eval(let expression, let bindings, let at, let typed):
            return try reader.eval(expression, bindings, at: at, typed: typed)
        }
    }

    /// The error of a request for the past.
    private static var present: Failure {
        Failure(.unavailable, "agd knows the present alone", hint: "agd-past serves the past, on a socket of its own")
    }

    private func hello(_ name: String?, _ client: Client) -> Answer {
        if let name { client.name = String(name.prefix(limits.nameLength)) }
        return .value([
            "server": "agd", "protocol": .int(Int64(ProtocolSchema.version)), "epoch": .string(epoch),
            "revision": .int(Int64(clamping: revision)),
            "time": ["monotonic": .double(turn.now.monotonic), "wall": .timestamp(turn.now.wall)],
        ])
    }

    private func subscribed(_ opening: Watching.Opening, _ request: Request.Subscribe) -> Answer {
        let number = opening.subscription.number
        var map = ValueMap([
            ("subscription", .int(number)), ("epoch", .string(epoch)), ("revision", .int(Int64(clamping: revision))),
        ])
        if request.since != nil { map["resumed"] = .bool(opening.isResumed) }
        return .value(.map(map))
    }

    /// Performs the client's `onDisconnect` transactions, and forgets the client.
    /// - Returns: false if the turn's time was over before. The next call continues.
    private func disconnect(_ id: ClientID) -> Bool {
        guard let client = clients[id] else { return true }
        watching.forget(client)
        tell(delegations.forget(id))
        while let left = client.will.next() {
            // The client is still known: the history names it, and its present rights apply.
            do {
                // Each transaction has its own budget, whatever the ones before have cost.
                graph.stepsLeft = max(graph.stepsLeft, limits.requestCost / limits.onDisconnectPerClient)
                try performWill(left.mutations, left.options, for: client)
            } catch { statistics.refusedOnDisconnect += 1 }
            store.add(StoreChange(key: LastWills.key, name: left.row, value: nil))
            guard turn.hasTime(limits.turnTime / 2) else { return false }
        }
        clients.forget(client)
        client.job = nil
        watching.updateScenePhase()
        return true
    }
}
