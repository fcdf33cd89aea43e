import AttributeValues
import ViewGraph
import WireProtocol

/// How a request that may write below a delegated node is handled.
enum Forwarding {
    /// The daemon itself performs the request.
    case none
    /// The request has to be performed again when the delegate has answered.
    case waiting
    case answered(Answer)
}

/// Subtrees whose writes another client performs, and the requests that wait for such a client.
///
/// A client has at most one forwarded request, because its later requests wait for the answer. So all is bounded by
/// `limits.delegations` and the number of clients.
struct Delegations {
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
    private var delegates: [[String]: Delegate] = [:]
    /// By writer.
    private var forwards: [ClientID: Forward] = [:]
    /// Clients that have disconnected before their requests were performed. These wait for no answer.
    private var gone: Set<ClientID> = []
    private var nextNumber: Int64 = 1

    var isEmpty: Bool { delegates.isEmpty && forwards.isEmpty }
    var count: Int { delegates.count }

    var nextDeadline: Double? {
        if forwards.isEmpty { return nil }
        return forwards.values.lazy.filter { $0.answer == nil }.map(\.deadline).min()
    }

    /// True if no other client performs any writes. A mirror's link writes many paths at a time.
    func areAll(of client: ClientID) -> Bool { delegates.values.allSatisfy { $0.client == client } }

    subscript(root: ArraySlice<String>) -> Delegate? { delegates[Array(root)] }

    mutating func delegate(_ nodes: [String], _ node: NodeID, to client: ClientID?, subscription: Int64) {
        delegates[nodes] = Delegate(client: client, node: node, subscription: subscription)
    }

    mutating func remove(_ root: ArraySlice<String>) { delegates[Array(root)] = nil }

    /// The root of the delegated subtree that has a path; the outermost one if there are several.
    func root(of path: AttributePath) -> ArraySlice<String>? {
        (0...path.nodes.count).lazy.map { path.nodes[..<$0] }.first { delegates[Array($0)] != nil }
    }

    /// The state of the client's forwarded request when it is performed again; nil if the client's next request is new.
    mutating func lastForwarding(of writer: ClientID) -> Forwarding? {
        guard let forward = forwards[writer] else { return nil }
        if forward.answer == nil, !gone.contains(writer) { return .waiting }
        forwards[writer] = nil
        return .answered(forward.answer ?? Delegations.unknown)
    }

    /// - Returns: the number of the request.
    mutating func forward(
        _ writer: ClientID, to delegate: ClientID, deadline: Double
    ) -> (number: Int64, outcome: Forwarding) {
        let number = nextNumber
        nextNumber += 1
        // The client has gone and does not read the answer.
        if gone.contains(writer) { return (number, .answered(Delegations.unknown)) }
        forwards[writer] = Forward(number: number, delegate: delegate, deadline: deadline)
        return (number, .waiting)
    }

    /// - Returns: the writer, whose request has to come again; nil if no request of this number waits for the delegate.
    mutating func answer(_ number: Int64, from delegate: ClientID, _ answer: Answer) -> ClientID? {
        finish(with: answer) { $0.number == number && $0.delegate == delegate }.first
    }

    /// - Returns: the writers whose deadline is over.
    mutating func expire(at now: Double) -> [ClientID] {
        finish(with: Delegations.unknown) { $0.deadline <= now }
    }

    /// Forgets a client.
    /// - Returns: the writers that waited for it.
    mutating func forget(_ client: ClientID) -> [ClientID] {
        gone.remove(client)
        if isEmpty { return [] }
        forwards[client] = nil
        for (nodes, delegate) in delegates where delegate.client == client { delegates[nodes]?.client = nil }
        return finish(with: Delegations.unknown) { $0.delegate == client }
    }

    /// The requests of a client that has disconnected are still performed.
    mutating func giveUp(_ writer: ClientID) { gone.insert(writer) }

    /// Answers requests that wait.
    /// - Returns: their writers.
    private mutating func finish(with answer: Answer, _ isMeant: (Forward) -> Bool) -> [ClientID] {
        let writers = forwards.filter { $0.value.answer == nil && isMeant($0.value) }.map(\.key)
        for writer in writers { forwards[writer]?.answer = answer }
        return writers
    }

    private static var unknown: Answer {
        .fault(
            RequestFault(
                failure: Failure(
                    .unavailable, "outcome unknown: the owner of the path has not answered",
                    hint: "read the value to see whether it was written; the setting forward-time is the limit")))
    }
}
