// Documents and reads as large as they may be.

private func nodes(_ count: Int) -> String {
    #"{"agd":1,"nodes":[{"id":"top","kind":"container","children":["#
        + (0..<count).map { #"{"id":"c\#($0)","state":{"v":\#($0)}}"# }.joined(separator: ",") + "]}]}"
}

let documentAttacks = [
    Attack(name: "document-of-200000-nodes", seconds: 4) { target in
        let client = try target.connect()
        try client.call("apply", #"{"document":\#(nodes(200_000))}"#)
        try client.call("remove", #"{"path":"/top"}"#)
    },
    Attack(name: "document-of-200000-nodes-as-text", seconds: 4) { target in
        let text = nodes(200_000).replacing("\"", with: "\\\"")
        try target.connect().call("apply", #"{"document":"\#(text)","mode":"merge"}"#)
    },
    Attack(name: "document-with-20000-rules") { target in
        let rules = (0..<20_000).map {
            #"{"id":"c\#($0)","state":{"v":\#($0)},"computed":{"w":"v * 2 + (v > \#($0) ? 1 : 0)"}}"#
        }.joined(separator: ",")
        try target.connect().call("apply", #"{"document":{"agd":1,"nodes":[\#(rules)]}}"#)
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
    Attack(name: "large-graph-that-shrinks", scene: nodes(300_000), seconds: 3) { target in
        try target.connect().call("remove", #"{"path":"/top"}"#)
    },
]
