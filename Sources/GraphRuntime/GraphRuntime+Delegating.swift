import AttributeValues
import ViewGraph
import WireProtocol

extension GraphRuntime {
    func delegate(_ path: String, _ client: Client) throws(Failure) -> Answer {
        let nodes = try AttributePath(node: path).nodes
        let node = try graph.node(at: nodes)
        for length in 0...nodes.count {
            guard let delegate = delegations[nodes[..<length]]?.client, delegate != client.id else { continue }
            throw Failure(
                .conflict,
                "another client performs the writes below \(AttributePath.describe(nodes: nodes[..<length]))",
                path: path, hint: "wait until that client disconnects")
        }
        let owner = client.subject
        // A node whose delegate has gone is counted already: the new delegate takes it over.
        let more = delegations[nodes[...]] == nil ? 1 : 0
        if delegations[nodes[...]]?.owner != owner {
            let used = (own: delegations.shares.used(by: owner) + 1, all: delegations.count + more)
            switch client.standing.verdict(own: used.own, used: used.all, of: limits.delegations) {
            case .fits: break
            case .full:
                throw Failure(
                    .limit, "at most \(limits.delegations) delegated nodes",
                    hint: "the setting delegations is the limit")
            case .beyondShare:
                throw Failure(
                    .limit, "\(owner) has \(used.own - 1) of \(limits.delegations) delegated nodes already",
                    hint: "the others are for other users; the setting delegations is the limit")
            }
            keep(delegationOf: nodes, .string(owner.description))
        }
        let number = watching.nextSubscription
        watching.nextSubscription += 1
        delegations.delegate(
            nodes, Delegations.Delegate(client: client.id, node: node, subscription: number, owner: owner))
        renewGuard()
        return .value(["subscription": .int(number), "revision": .int(Int64(clamping: revision))])
    }

    private func keep(delegationOf nodes: [Name], _ value: Value?) {
        store.add(StoreChange(key: Delegations.key, name: AttributePath.describe(nodes: nodes), value: value))
    }

    /// Restores the delegations of an earlier life without a delegate, so that their nodes are closed to writes.
    /// Otherwise a client could write to a mirror before its link is connected, and the owner would never hear of it.
    func restoreDelegations(_ rows: [StoredRow]) {
        for row in rows {
            guard let nodes = try? AttributePath(row.name).nodes, let node = try? graph.node(at: nodes) else {
                continue
            }
            let owner = row.value.string.flatMap(AccessRule.Subject.init(owner:))
            delegations.delegate(nodes, Delegations.Delegate(node: node, subscription: 0, owner: owner))
        }
        renewGuard()
    }

    func answer(_ forward: Int64, _ result: Value?, _ error: Failure?, _ client: Client) throws(Failure) -> Answer {
        let answer: Answer
        switch (result, error) {
        case (let result?, nil): answer = .value(result)
        case (nil, let error?): answer = .fault(RequestFault(failure: error))
        default: throw Failure(.invalid, "answer takes either result or error", hint: "give exactly one of them")
        }
        guard let finished = delegations.answer(forward, from: client.id, answer) else {
            throw Failure(
                .notFound, "no request \(forward) waits for this client",
                hint: "the client that sent it has disconnected, or forward-time is over")
        }
        tell(finished)
        return .revision(revision)
    }

    func tell(_ finished: Delegations.Finished) {
        outcome.resumed += finished.resumed
        for (client, id, answer) in finished.answers { self.answer(answer, to: id, of: client) }
    }

    /// Sends a request that writes below a delegated node to its delegate.
    func forward(_ request: Request, _ id: RequestID?, for writer: Client) -> Forwarding {
        if let known = delegations.lastForwarding(of: writer.id) {
            if case .waiting = known { outcome.parked.append(writer.id) }
            return known
        }
        guard !delegations.areAll(of: writer.id) else { return .none }
        let (found, other) = delegatedRoot(of: request, by: writer)
        // A removed node has no owner. Its delegate keeps the path, because it may make the node again.
        guard let root = found, (try? graph.node(at: Array(root), looksForNames: false)) != nil else { return .none }
        do throws(Failure) {
            try checkAccess(of: writer, to: request)
            statistics.requests += 1
            if let other { throw GraphRuntime.divided(root, other) }
            if case .onDisconnect = request {
                let place = AttributePath.describe(nodes: root)
                throw Failure(
                    .conflict, "another client performs the writes below \(place), so onDisconnect cannot write there",
                    path: place)
            }
            return try send(request, id, of: writer, below: root)
        } catch { return .answered(.fault(RequestFault(failure: error))) }
    }

    private static func divided(_ root: ArraySlice<Name>, _ other: String) -> Failure {
        Failure(
            .conflict, "another client performs the writes below \(AttributePath.describe(nodes: root))",
            path: other, hint: "change it and \(other) in two requests")
    }

    /// Sends a request to the delegate of a node.
    /// - Parameter request: all that it writes is below the node.
    private func send(
        _ request: Request, _ id: RequestID?, of writer: Client, below root: ArraySlice<Name>
    ) throws(Failure) -> Forwarding {
        guard let delegate = delegations[root] else { return .none }
        guard let client = delegate.client, clients[client] != nil else {
            // It was removed, and somebody has made it again.
            if dropDelegation(of: root) { return .none }
            let place = AttributePath.describe(nodes: root)
            throw Failure(
                .unavailable, "the client that performs the writes below \(place) is not connected",
                path: place, hint: "start that client again; for a mirror it is agd-link")
        }
        let deadline = turn.now.monotonic + limits.forwardTime
        let (number, known): (Int64, Forwarding)
        if writer.principal != nil, !writer.isInBatch {
            (number, known) = (try delegations.forward(id, of: writer.id, to: client, deadline: deadline), .deferred)
        } else {
            (number, known) = delegations.forward(writer.id, to: client, deadline: deadline)
        }
        turn.say(
            .event(
                [(client: client, subscription: delegate.subscription)],
                .forward(
                    number: number, method: "\(request.method)", parameters: request.parameters,
                    principal: writer.principal, user: writer.peer.uid)))
        if case .waiting = known { outcome.parked.append(writer.id) }
        return known
    }

    /// Drops the delegation of a node that has been removed, and that no client writes for.
    private func dropDelegation(of root: ArraySlice<Name>) -> Bool {
        guard let delegate = delegations[root], delegate.client == nil, !graph.isAlive(delegate.node) else {
            return false
        }
        delegations.remove(root)
        keep(delegationOf: Array(root), nil)
        renewGuard()
        return true
    }

    // MARK: At the state

    /// Refuses a write that has come to a state below a delegated node, unless the delegate writes. A delegate that has
    /// gone still does so by its last will, which was accepted while it was there.
    func refuseDelegated(_ state: AttributePath) throws(Failure) {
        guard let root = delegations.root(of: state), let delegate = delegations[root],
            delegate.client == nil ? !isPerformingWill : delegate.client != writer, !dropDelegation(of: root)
        else { return }
        hasReachedDelegated = writer != nil
        throw Failure(
            .conflict,
            "another client performs the writes below \(AttributePath.describe(nodes: root)), where this leads",
            path: "\(state)", hint: "send it a request that writes there alone")
    }

    /// Sends a request that leads to states below a delegated node to its delegate, as a transaction that writes these
    /// states.
    func forwardEnds(of request: Request, _ id: RequestID?, for writer: Client) -> Forwarding {
        do throws(Failure) {
            return try graph.showing(nil) { () throws(Failure) in
                guard let (mutations, options, root) = try ends(of: request, by: writer) else { return .none }
                return try send(.transact(mutations, options), id, of: writer, below: root)
            }
        } catch {
            return .answered(
                .fault(RequestFault(failure: writer.isPartial ? Failure(error.code, "the request failed") : error)))
        }
    }

    private func ends(
        of request: Request, by writer: Client
    ) throws(Failure) -> (mutations: [Mutation], options: TransactionOptions, root: ArraySlice<Name>)? {
        var mutations: [Mutation] = []
        var root: ArraySlice<Name>?
        func add(_ mutation: Mutation, _ place: Place, _ path: AttributePath) throws(Failure) {
            let end = try graph.end(ofWriteAt: place, through: path)
            guard let state = end.state else {
                throw Failure(
                    .conflict, "another client performs the writes where \(path) leads, and rules compute them",
                    path: mutation.path, hint: "write the targets of the binding instead")
            }
            try requireAuthors(of: end.way, toWrite: state)
            guard let here = delegations.root(of: state), delegations[here]?.client != writer.id,
                root == nil || root == here
            else { throw GraphRuntime.divided(root ?? [], mutation.path) }
            root = here
            mutations.append(
                Mutation(
                    operation: mutation.operation, path: "\(state)", value: mutation.value, index: mutation.index))
        }
        var options: TransactionOptions
        switch request {
        case .set(let mutation, let given):
            options = given
            let found = try graph.locate(mutation.target)
            try add(mutation, found.place, found.path)
        case .transact(let given, let all):
            options = all
            for mutation in given {
                let found = try graph.locate(mutation.target)
                try add(mutation, found.place, found.path)
            }
        case .do(let path, let arguments, let given):
            options = given
            if options.label == nil { options.label = "do \(path.text)" }
            let call = try self.call(path, arguments, options)
            options.typed = true
            for write in try graph.makeWrites(of: call) {
                var mutation = write.mutation
                if mutation.hasValue { mutation.operand = mutation.operand.typedJSON }
                try graph.leading(by: write.action) { () throws(Failure) in
                    try add(mutation, write.place, write.path)
                }
            }
        default: return nil
        }
        return root.map { (mutations, options, $0) }
    }

    /// The delegated node that the request writes below, unless its delegate is the writer, and a path that the request
    /// writes elsewhere.
    private func delegatedRoot(of request: Request, by writer: Client) -> (root: ArraySlice<Name>?, other: String?) {
        var found: ArraySlice<Name>?
        var other: String?
        for path in request.writtenPaths {
            let root = (try? AttributePath(path)).flatMap { delegations.root(of: $0) }
                .flatMap { delegations[$0]?.client == writer.id ? nil : $0 }
            if let root, found == nil || found == root { found = root } else { other = path }
        }
        return (found, other)
    }

    func expireForwards() {
        if delegations.nextDeadline != nil { tell(delegations.expire(at: turn.now.monotonic)) }
    }
}

extension Request {
    fileprivate var writtenPaths: [String] {
        switch self {
        case .set(let mutation, _): [mutation.path]
        case .transact(let mutations, _), .onDisconnect(let mutations, _): mutations.map(\.path)
        case .do(let path, _, _): [path.text]
        default: []
        }
    }
}
