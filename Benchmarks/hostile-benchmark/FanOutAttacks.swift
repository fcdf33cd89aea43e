import BenchmarkSupport

// One change that many follow.

private func container(_ members: String, children: [String]) -> String {
    #"{"agd":1,"nodes":[{"id":"top","kind":"container",\#(members),"children":[\#(children.joined(separator: ","))]}]}"#
}

private func write(_ client: DaemonClient, times: Int) throws {
    for value in 1...times { try client.call("set", #"{"path":"/top.x","value":\#(value)}"#) }
}

let fanOutAttacks = [
    Attack(
        name: "fan-out-to-100000-attributes",
        scene: container(
            #""state":{"x":0}"#, children: (0..<100_000).map { #"{"id":"c\#($0)","let":{"y":"=x + \#($0 % 7)"}}"# })
    ) { target in
        let watcher = try target.connect()
        try watcher.request("subscribe", #"{"paths":["/top/**"],"initial":false}"#)
        try write(try target.connect(), times: 5)
    },
    Attack(
        name: "fan-out-of-texts",
        scene: container(
            #""state":{"x":0}"#,
            children: (0..<50_000).map { #"{"id":"child-\#($0)","let":{"text":"='value ' + string(x + \#($0 % 7))"}}"# }
        )
    ) { target in
        for events in [#"["update"]"#, #"["update","invalidate"]"#] {
            let watcher = try target.connect()
            try watcher.request("subscribe", #"{"paths":["/top/**"],"initial":false,"events":\#(events)}"#)
        }
        try write(try target.connect(), times: 5)
    },
    Attack(
        name: "environment-key-with-60000-readers",
        scene:
            #"{"agd":1,"keys":{"environment":{"k":0}},"nodes":[{"id":"top","kind":"container","state":{"x":0},"environment":{"k":"=x"},"children":["#
            + (0..<60_000).map { #"{"id":"c\#($0)","inherit":["k"]}"# }.joined(separator: ",") + "]}]}"
    ) { target in
        let watcher = try target.connect()
        try watcher.request("subscribe", #"{"paths":["/top/**"],"initial":false}"#)
        try write(try target.connect(), times: 5)
    },
    Attack(
        name: "900000-instances",
        scene: container(
            #""state":{"x":0}"#,
            children: [
                #"{"id":"list","forEach":{"in":"=lists.range(x)","id":"self","as":"i","node":{"let":{"y":"=i"}}}}"#
            ]),
        seconds: 3
    ) { target in
        let client = try target.connect()
        try client.call("set", #"{"path":"/top.x","value":900000}"#)
        try client.call("set", #"{"path":"/top.x","value":1}"#)
    },
    Attack(
        name: "1000-patterns",
        scene: container(#""state":{"x":0}"#, children: (0..<20_000).map { #"{"id":"c\#($0)","state":{"y":\#($0)}}"# })
    ) { target in
        let client = try target.connect()
        for round in 0..<4 {
            let patterns = (0..<1000).map { #""/**/c\#($0)-\#(round).y""# }.joined(separator: ",")
            try client.call("subscribe", #"{"paths":[\#(patterns)]}"#)
        }
        let wide = (0..<1000).map { #""/top/**\#($0 == 0 ? "" : "/c\($0)").y""# }.joined(separator: ",")
        try client.call("subscribe", #"{"paths":[\#(wide)]}"#)
        // Each new node is held against all patterns.
        let nodes = (0..<2000).map { #"{"id":"n\#($0)","state":{"y":0}}"# }.joined(separator: ",")
        try client.call("apply", #"{"document":{"agd":1,"nodes":[\#(nodes)]}}"#)
    },
    Attack(name: "50-subscriptions-with-900-patterns", seconds: 3) { target in
        let client = try target.connect()
        for round in 0..<50 {
            let patterns = (0..<900).map { #""/**.z\#($0)""# }.joined(separator: ",")
            try client.request(
                "subscribe", #"{"paths":[\#(patterns),"/none\#(round).x*"],"events":["update","structure"]}"#)
        }
        try client.call("ping")
        let nodes = (0..<1000).map { #"{"id":"n\#($0)","state":{"y":0}}"# }.joined(separator: ",")
        try target.connect().call("apply", #"{"document":{"agd":1,"nodes":[\#(nodes)]}}"#)
    },
    Attack(
        name: "list-with-changing-ids",
        scene:
            #"{"agd":1,"nodes":[{"id":"list","state":{"items":[]},"children":[{"id":"rows","forEach":{"in":"$items","id":"id","as":"item","node":{"kind":"view","computed":{"y":"item.n * 2"}}}}]}]}"#,
        // Two elements and what watches them; it was two more for each write.
        most: ["vertices": 200]
    ) { target in
        let client = try target.connect()
        try client.call("subscribe", #"{"paths":["/list/**"]}"#)
        for round in 0..<2000 {
            try client.call(
                "set", #"{"path":"/list.items","value":[{"id":"a\#(round)","n":\#(round)},{"id":"b\#(round)","n":1}]}"#)
        }
    },
]
