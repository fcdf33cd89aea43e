import AttributeValues
import BenchmarkSupport

// Clients without any right. They can connect; all they get is refusals.

private let scene =
    #"{"agd":1,"nodes":[{"id":"top","kind":"container","state":{"x":0},"children":["#
    + (0..<50_000).map { #"{"id":"c\#($0)","state":{"v":\#($0)}}"# }.joined(separator: ",") + "]}]}"

/// One kind of message, as often as it goes in.
private func flood(_ target: Target, clients count: Int = 4, _ message: String) throws {
    var clients: [DaemonClient] = []
    for _ in 0..<count { clients.append(try target.connect()) }
    let end = MonotonicTime.now + 1.5
    while MonotonicTime.now < end {
        for client in clients { try client.send(message) }
        for client in clients { _ = try client.reply(within: 1) }
    }
}

private func rightless(_ name: String, _ run: @escaping @Sendable (Target) throws -> Void) -> Attack {
    Attack(name: "no-rights-\(name)", scene: scene, hasRights: false, run: run)
}

let rightlessAttacks = [
    rightless("long-lists") { target in
        try flood(
            target,
            DaemonClient.line("set", #"{"path":"/top.x","value":[\#(String(repeating: "1,", count: 7_500_000))1]}"#))
    },
    rightless("long-texts") { target in
        try flood(
            target,
            DaemonClient.line("set", #"{"path":"/top.x","value":"\#(String(repeating: "a", count: 15_000_000))"}"#))
    },
    rightless("documents") { target in
        let nodes = (0..<150_000).map { #"{"id":"c\#($0)","state":{"v":\#($0)},"computed":{"w":"v + 1"}}"# }.joined(
            separator: ",")
        try flood(target, DaemonClient.line("apply", #"{"document":{"agd":1,"nodes":[\#(nodes)]}}"#))
    },
    rightless("mutations") { target in
        let mutations = (0..<100_000).map { #"{"op":"set","path":"/top/c\#($0).v","value":1}"# }.joined(separator: ",")
        try flood(target, DaemonClient.line("transact", #"{"mutations":[\#(mutations)]}"#))
    },
    rightless("patterns") { target in
        let patterns = (0..<1000).map { #""/**/c\#($0).v""# }.joined(separator: ",")
        try flood(target, DaemonClient.line("subscribe", #"{"paths":[\#(patterns)]}"#))
    },
    rightless("paths") { target in
        let paths = (0..<200_000).map { #""/top/c\#($0).v""# }.joined(separator: ",")
        try flood(target, DaemonClient.line("get", #"{"paths":[\#(paths)]}"#))
    },
    rightless("evals") { target in
        try flood(target, DaemonClient.line("eval", #"{"expression":"lists.range(190000).all(i, i < 1000000)"}"#))
    },
    rightless("long-rules") { target in
        try flood(target, DaemonClient.line("eval", #"{"expression":"\#(String(repeating: "1 + ", count: 24_000))1"}"#))
    },
    rightless("descriptions") { target in
        let call = #"{"jsonrpc":"2.0","id":1,"method":"describe"}"#
        try flood(target, "[" + (0..<1024).map { _ in call }.joined(separator: ",") + "]\n")
    },
    rightless("batches") { target in
        let call = #"{"jsonrpc":"2.0","id":1,"method":"get","params":{"paths":["/**"]}}"#
        try flood(target, "[" + (0..<1024).map { _ in call }.joined(separator: ",") + "]\n")
    },
    rightless("nested-lists") { target in
        try flood(
            target,
            DaemonClient.line(
                "set",
                #"{"path":"/top.x","value":\#(String(repeating: String(repeating: "[", count: 100) + String(repeating: "]", count: 100) + ",", count: 70_000))1}"#
            ))
    },
    rightless("lines-that-are-no-requests") { target in
        try flood(target, String(repeating: "[", count: 500) + "\n")
        try flood(target, "[" + String(repeating: "0,", count: 7_000_000) + "0]\n")
    },
    rightless("storm-of-connections") { target in
        let end = MonotonicTime.now + 1.5
        while MonotonicTime.now < end {
            var clients: [DaemonClient] = []
            for _ in 0..<300 {
                let client = try target.connect()
                try client.request("ping")
                clients.append(client)
            }
        }
    },
    rightless("last-wills") { target in
        let mutations = (0..<1000).map { #"{"op":"set","path":"/top/c\#($0).v","value":1}"# }.joined(separator: ",")
        try flood(target, DaemonClient.line("onDisconnect", #"{"mutations":[\#(mutations)]}"#))
    },
]
