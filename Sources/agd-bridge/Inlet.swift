import AttributeValues
import WireProtocol

/// Messages of MQTT as a state: with wildcards in the filter, each topic is an entry of a map.
final class Inlet: Source {
    let filter: TopicFilter
    let feed: Feed
    private let path: String
    private let parser = JSONParser()
    private let limit: Int
    /// The change that the daemon does not have yet: a patch of the map, or the value.
    private var pending: Value?

    init(_ inlet: Configuration.Inlet, _ settings: Configuration, _ feed: Feed) {
        filter = inlet.filter
        path = inlet.target.description
        limit = settings.entries
        self.feed = feed
        let map: Value = [
            "type": "map", "transient": true, "entries": ["limit": .int(Int64(settings.entries))],
        ]
        feed.add(self, inlet.target.attribute, filter.hasWildcards ? map : LastValue.document)
    }

    /// - Returns: false if the message is for somebody else.
    func take(_ message: Broker.Message) -> Bool {
        guard let key = filter.key(message.topic) else { return false }
        guard let value = read(message.payload) else {
            feed.complain("\(message.topic): the message is neither JSON nor UTF-8")
            return true
        }
        guard filter.hasWildcards else {
            pending = value
            feed.succeed()
            return true
        }
        var patch = pending?.map ?? ValueMap()
        guard patch[key] != nil || patch.count < limit else {
            feed.complain("\(message.topic): there are more than \(limit) topics (the setting 'entries' is the limit)")
            return true
        }
        patch[key] = patch[key].map { Inlet.joined($0, value) } ?? value
        pending = .map(patch)
        feed.succeed()
        return true
    }

    /// Two patches as one. Unlike a value, a patch keeps its nulls, which remove.
    private static func joined(_ first: Value, _ second: Value) -> Value {
        guard case .map(var map) = first, case .map(let changes) = second else { return second }
        for (name, change) in changes { map[name] = change }
        return .map(map)
    }

    /// JSON, or else a text. An empty message takes a value away.
    private func read(_ payload: [UInt8]) -> Value? {
        if payload.isEmpty { return .null }
        if let json = payload.withUnsafeBufferPointer({ try? parser.parse($0).value }) { return json }
        return String(validating: payload, as: UTF8.self).map { .string($0) }
    }

    func takeChanges() -> [Mutation] {
        guard let value = pending else { return [] }
        pending = nil
        return [Mutation(operation: filter.hasWildcards ? .merge : .set, path: path, value: value)]
    }

    /// The broker repeats retained messages, because the bridge subscribes again.
    func forgetTaken() {}
}
