import AttributeValues
import BenchmarkSupport

// Clients that come, go, and do half of what they began.

private let scene = #"{"agd":1,"nodes":[{"id":"top","state":{"x":0}},"# + Trial.witnessScene + "]}"

/// As many as the daemon takes.
private func connect(_ count: Int, _ target: Target) throws -> [DaemonClient] {
    var clients: [DaemonClient] = []
    for _ in 0..<count { clients.append(try target.connect()) }
    return clients
}

let connectionAttacks = [
    // They have ended their own direction and keep what they watch.
    Attack(name: "950-half-open-clients", scene: scene, seconds: 3) { target in
        let clients = try connect(950, target)
        for client in clients {
            try client.request("subscribe", #"{"paths":["/top.x"]}"#)
            client.endSending()
        }
        let writer = try target.connect()
        for value in 1...200 { try writer.call("set", #"{"path":"/top.x","value":\#(value)}"#) }
        try writer.drain(seconds: 1.2)
        withExtendedLifetime(clients) {}
    },
    // They have begun messages and do not end them.
    Attack(name: "950-half-messages", scene: scene, seconds: 3) { target in
        let clients = try connect(950, target)
        let half =
            #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/top.x","value":""#
            + String(repeating: "a", count: 250_000)
        for client in clients { try client.send(half) }
        for client in clients { try client.send("\"}}") }
        for client in clients { try client.send("\n") }
        withExtendedLifetime(clients) {}
    },
    Attack(name: "storm-of-connections", scene: scene) { target in
        let end = MonotonicTime.now + 1.5
        while MonotonicTime.now < end {
            let clients = try connect(200, target)
            for client in clients { try client.request("ping") }
        }
    },
    // Some thousand mutations each, all at once.
    Attack(name: "storm-of-onDisconnect", scene: scene, seconds: 4) { target in
        let mutations = (0..<1000).map { #"{"op":"set","path":"/top.x","value":\#($0)}"# }.joined(separator: ",")
        var clients = try connect(900, target)
        for client in clients { try client.request("onDisconnect", #"{"mutations":[\#(mutations)]}"#) }
        for client in clients { _ = try client.reply(within: 3) }
        clients = []
        try target.connect().call("ping")
    },
    Attack(name: "batches-of-1024", scene: scene) { target in
        let client = try target.connect()
        let call = #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/top.x","value":1}}"#
        let read = #"{"jsonrpc":"2.0","id":1,"method":"describe"}"#
        for each in [call, read, call, read] {
            try client.send("[" + (0..<1024).map { _ in each }.joined(separator: ",") + "]\n")
            _ = try client.reply()
        }
    },
    Attack(name: "stop-during-a-batch-of-costly-evals", scene: scene, seconds: 0.6, ending: .stopped) { target in
        let client = try target.connect()
        let call =
            #"{"jsonrpc":"2.0","id":1,"method":"eval","params":{"expression":"lists.range(300).map(i, lists.range(300).map(j, string(i * j) + string(j))).size()"}}"#
        try client.send("[" + (0..<1024).map { _ in call }.joined(separator: ",") + "]\n")
        _ = try client.reply()
    },
]
