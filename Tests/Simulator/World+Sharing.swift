import AttributeValues
import CSimulatedKernel
import TestSupport

// [limits] A greedy user takes as much of what all share as the daemon lets him. Beside him a modest one always
// connects, is always answered, and never waits for more than a few turns of the loop.
extension World {
    /// Turns after which a modest client has its answer: the bytes are read in one, and another may have no time left.
    static let turnsToAnswer = 3

    /// The clients of the greedy user: many connections, and long answers that they do not read.
    func crowd() {
        for client in clients where client.role == .greedy && generator.chance(70) { beGreedy(client) }
    }

    func beGreedy(_ client: Client) {
        guard hasGreed, connect(client), client.pending.count < 60, client.output.count < 100_000 else { return }
        client.isStalled = true
        for _ in 0..<1 + generator.below(8) {
            switch generator.below(4) {
            case 0: send(client, "subscribe", "{\"paths\":[\"/w/**\"]}", .greedy)
            case 1: send(client, "get", "{\"paths\":[\"/w/**\",\"/c/**\",\"/bank/**\"]}", .greedy)
            default: send(client, "ping", "{}", .greedy)
            }
        }
    }

    func beModest() {
        guard let client = clients.first(where: { $0.role == .modest }), daemon != nil, !isDiskFaulty else { return }
        sim_set_short(false)
        if let connection = client.connection, sim_is_over(connection) { lose(client) }
        guard connect(client), client.pending.isEmpty, !client.hasEnded else { return }
        let connection = client.connection
        for greedy in clients where greedy.role == .greedy || greedy.role == .writer { greedy.flush() }
        let isGet = generator.chance(50)
        send(client, isGet ? "get" : "ping", isGet ? "{\"paths\":[\"/w.a\"]}" : "{}", isGet ? .get : .ping)
        for _ in 0..<World.turnsToAnswer {
            turn()
            read([client])
            // It was killed, or the power was cut.
            if daemon == nil { return }
            if client.pending.isEmpty { return }
            if client.connection != connection { return fault("[limits] the modest client is disconnected") }
        }
        fault("[limits] the modest client waits for more than \(World.turnsToAnswer) turns")
    }
}
