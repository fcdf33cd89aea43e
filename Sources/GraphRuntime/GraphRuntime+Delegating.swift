import AttributeValues
import ViewGraph
import WireProtocol

extension GraphRuntime {
    func delegate(_ path: String, _ client: Client) throws(Failure) -> Answer {
        let nodes = try AttributePath(node: path).nodes
        let node = try graph.node(at: nodes)
        for length in 0...nodes.count {
            guard let holder = delegations[nodes[..<length]]?.client, holder != client.id else { continue }
            throw Failure(
                .conflict,
                "another client performs the writes below \(AttributePath.describe(nodes: Array(nodes[..<length])))",
                path: path, hint: "wait until that client disconnects")
        }
        guard delegations[nodes[...]] != nil || delegations.count < limits.delegations else {
            throw Failure(
                .limit, "at most \(limits.delegations) delegated nodes", hint: "the setting delegations is the limit")
        }
        if delegations[nodes[...]] == nil { keep(delegationOf: nodes, true) }
        let number = watching.nextSubscription
        watching.nextSubscription += 1
        delegations.delegate(nodes, node, to: client.id, subscription: number)
        return .value(["subscription": .int(number), "revision": .int(Int64(clamping: revision))])
    }

    private func keep(delegationOf nodes: [String], _ value: Value?) {
        store.add(StoreChange(key: Delegations.key, name: AttributePath.describe(nodes: nodes), value: value))
    }

    /// Restores the delegations of an earlier life without a delegate, so that their nodes are closed to writes.
    /// Otherwise a client could write to a mirror before its link is connected, and the owner would never hear of it.
    func restoreDelegations(_ rows: [StoredRow]) {
        for row in rows {
            guard let nodes = try? AttributePath(row.name).nodes, let node = try? graph.node(at: nodes) else {
                continue
            }
            delegations.delegate(nodes, node, to: nil, subscription: 0)
        }
    }

    func answer(_ forward: Int64, _ result: Value?, _ error: Failure?, _ client: Client) throws(Failure) -> Answer {
        let answer: Answer
        switch (result, error) {
        case (let result?, nil): answer = .value(result)
        case (nil, let error?): answer = .fault(RequestFault(failure: error))
        default: throw Failure(.invalid, "answer takes either result or error", hint: "give exactly one of them")
        }
        guard let writer = delegations.answer(forward, from: client.id, answer) else {
            throw Failure(
                .notFound, "no request \(forward) waits for this client",
                hint: "the client that sent it has disconnected, or forward-time is over")
        }
        outcome.resumed.append(writer)
        return .revision(revision)
    }

    /// Sends a request that writes below a delegated node to its delegate.
    func forward(_ request: Request, for writer: Client) -> Forwarding {
        if let known = delegations.lastForwarding(of: writer.id) {
            if case .waiting = known { outcome.parked.append(writer.id) }
            return known
        }
        guard !delegations.areAll(of: writer.id) else { return .none }
        let (found, other) = delegatedRoot(of: request, by: writer)
        guard let root = found, let delegate = delegations[root] else { return .none }
        do throws(Failure) {
            try checkAccess(of: writer, to: request)
            statistics.requests += 1
            let place = AttributePath.describe(nodes: Array(root))
            if let other {
                throw Failure(
                    .conflict, "another client performs the writes below \(place)", path: other,
                    hint: "change it and \(other) in two requests")
            }
            if case .onDisconnect = request {
                throw Failure(
                    .conflict, "another client performs the writes below \(place), so onDisconnect cannot write there",
                    path: place)
            }
            guard let client = delegate.client, clients[client] != nil else {
                // A removed node has no owner.
                if !graph.isAlive(delegate.node) {
                    delegations.remove(root)
                    keep(delegationOf: Array(root), nil)
                    return .none
                }
                throw Failure(
                    .unavailable, "the client that performs the writes below \(place) is not connected",
                    path: place, hint: "start that client again; for a mirror it is agd-link")
            }
            let (number, known) = delegations.forward(
                writer.id, to: client, deadline: turn.now.monotonic + limits.forwardTime)
            turn.say(
                .event(
                    [(client: client, subscription: delegate.subscription)],
                    .forward(
                        number: number, method: "\(request.method)", parameters: request.parameters,
                        principal: writer.principal, user: writer.peer.uid)))
            if case .waiting = known { outcome.parked.append(writer.id) }
            return known
        } catch { return .answered(.fault(RequestFault(failure: error))) }
    }

    /// The delegated node that the request writes below, unless its delegate is the writer, and a path that the request
    /// writes elsewhere.
    private func delegatedRoot(of request: Request, by writer: Client) -> (root: ArraySlice<String>?, other: String?) {
        var found: ArraySlice<String>?
        var other: String?
        for path in request.writtenPaths {
            let root = (try? AttributePath(path)).flatMap { delegations.root(of: $0) }
                .flatMap { delegations[$0]?.client == writer.id ? nil : $0 }
            if let root, found == nil || found == root { found = root } else { other = path }
        }
        return (found, other)
    }

    func expireForwards() {
        if delegations.nextDeadline != nil { outcome.resumed += delegations.expire(at: turn.now.monotonic) }
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
