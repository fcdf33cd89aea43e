import BenchmarkSupport

// Clients that ask and do not read.

private let longText =
    #"{"agd":1,"nodes":[{"id":"top","state":{"text":"\#(String(repeating: "a", count: 8_000_000))","x":0}}]}"#

private let manyValues =
    #"{"agd":1,"nodes":[{"id":"rows","kind":"container","children":["#
    + (0..<5000).map { #"{"id":"r\#($0)","state":{"v":0,"text":"some text that makes events longer"}}"# }.joined(
        separator: ",") + "]}]}"

let outputAttacks = [
    Attack(name: "40-clients-that-hoard-72-MB", scene: longText, seconds: 3) { target in
        var clients: [DaemonClient] = []
        for _ in 0..<40 {
            let client = try target.connect()
            for _ in 0..<6 { try client.request("get", #"{"path":"/top.text"}"#) }
            clients.append(client)
        }
        try target.connect().call("ping")
        withExtendedLifetime(clients) {}
    },
    Attack(name: "40-clients-that-hoard-batches", scene: longText, seconds: 3) { target in
        var clients: [DaemonClient] = []
        let call = #"{"jsonrpc":"2.0","id":1,"method":"get","params":{"path":"/top.text"}}"#
        for _ in 0..<40 {
            let client = try target.connect()
            try client.send("[" + [call, call, call, call, call].joined(separator: ",") + "]\n")
            clients.append(client)
        }
        try target.connect().call("ping")
        withExtendedLifetime(clients) {}
    },
    // Every subscription is one of its own.
    Attack(name: "200-subscribers-that-never-read", scene: manyValues, seconds: 3) { target in
        var clients: [DaemonClient] = []
        for place in 0..<200 {
            let client = try target.connect()
            try client.request("subscribe", #"{"paths":["/rows/**","/rows/r\#(place).v"]}"#)
            clients.append(client)
        }
        let writer = try target.connect()
        for value in 1...20 {
            let mutations = (0..<5000).map { #"{"op":"set","path":"/rows/r\#($0).v","value":\#(value)}"# }.joined(
                separator: ",")
            try writer.call("transact", #"{"mutations":[\#(mutations)]}"#)
        }
        withExtendedLifetime(clients) {}
    },
    // All hear the same, which cannot be conflated.
    Attack(name: "900-subscribers-of-structure-that-never-read", scene: manyValues, seconds: 3) { target in
        var clients: [DaemonClient] = []
        for _ in 0..<900 {
            let client = try target.connect()
            try client.request("subscribe", #"{"paths":["/**"],"events":["structure","completion"]}"#)
            clients.append(client)
        }
        let writer = try target.connect()
        for round in 0..<100 {
            try writer.call("apply", #"{"document":{"agd":1,"nodes":[{"id":"n\#(round)","state":{"v":0}}]}}"#)
        }
        withExtendedLifetime(clients) {}
    },
]
