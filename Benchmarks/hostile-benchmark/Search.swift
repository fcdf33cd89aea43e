import BenchmarkSupport
import TestSupport

/// Looks for what is not charged: doubles one dimension of a request at a time, each time at a fresh daemon, until the
/// request is refused or takes long, and compares the daemon's processor time with the steps that it charged. Prints a
/// table: of each dimension the size with the longest turn.
///
///     hostile-benchmark search [NAME …]
struct Dimension: Sendable {
    /// Words joined by "-", as `apply-slots`.
    var name: String
    var first = 256
    /// Beyond that, other limits refuse the request.
    var last = 1 << 20
    /// A scene document that the daemon has loaded.
    var scene: @Sendable (Int) -> String? = { _ in nil }
    /// Requests of other clients before. These clients stay connected.
    var prepare: @Sendable (_ socketPath: String, Int) throws -> [DaemonClient] = { _, _ in [] }
    var method: String
    var parameters: @Sendable (Int) -> String

    /// Nanoseconds that a charged step may take in the mean, and seconds below which nothing is judged.
    private static let slowestStep = 300.0
    private static let shortest = 0.1
    /// Seconds of processor time that a turn may take.
    private static let longestTurn = 0.1
    /// Seconds to wait for an answer.
    private static let patience = 30.0
    /// Seconds of processor time after which the next doubling is left out.
    private static let longest = 1.0

    /// Time and steps that the request of one size has taken.
    struct Figure {
        var size: Int
        var seconds = 0.0
        var steps = 0.0
        var longestTurn = 0.0
        var isRefused = false

        var perStep: Double { seconds * 1e9 / max(1, steps) }
        var faults: [String] {
            (seconds > Dimension.shortest && perStep > Dimension.slowestStep ? ["not charged for its time"] : [])
                + (longestTurn > Dimension.longestTurn ? ["a turn of more than 100 ms"] : [])
        }
    }

    func search(_ program: String) throws -> [Figure] {
        var figures: [Figure] = []
        var size = first
        while size <= last {
            let daemon = try DaemonProcess(
                program, scene: scene(size), settings: ["socket-mode = 0666", "log-level = error"])
            let others = try prepare(daemon.socketPath, size)
            let client = try DaemonClient(daemon.socketPath)
            guard let before = daemon.figures(within: 60) else { throw Trouble("\(name): no figures") }
            let start = daemon.preciseTime
            // The daemon may also disconnect the client, or not answer.
            let bytes =
                (try? client.call(method, parameters(size), within: Dimension.patience)) ?? Array(#""error""#.utf8)
            let reply = String(decoding: bytes.prefix(200), as: UTF8.self)
            // Work that the request has left to later turns belongs to it.
            guard let after = daemon.figures(within: 60) else { throw Trouble("\(name): no figures") }
            let seconds = daemon.preciseTime - start
            let figure = Figure(
                size: size, seconds: seconds, steps: (after["steps"] ?? 0) - (before["steps"] ?? 0),
                longestTurn: after["longest_turn_seconds"] ?? 0, isRefused: reply.contains(#""error""#))
            figures.append(figure)
            withExtendedLifetime(others) {}
            if figure.isRefused || seconds > Dimension.longest { break }
            size *= 2
        }
        return figures
    }

    private static let widths = [24, 9, 10, 12, 9, 16]

    private static func row(_ cells: [String], _ end: String) -> String {
        zip(cells, widths).map { $0 + String(repeating: " ", count: max(1, $1 - $0.utf8.count)) }.joined() + end
    }

    /// The size with the longest turn, the largest one that was not refused, and those with faults.
    private func show(_ figures: [Figure]) {
        let longest = figures.indices.max { figures[$0].longestTurn < figures[$1].longestTurn }
        let last = figures.lastIndex { !$0.isRefused }
        for (place, figure) in figures.enumerated()
        where place == longest || place == last || !figure.faults.isEmpty {
            func milliseconds(_ seconds: Double) -> String { "\((seconds * 10_000).rounded() / 10)" }
            let cells = [
                name, "\(figure.size)", milliseconds(figure.seconds), "\(Int(figure.steps))",
                "\(Int(figure.perStep.rounded()))", milliseconds(figure.longestTurn),
            ]
            let said = (figure.isRefused ? ["refused"] : []) + figure.faults.map { "FAULT: \($0)" }
            tell(Dimension.row(cells, said.joined(separator: ", ")))
        }
    }

    static func searchAll(_ wanted: [String]) throws -> Bool {
        guard let program = DaemonProcess.program else {
            tell(#"{"benchmark":"search","skipped":"build agd first, in the same configuration"}"#)
            return true
        }
        var isGood = true
        tell(row(["dimension", "size", "ms", "steps", "ns/step", "longest turn ms"], ""))
        for dimension in all where wanted.isEmpty || wanted.contains(where: { dimension.name.hasPrefix($0) }) {
            do {
                let figures = try dimension.search(program)
                dimension.show(figures)
                if figures.contains(where: { !$0.faults.isEmpty }) { isGood = false }
            } catch {
                tell(
                    #"{"benchmark":"search","dimension":"\#(dimension.name)","fault":"\#("\(error)".replacing("\"", with: "'").replacing("\n", with: " "))"}"#
                )
                isGood = false
            }
        }
        return isGood
    }

    static let all = reading + writing + changing + following
}

private func list(_ count: Int, _ element: (Int) -> String) -> String {
    "[" + (0..<count).map(element).joined(separator: ",") + "]"
}

private func members(_ count: Int, _ member: (Int) -> String) -> String {
    "{" + (0..<count).map(member).joined(separator: ",") + "}"
}

private func document(_ nodes: String, _ more: String = "") -> String { #"{"agd":1,\#(more)"nodes":\#(nodes)}"# }

private func apply(_ nodes: String, _ more: String = "") -> String { #"{"document":\#(document(nodes, more))}"# }

private func numbers(_ count: Int) -> String { list(count) { "\($0)" } }

private let states: @Sendable (Int) -> String? = { count in
    document(
        #"[{"id":"top","kind":"container","children":\#(list(count) { #"{"id":"c\#($0)","state":{"y":\#($0)}}"# })}]"#)
}

private let one: @Sendable (Int) -> String? = { _ in document(#"[{"id":"a","state":{"x":[],"n":0}}]"#) }

private let reading = [
    Dimension(name: "get-paths", scene: states, method: "get") { count in
        #"{"paths":\#(list(count) { #""/top/c\#($0).y""# })}"#
    },
    Dimension(name: "get-nodes", scene: states, method: "get") { _ in #"{"paths":["/**"]}"# },
    Dimension(name: "get-patterns", first: 8, scene: { _ in states(1000) }, method: "get") { count in
        #"{"paths":\#(list(count) { #""/**/z\#($0).y""# })}"#
    },
    Dimension(name: "describe", scene: states, method: "describe") { _ in #"{"path":"/"}"# },
    Dimension(name: "dump", scene: states, method: "dump") { _ in #"{"path":"/","format":"scene"}"# },
    Dimension(name: "eval-operations", scene: one, method: "eval") { count in
        #"{"at":"/a","expression":"\#(Array(repeating: "n", count: count).joined(separator: "+"))"}"#
    },
    Dimension(name: "eval-list", scene: one, method: "eval") { count in
        #"{"at":"/a","expression":"lists.range(\#(count)).map(i, i * 2).size()"}"#
    },
]

private let writing = [
    Dimension(name: "set-elements", scene: one, method: "set") { #"{"path":"/a.x","value":\#(numbers($0))}"# },
    Dimension(name: "set-members", scene: { _ in document(#"[{"id":"a","state":{"x":{}}}]"#) }, method: "set") {
        count in
        #"{"path":"/a.x","value":\#(members(count) { #""k\#($0)":1"# })}"#
    },
    Dimension(
        // More are not watched.
        name: "set-readers", last: 1 << 15,
        scene: { count in
            document(
                #"[{"id":"a","kind":"container","state":{"x":0},"children":\#(list(count) { #"{"id":"c\#($0)","let":{"y":"=x + \#($0)"}}"# })}]"#
            )
        },
        prepare: { path, _ in
            let client = try DaemonClient(path)
            try client.call("subscribe", #"{"paths":["/**"],"initial":false}"#)
            return [client]
        }, method: "set"
    ) { _ in #"{"path":"/a.x","value":1}"# },
    Dimension(
        name: "set-instances", last: 1 << 18,
        scene: { _ in
            document(
                #"[{"id":"a","state":{"x":[]},"children":[{"id":"rows","forEach":{"in":"$x","id":"self","as":"i","node":{"let":{"y":"=i"}}}}]}]"#
            )
        }, method: "set"
    ) { #"{"path":"/a.x","value":\#(numbers($0))}"# },
    Dimension(
        // A rule that reads more subviews takes longer.
        name: "set-places", last: 1 << 14,
        scene: { count in
            document(
                #"[{"id":"s","state":{"on":false}},{"id":"a","component":"Box","children":\#(list(count) { #"{"id":"x\#($0)"}"# })}]"#,
                #""components":{"Box":{"kind":"container","children":[{"place":"=$/s.on ? subviews : []"}]}},"#)
        }, method: "set"
    ) { _ in #"{"path":"/s.on","value":true}"# },
    Dimension(name: "transact-mutations", scene: states, method: "transact") { count in
        #"{"mutations":\#(list(count) { #"{"op":"set","path":"/top/c\#($0).y","value":-1}"# })}"#
    },
]

private let changing = [
    Dimension(name: "apply-nodes", method: "apply") { count in apply(list(count) { #"{"id":"c\#($0)"}"# }) },
    Dimension(name: "apply-states", method: "apply") { count in
        apply(list(count) { #"{"id":"c\#($0)","state":{"x":1}}"# })
    },
    Dimension(name: "apply-rules", method: "apply") { count in
        apply(list(count) { #"{"id":"c\#($0)","state":{"x":1},"computed":{"y":"x + \#($0)"}}"# })
    },
    Dimension(name: "apply-attributes", method: "apply") { count in
        apply(#"[{"id":"a","state":\#(members(count) { #""s\#($0)":1"# })}]"#)
    },
    Dimension(name: "apply-existing", scene: states, method: "apply") { count in
        #"{"mode":"merge","#
            + apply(
                #"[{"id":"top","kind":"container","children":\#(list(count) { #"{"id":"c\#($0)","state":{"y":\#($0),"more":1}}"# })}]"#
            ).dropFirst()
    },
    Dimension(
        // A node has no more attributes.
        name: "apply-retyped", last: 1 << 13, scene: { count in document("[\(manyStates(count, "1"))]") },
        method: "apply"
    ) { count in #"{"mode":"merge","# + apply("[\(manyStates(count, #""t""#))]").dropFirst() },
    Dimension(
        name: "apply-other-attributes", last: 1 << 13, scene: { count in document("[\(manyStates(count, "1"))]") },
        method: "apply"
    ) { count in
        #"{"mode":"replace","#
            + apply(#"[{"id":"a","state":\#(members(count) { #""t\#($0)":1"# })}]"#).dropFirst()
    },
    Dimension(
        name: "apply-other-rules",
        scene: { count in document(list(count) { #"{"id":"c\#($0)","state":{"x":1},"computed":{"y":"x + 1"}}"# }) },
        method: "apply"
    ) { count in
        #"{"mode":"merge","#
            + apply(list(count) { #"{"id":"c\#($0)","computed":{"y":"x + 2"}}"# }).dropFirst()
    },
    Dimension(name: "apply-around", scene: states, method: "apply") { _ in
        #"{"mode":"merge","# + apply(#"[{"id":"top","state":{"z":1}}]"#).dropFirst()
    },
    Dimension(name: "apply-other-nodes", scene: states, method: "apply") { count in
        #"{"mode":"replace","#
            + apply(
                #"[{"id":"top","kind":"container","children":\#(list(count) { #"{"id":"d\#($0)","state":{"y":1}}"# })}]"#
            ).dropFirst()
    },
    Dimension(name: "apply-keys", method: "apply") { count in
        apply("[]", #""keys":{"environment":\#(members(count) { #""k\#($0)":0"# })},"#)
    },
    Dimension(name: "apply-components", method: "apply") { count in
        apply("[]", #""components":\#(members(count) { #""C\#($0)":{"kind":"container","state":{"x":1}}"# }),"#)
    },
    Dimension(name: "apply-doubling", first: 8, last: 19, method: "apply") { apply(depth: $0, slots: false) },
    Dimension(name: "apply-slots-doubling", first: 8, last: 19, method: "apply") { apply(depth: $0, slots: true) },
    Dimension(name: "apply-slots", method: "apply") { count in
        apply(
            list(count) { #"{"id":"c\#($0)","component":"Box","children":[{"id":"x","state":{"v":1}}]}"# },
            #""components":{"Box":{"kind":"container","children":[{"slot":"content"}]}},"#)
    },
    Dimension(name: "apply-given", method: "apply") { count in
        apply(
            #"[{"id":"a","component":"Box","children":\#(list(count) { #"{"id":"x\#($0)"}"# })}]"#,
            #""components":{"Box":{"kind":"container","children":[{"slot":"content"}]}},"#)
    },
    Dimension(name: "apply-given-inside", method: "apply") { count in
        apply(
            #"[{"id":"a","component":"Box","children":[{"id":"g","kind":"container","state":{"v":1},"children":\#(list(count) { #"{"id":"x\#($0)","let":{"y":"=v + 1"}}"# })}]}]"#,
            #""components":{"Box":{"kind":"container","children":[{"slot":"content"}]}},"#)
    },
    // A scene has no more parts.
    Dimension(name: "remove-nodes", last: 1 << 18, scene: states, method: "remove") { _ in #"{"path":"/top"}"# },
    Dimension(
        name: "move-nodes",
        scene: { count in
            document(
                #"[{"id":"to","kind":"container"},{"id":"top","kind":"container","children":\#(list(count) { #"{"id":"c\#($0)","state":{"y":1}}"# })}]"#
            )
        }, method: "move"
    ) { _ in #"{"path":"/top","to":"/to"}"# },
]

/// A node with many states.
private func manyStates(_ count: Int, _ value: String) -> String {
    #"{"id":"a","state":\#(members(count) { "\"s\($0)\":\(value)" })}"#
}

/// A component that uses another twice, which uses another twice, and so on. `size` doublings are one each.
private func apply(depth: Int, slots: Bool) -> String {
    let given = slots ? #","children":[{"slot":"content"}]"# : ""
    var components = [#""C0":{"kind":"container","children":[\#(slots ? #"{"slot":"content"}"# : #"{"id":"x"}"#)]}"#]
    for level in 1...depth {
        let uses = list(2) { #"{"id":"u\#($0)","component":"C\#(level - 1)"\#(given)}"# }
        components.append(#""C\#(level)":{"kind":"container","children":\#(uses)}"#)
    }
    let inside = slots ? #","children":[{"id":"k","state":{"v":1}}]"# : ""
    return apply(
        #"[{"id":"top","component":"C\#(depth)"\#(inside)}]"#, #""components":{\#(components.joined(separator: ","))},"#
    )
}

/// `count` patterns in subscriptions of 500.
private func watch(
    _ path: String, _ count: Int, events: String, _ pattern: (Int) -> String
) throws -> [DaemonClient] {
    let client = try DaemonClient(path)
    for start in stride(from: 0, to: count, by: 500) {
        let patterns = list(min(500, count - start)) { "\"\(pattern(start + $0))\"" }
        try client.call("subscribe", #"{"paths":\#(patterns),"initial":false,"events":\#(events)}"#)
    }
    return [client]
}

/// 1,000 nodes, with an attribute that many may watch.
private let thousand: @Sendable (Int) -> String = { _ in apply(list(1000) { #"{"id":"c\#($0)","state":{"z":[]}}"# }) }

private let both = #"["update","structure"]"#

private let following = [
    Dimension(name: "subscribe-patterns", last: 1000, scene: { _ in states(1000) }, method: "subscribe") { count in
        #"{"paths":\#(list(count) { #""/**/z\#($0).y""# })}"#
    },
    Dimension(
        name: "subscribe-places", first: 8, last: 1000,
        scene: { _ in document(list(1000) { #"{"id":"c\#($0)","state":{"z":[]}}"# }) }, method: "subscribe"
    ) { count in #"{"paths":\#(list(count) { #""/**.z[\#($0)]""# })}"# },
    Dimension(name: "subscribe-attributes", scene: states, method: "subscribe") { _ in #"{"paths":["/**"]}"# },
    Dimension(
        name: "apply-while-patterns", last: 1 << 15,
        prepare: { try watch($0, $1, events: both) { "/**.z\($0)" } }, method: "apply", parameters: thousand),
    Dimension(
        name: "apply-while-places", last: 1 << 15,
        prepare: { try watch($0, $1, events: both) { "/**.z[\($0)]" } }, method: "apply", parameters: thousand),
    Dimension(
        name: "apply-while-topics", first: 16, last: 512,
        prepare: { path, count in
            let client = try DaemonClient(path)
            for number in 0..<count {
                try client.call(
                    "subscribe", #"{"paths":["/**","/none\#(number)/**"],"initial":false,"events":["structure"]}"#)
            }
            return [client]
        }, method: "apply", parameters: thousand),
    Dimension(
        name: "move-while-patterns", last: 1 << 15,
        scene: { _ in
            document(
                #"[{"id":"to","kind":"container"},{"id":"top","kind":"container","children":\#(list(1000) { #"{"id":"c\#($0)","state":{"y":1}}"# })}]"#
            )
        },
        prepare: { try watch($0, $1, events: both) { "/**/c1.z\($0)" } }, method: "move"
    ) { _ in #"{"path":"/top","to":"/to"}"# },
    Dimension(
        name: "remove-while-names", last: 1 << 15, scene: states,
        prepare: { try watch($0, $1, events: both) { "/top/c\($0).y" } }, method: "remove"
    ) { _ in #"{"path":"/top"}"# },
]
