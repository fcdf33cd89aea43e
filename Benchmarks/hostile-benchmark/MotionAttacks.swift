import BenchmarkSupport

// Values in motion.

private func rows(_ count: Int) -> String {
    let rows = (0..<count).map { #"{"id":"r\#($0)","state":{"v":0.0}}"# }.joined(separator: ",")
    return #"{"agd":1,"nodes":[{"id":"rows","kind":"container","children":[\#(rows)]}]}"#
}

/// Sends all rows somewhere else again and again, before they have come to rest.
private func retarget(_ client: DaemonClient, rows: Int, times: Int) throws {
    for round in 1...times {
        let mutations = (0..<rows).map {
            #"{"op":"set","path":"/rows/r\#($0).v","value":\#(Double(round * 1000 + $0))}"#
        }
        try client.call(
            "transact",
            #"{"mutations":[\#(mutations.joined(separator: ","))],"animation":"spring(duration: 0.5, bounce: 0.9)"}"#)
    }
}

let motionAttacks = [
    Attack(name: "css-of-500-springs", scene: rows(500)) { target in
        let watcher = try target.connect()
        try watcher.call("subscribe", #"{"paths":["/rows/**"],"css":true}"#)
        try retarget(try target.connect(), rows: 500, times: 4)
    },
    Attack(name: "css-of-2000-springs-for-20-subscribers", scene: rows(2000)) { target in
        var watchers: [DaemonClient] = []
        for place in 0..<20 {
            let watcher = try target.connect()
            // Each watches something else besides, so that each has events of its own.
            try watcher.call("subscribe", #"{"paths":["/rows/**","/rows/r\#(place).v"],"css":true}"#)
            watchers.append(watcher)
        }
        try retarget(try target.connect(), rows: 2000, times: 3)
        withExtendedLifetime(watchers) {}
    },
    Attack(name: "frames-of-2000-springs-for-20-subscribers", scene: rows(2000)) { target in
        var watchers: [DaemonClient] = []
        for place in 0..<20 {
            let watcher = try target.connect()
            try watcher.call("subscribe", #"{"paths":["/rows/**","/rows/r\#(place).v"],"frames":{"rate":240}}"#)
            watchers.append(watcher)
        }
        let client = try target.connect()
        for _ in 0..<3 { try retarget(client, rows: 2000, times: 1) }
        withExtendedLifetime(watchers) {}
    },
]
