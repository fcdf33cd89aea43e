// Documents and reads as large as they may be.

private func nodes(_ count: Int) -> String {
    #"{"agd":1,"nodes":[{"id":"top","kind":"container","children":["#
        + (0..<count).map { #"{"id":"c\#($0)","state":{"v":\#($0)}}"# }.joined(separator: ",") + "]}]}"
}

private let list =
    #"{"agd":1,"nodes":[{"id":"top","kind":"container","state":{"x":0},"children":[{"id":"list","forEach":{"in":"=lists.range(x)","id":"self","as":"i","node":{"let":{"y":"=i"}}}}]}]}"#

let documentAttacks = [
    Attack(name: "document-of-200000-nodes", seconds: 4) { target in
        let client = try target.connect()
        try client.call("apply", #"{"document":\#(nodes(200_000))}"#)
        try client.call("remove", #"{"path":"/top"}"#)
    },
    // The store has all of it; the next start has it, too.
    Attack(name: "document-of-200000-nodes-as-text", seconds: 6, ending: .restarted) { target in
        let text = nodes(200_000).replacing("\"", with: "\\\"")
        try target.connect().call("apply", #"{"document":"\#(text)","mode":"merge"}"#)
    },
    Attack(name: "document-of-200000-nodes-watched", seconds: 6) { target in
        let watcher = try target.connect()
        try watcher.call("subscribe", #"{"paths":["/**"],"events":["update","structure"]}"#)
        try watcher.call("subscribe", #"{"paths":["/**"],"events":["structure"]}"#)
        let text = nodes(200_000).replacing("\"", with: "\\\"")
        try target.connect().call("apply", #"{"document":"\#(text)","mode":"merge"}"#)
        try target.connect().call("remove", #"{"path":"/top"}"#)
        try watcher.drain(seconds: 1)
    },
    Attack(name: "document-with-20000-rules") { target in
        let rules = (0..<20_000).map {
            #"{"id":"c\#($0)","state":{"v":\#($0)},"computed":{"w":"v * 2 + (v > \#($0) ? 1 : 0)"}}"#
        }.joined(separator: ",")
        try target.connect().call("apply", #"{"document":{"agd":1,"nodes":[\#(rules)]}}"#)
    },
    // All of one turn: a node, the nodes at the top, declarations, nodes that exist.
    Attack(name: "100000-rules-of-one-node") { target in
        let rules = (0..<100_000).map { #""a\#($0)":"x + \#($0)""# }.joined(separator: ",")
        try target.connect().call(
            "apply", #"{"document":{"agd":1,"nodes":[{"id":"top","state":{"x":1},"computed":{\#(rules)}}]}}"#)
    },
    Attack(name: "10000-rules-of-one-node") { target in
        let client = try target.connect()
        let rules = (0..<9_999).map { #""a\#($0)":"x + \#($0)""# }.joined(separator: ",")
        try client.call(
            "apply", #"{"document":{"agd":1,"nodes":[{"id":"top","state":{"x":1},"computed":{\#(rules)}}]}}"#)
        try client.call("get", #"{"paths":["/top.*"]}"#)
    },
    Attack(name: "200000-nodes-at-the-top") { target in
        let nodes = (0..<200_000).map { #"{\"id\":\"c\#($0)\"}"# }.joined(separator: ",")
        try target.connect().call("apply", #"{"document":"{\"agd\":1,\"nodes\":[\#(nodes)]}"}"#)
    },
    Attack(name: "60000-nodes-at-the-top") { target in
        let client = try target.connect()
        let nodes = (0..<60_000).map { #"{"id":"c\#($0)"}"# }.joined(separator: ",")
        try client.call("apply", #"{"document":{"agd":1,"nodes":[\#(nodes)]}}"#)
        try client.call("apply", #"{"document":{"agd":1,"nodes":[]},"mode":"replace"}"#)
    },
    Attack(name: "100000-keys") { target in
        let keys = (0..<100_000).map { #""k\#($0)":0"# }.joined(separator: ",")
        try target.connect().call("apply", #"{"document":{"agd":1,"keys":{"environment":{\#(keys)}}}}"#)
    },
    Attack(name: "100000-nodes-merged", scene: nodes(100_000)) { target in
        let client = try target.connect()
        for count in [5_000, 20_000, 100_000] {
            let nodes = (0..<count).map { #"{\"id\":\"c\#($0)\",\"let\":{\"w\":\#($0)}}"# }.joined(separator: ",")
            try client.call(
                "apply",
                #"{"document":"{\"agd\":1,\"nodes\":[{\"id\":\"top\",\"children\":[\#(nodes)]}]}","mode":"merge"}"#)
        }
    },
    Attack(name: "get-of-300000-values", scene: nodes(300_000)) { target in
        let client = try target.connect()
        for _ in 0..<3 { try client.call("get", #"{"paths":["/**"]}"#) }
    },
    Attack(name: "snapshot-of-300000-values", scene: nodes(300_000)) { target in
        let client = try target.connect()
        for _ in 0..<2 { try client.call("subscribe", #"{"paths":["/**"]}"#) }
        try client.drain(seconds: 0.5)
    },
    Attack(name: "dump-and-describe-of-300000-nodes", scene: nodes(300_000), seconds: 4) { target in
        let client = try target.connect()
        try client.call("dump", #"{"format":"json"}"#)
        try client.call("describe", #"{"path":"/"}"#)
    },
    Attack(name: "large-graph-that-shrinks", scene: nodes(300_000), seconds: 3, most: ["nodes": 10]) { target in
        let client = try target.connect()
        try client.call("remove", #"{"path":"/top"}"#)
        try client.drain(seconds: 2)
    },
    Attack(name: "long-list-that-shrinks", scene: list, seconds: 3, most: ["nodes": 10]) { target in
        let client = try target.connect()
        for count in 1...10 { try client.call("set", #"{"path":"/top.x","value":\#(count * 20_000)}"#) }
        try client.call("set", #"{"path":"/top.x","value":1}"#)
        try client.drain(seconds: 2)
    },
]
