import AttributeValues
import ViewGraph
import WireProtocol

/// How a request that may write below a delegated node is handled.
enum Forwarding {
    /// The daemon itself performs the request.
    case none
    /// The request has to be performed again when the delegate has answered.
    case waiting
    /// The answer comes later; the client's next requests do not wait for it.
    case deferred
    case answered(Answer)
}

/// Subtrees whose writes another client performs, and the requests that wait for such a client.
///
/// The later requests of a user's connection wait for the answer, so it has at most one forwarded request. A connection
/// that acts for a principal is shared by pages: its other requests do not wait, and it has at most `mostForwards`.
final class Delegations {
    /// Rows of the store with this key have the path of a delegated node as their name.
    static let key = StoreChange.delegationKey

    struct Delegate {
        /// Nil after the client has gone, and after a restart of the daemon. The subtree stays closed to writes until
        /// there is a new delegate, or until the node is removed.
        var client: ClientID?
        /// The root of the subtree when it was delegated.
        var node: NodeID
        /// The number in the events.
        var subscription: Int64
        /// Whose share it uses; nil if the store does not know.
        var owner: AccessRule.Subject?
    }

    /// Requests that one connection may have forwarded at a time, if its later requests do not wait.
    static let mostForwards = 256

    /// The writers whose forwarded requests have an answer now.
    struct Finished {
        /// Writers whose requests have to come again, to get the answer.
        var resumed: [ClientID] = []
        /// Answers to requests for which nothing waits.
        var answers: [(client: ClientID, id: RequestID?, answer: Answer)] = []
    }

    private struct Forward {
        var number: Int64
        var delegate: ClientID
        /// Monotonic seconds.
        var deadline: Double
        /// nil until the delegate has answered. The request is then performed again, and gets it.
        var answer: Answer?
    }

    /// By node ids.
    private var delegates: [[Name]: Delegate] = [:]
    /// How many nodes each delegate has.
    private var counts: [ClientID?: Int] = [:]
    private(set) var shares = Shares<AccessRule.Subject>()
    /// By writer. Its later requests wait.
    private var forwards: [ClientID: Forward] = [:]
    /// Requests whose writers' later requests do not wait.
    private var others: [(writer: ClientID, id: RequestID?, forward: Forward)] = []
    /// Clients that have disconnected before their requests were performed. These wait for no answer.
    private var gone: Set<ClientID> = []
    private var nextNumber: Int64 = 1

    var isEmpty: Bool { delegates.isEmpty && forwards.isEmpty && others.isEmpty }
    var count: Int { delegates.count }

    var nextDeadline: Double? {
        if forwards.isEmpty, others.isEmpty { return nil }
        let waiting = forwards.values.lazy.filter { $0.answer == nil }.map(\.deadline).min()
        return others.lazy.map(\.forward.deadline).min().map { min($0, waiting ?? $0) } ?? waiting
    }

    /// True if no other client performs any writes. A mirror's link writes many paths at a time.
    func areAll(of client: ClientID) -> Bool { counts.isEmpty || counts.count == 1 && counts[client] != nil }

    subscript(root: ArraySlice<Name>) -> Delegate? { delegates[Array(root)] }

    func delegate(_ nodes: [Name], _ delegate: Delegate) { set(nodes, delegate) }

    func remove(_ root: ArraySlice<Name>) { set(Array(root), nil) }

    private func set(_ nodes: [Name], _ delegate: Delegate?) {
        if let old = delegates[nodes] {
            let left = (counts[old.client] ?? 1) - 1
            counts[old.client] = left == 0 ? nil : left
            count(-1, for: old.owner)
        }
        delegates[nodes] = delegate
        if let delegate {
            counts[delegate.client, default: 0] += 1
            count(1, for: delegate.owner)
        }
    }

    private func count(_ amount: Int, for owner: AccessRule.Subject?) {
        if let owner { shares.add(amount, for: owner) } else { shares.add(amount) }
    }

    /// The root of the delegated subtree that has a path; the outermost one if there are several.
    func root(of path: AttributePath) -> ArraySlice<Name>? {
        (0...path.nodes.count).lazy.map { path.nodes[..<$0] }.first { delegates[Array($0)] != nil }
    }

    /// The state of the client's forwarded request when it is performed again; nil if the client's next request is new.
    func lastForwarding(of writer: ClientID) -> Forwarding? {
        guard let forward = forwards[writer] else { return nil }
        if forward.answer == nil, !gone.contains(writer) { return .waiting }
        forwards[writer] = nil
        return .answered(forward.answer ?? Delegations.unknown)
    }

    /// - Returns: the number of the request.
    func forward(
        _ writer: ClientID, to delegate: ClientID, deadline: Double
    ) -> (number: Int64, outcome: Forwarding) {
        let number = nextNumber
        nextNumber += 1
        // The client has gone and does not read the answer.
        if gone.contains(writer) { return (number, .answered(Delegations.unknown)) }
        forwards[writer] = Forward(number: number, delegate: delegate, deadline: deadline)
        return (number, .waiting)
    }

    /// Forwards a request whose writer's later requests do not wait.
    /// - Returns: the number of the request.
    func forward(
        _ id: RequestID?, of writer: ClientID, to delegate: ClientID, deadline: Double
    ) throws(Failure) -> Int64 {
        guard others.lazy.filter({ $0.writer == writer }).count < Delegations.mostForwards else {
            throw Failure(
                .limit, "\(Delegations.mostForwards) requests of this connection wait for the owners of their paths",
                hint: "try again when some have been answered")
        }
        let number = nextNumber
        nextNumber += 1
        others.append((writer, id, Forward(number: number, delegate: delegate, deadline: deadline)))
        return number
    }

    /// - Returns: nil if no request of this number waits for the delegate.
    func answer(_ number: Int64, from delegate: ClientID, _ answer: Answer) -> Finished? {
        let finished = finish(with: answer) { $0.number == number && $0.delegate == delegate }
        return finished.resumed.isEmpty && finished.answers.isEmpty ? nil : finished
    }

    /// Answers the requests whose deadline is over.
    func expire(at now: Double) -> Finished {
        finish(with: Delegations.unknown) { $0.deadline <= now }
    }

    /// Forgets a client, and answers the requests that waited for it.
    func forget(_ client: ClientID) -> Finished {
        gone.remove(client)
        if isEmpty { return Finished() }
        forwards[client] = nil
        others.removeAll { $0.writer == client }
        for (nodes, var delegate) in delegates where delegate.client == client {
            delegate.client = nil
            set(nodes, delegate)
        }
        return finish(with: Delegations.unknown) { $0.delegate == client }
    }

    /// The requests of a client that has disconnected are still performed.
    func giveUp(_ writer: ClientID) { gone.insert(writer) }

    /// Answers requests that wait.
    private func finish(with answer: Answer, _ isMeant: (Forward) -> Bool) -> Finished {
        var finished = Finished()
        finished.resumed = forwards.filter { $0.value.answer == nil && isMeant($0.value) }.map(\.key)
        for writer in finished.resumed { forwards[writer]?.answer = answer }
        if others.isEmpty { return finished }
        finished.answers = others.filter { isMeant($0.forward) }.map { ($0.writer, $0.id, answer) }
        if !finished.answers.isEmpty { others.removeAll { isMeant($0.forward) } }
        return finished
    }

    private static var unknown: Answer {
        .fault(
            RequestFault(
                failure: Failure(
                    .unavailable, "outcome unknown: the owner of the path has not answered",
                    hint: "read the value to see whether it was written; the setting forward-time is the limit")))
    }
}

#if DEBUG
    extension Delegations {
        /// Describes each contradiction between the delegated nodes and their counts.
        func checkInvariants() -> [String] {
            var counted: [ClientID?: Int] = [:]
            for delegate in delegates.values { counted[delegate.client, default: 0] += 1 }
            var faults: [String] = []
            if counted != counts || shares.used != delegates.count { faults.append("delegated nodes are miscounted") }
            for forward in Array(forwards.values) + others.map(\.forward)
            where forward.answer == nil && counts[forward.delegate] == nil {
                faults.append("request \(forward.number) waits for a client that delegates nothing")
            }
            return faults
        }
    }
#endif
