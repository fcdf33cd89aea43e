// Large values, and many writes at once.

private let scene = #"{"agd":1,"nodes":[{"id":"top","state":{"items":[],"x":0,"text":""}}]}"#

/// As many values as one message may have.
private let list = "[" + String(repeating: "1,", count: 490_000) + "1]"
private let listOfMaps = "[" + (0..<160_000).map { #"{"a":\#($0)}"# }.joined(separator: ",") + "]"

/// About 15 MB as JSON.
private let longList = "[" + String(repeating: "1,", count: 7_500_000) + "1]"

let valueAttacks = [
    Attack(name: "lists-of-15-MB", scene: scene) { target in
        let client = try target.connect()
        for _ in 0..<3 { try client.call("set", #"{"path":"/top.items","value":\#(longList)}"#) }
    },
    Attack(name: "longest-lists", scene: scene) { target in
        let client = try target.connect()
        for _ in 0..<3 {
            try client.call("set", #"{"path":"/top.items","value":\#(list)}"#)
            try client.call("set", #"{"path":"/top.items","value":\#(listOfMaps)}"#)
            try client.call("eval", #"{"expression":"t.size()","bindings":{"t":\#(list)}}"#)
        }
    },
    Attack(name: "longest-texts", scene: scene) { target in
        let client = try target.connect()
        let text = String(repeating: "a", count: 8_000_000)
        for place in 0..<3 { try client.call("set", #"{"path":"/top.text","value":"\#(text)\#(place)"}"#) }
        try client.call("get", #"{"path":"/top.text"}"#)
    },
    Attack(name: "lists-of-15-MB-of-maps", scene: scene) { target in
        let client = try target.connect()
        let list = "[" + (0..<900_000).map { #"{"a":\#($0)}"# }.joined(separator: ",") + "]"
        for _ in 0..<2 { try client.call("set", #"{"path":"/top.items","value":\#(list)}"#) }
    },
    Attack(name: "evals-of-lists-of-15-MB", scene: scene) { target in
        let client = try target.connect()
        for _ in 0..<2 { try client.call("eval", #"{"expression":"t.size()","bindings":{"t":\#(longList)}}"#) }
    },
    Attack(name: "part-writes-into-a-long-list", scene: scene) { target in
        let client = try target.connect()
        let list = "[" + String(repeating: "1,", count: 399_999) + "1]"
        try client.call("set", #"{"path":"/top.items","value":\#(list)}"#)
        try client.call("subscribe", #"{"paths":["/top.items[5]","/top.items[399999]"]}"#)
        for round in 0..<20 { try client.call("set", #"{"path":"/top.items[\#(round * 1000)]","value":2}"#) }
        let mutations = (0..<1000).map { #"{"op":"set","path":"/top.items[\#($0 * 997)]","value":3}"# }.joined(
            separator: ",")
        try client.call("transact", #"{"mutations":[\#(mutations)]}"#)
        let inserts = (0..<200).map { #"{"op":"insert","path":"/top.items","value":3,"index":\#($0)}"# }.joined(
            separator: ",")
        try client.call("transact", #"{"mutations":[\#(inserts)]}"#)
    },
    Attack(name: "100000-mutations", scene: scene) { target in
        let client = try target.connect()
        for round in 1...3 {
            let mutations = (0..<100_000).map { #"{"op":"set","path":"/top.x","value":\#($0 + round)}"# }.joined(
                separator: ",")
            try client.call("transact", #"{"mutations":[\#(mutations)]}"#)
        }
    },
    Attack(
        name: "100000-mutations-of-100000-states",
        scene: #"{"agd":1,"nodes":[{"id":"top","kind":"container","children":["#
            + (0..<100_000).map { #"{"id":"c\#($0)","state":{"v":0}}"# }.joined(separator: ",") + "]}]}"
    ) { target in
        let client = try target.connect()
        for round in 1...2 {
            let mutations = (0..<100_000).map { #"{"op":"set","path":"/top/c\#($0).v","value":\#(round)}"# }.joined(
                separator: ",")
            try client.call("transact", #"{"mutations":[\#(mutations)]}"#)
        }
    },
]
