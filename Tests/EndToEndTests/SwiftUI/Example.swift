import AttributeValues
import Foundation
import TestSupport

/// A scene of `Examples/swiftui` in a daemon of its own, driven over the socket as any client would.
final class Example {
    private let daemon: Daemon
    let client: Client

    init(_ name: String) throws {
        daemon = try Daemon(sceneFiles: ["Examples/swiftui/\(name).yaml"])
        client = try daemon.client()
    }

    /// Asks to be told of changes.
    /// - Returns: how things stand, by path.
    @discardableResult
    func watch(_ paths: String..., events: [Value] = ["update"]) throws -> Told {
        try client.call("subscribe", ["paths": .list(paths.map { .string($0) }), "events": .list(events)])
        return events.contains("update") ? try Told([client.event()]) : Told()
    }

    func get(_ path: String) throws -> Value? { try client.get(path) }

    /// The paths of the nodes that stand in a node.
    func shown(in path: String) throws -> [String] {
        let node = try client.call("describe", ["path": .string(path)])
        let children = (node["children"]?.list ?? []).compactMap { $0["path"] }
        return (node["shown"]?.list?.array ?? children).compactMap(\.string)
    }

    /// An attribute's own error.
    func error(of path: String) throws -> Value? { try client.call("get", ["path": .string(path)])["error"] }

    /// What is displayed now instead of the model value.
    func displayed(_ path: String) throws -> Value? {
        try client.call("get", ["path": .string(path), "presentation": true])["value"]
    }

    @discardableResult
    func set(_ path: String, _ value: Value) throws -> Told {
        try told("set", ["path": .string(path), "value": value])
    }

    @discardableResult
    func toggle(_ path: String, animation: Value = .null) throws -> Told {
        try told("transact", ["mutations": [["op": "toggle", "path": .string(path)]], "animation": animation])
    }

    /// Merges a document into the tree.
    @discardableResult
    func merge(_ document: String, at path: String = "/") throws -> Told {
        try told("apply", ["document": .string(document), "at": .string(path), "mode": "merge"])
    }

    @discardableResult
    func remove(_ path: String) throws -> Told { try told("remove", ["path": .string(path)]) }

    /// The stable name of the error with which a write is refused.
    func refusal(of value: Value, at path: String) throws -> String? {
        try client.refusal("set", ["path": .string(path), "value": value])["data"]?["code"]?.string
    }

    /// How many rules have run so far.
    func runs() throws -> Int64? { try client.call("stats")["evaluations"]?.int }

    /// What a request that must succeed caused. The events of a transaction come before its reply, so what has not been
    /// told by then is not told at all.
    func told(_ method: String, _ parameters: Value) throws -> Told {
        let request: Value = ["jsonrpc": "2.0", "id": "told", "method": .string(method), "params": parameters]
        try client.send(request.jsonText)
        var events: [Value] = []
        while true {
            let message = try client.message()
            if message["method"] != nil {
                events.append(message["params"] ?? .null)
            } else if let error = message["error"] {
                throw Trouble("\(method) was refused: \(error)")
            } else {
                return Told(events)
            }
        }
    }
}

/// What a client has been told by the events of one transaction.
struct Told {
    /// By path; the code of an error stands as `error: code`.
    var values: [String: Value] = [:]
    var timelines: [String: Value] = [:]
    var added: [String] = []
    var removed: [String] = []
    var moved: [String] = []
    /// The nodes that stand in a node, where these are others than before.
    var shown: [String: Value] = [:]
    /// How many updates it took: a transaction is never split.
    var updates = 0

    init() {}

    init(_ events: [Value]) {
        func texts(_ event: Value, _ name: String) -> [String] { event[name]?.list?.compactMap(\.string) ?? [] }
        for event in events {
            added += texts(event, "added")
            removed += texts(event, "removed")
            moved += texts(event, "moved")
            for (path, nodes) in event["shown"]?.map ?? ValueMap() { shown[path.string ?? ""] = nodes }
            guard let changes = event["changes"]?.list else { continue }
            updates += 1
            for change in changes {
                let path = change["path"]?.string ?? ""
                values[path] = change["value"] ?? .string("error: \(change["error"]?["code"]?.string ?? "none")")
                timelines[path] = change["timeline"]
            }
        }
    }
}
