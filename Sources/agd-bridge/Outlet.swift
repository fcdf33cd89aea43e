import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

/// Attributes of the graph as retained topics of MQTT, and commands for them.
final class Outlet {
    private let pattern: PathPattern
    private let patternText: String
    private let prefix: String
    private let isWritable: Bool
    private let discovery: String?
    /// The topic that tells whether the bridge is there.
    private let availability: String
    private let limit: Int
    private let graph: Graph
    private let broker: Broker
    private let parser = JSONParser()
    private var log: Log
    private var subscription: Int64?
    /// The payload of each topic that the broker shall have; an empty one takes the topic away.
    private var payloads: [String: String] = [:]
    /// Topics that the broker does not have yet, in order.
    private var waiting: [String] = []
    private var isWaiting: Set<String> = []
    /// What panels tell of attributes, by path.
    private var cards: [String: Card] = [:]
    /// The paths that were described to Home Assistant, with the topics that do.
    private var described: [String: String] = [:]

    private struct Card {
        var title: String?
        var unit: String?
        /// The ends of a slider.
        var range: (least: Value, greatest: Value)?
    }

    init(
        _ outlet: Configuration.Outlet, _ settings: Configuration, availability: String, _ graph: Graph,
        _ broker: Broker
    ) {
        self.availability = availability
        pattern = outlet.pattern
        patternText = outlet.text
        prefix = outlet.prefix
        isWritable = outlet.isWritable
        discovery = settings.discovery
        limit = settings.entries
        (self.graph, self.broker) = (graph, broker)
        log = Log(subject: "to-mqtt \(outlet.text)")
    }

    // MARK: From the graph

    /// A daemon has accepted the connection.
    func subscribe() {
        subscription = nil
        described = [:]
        if discovery != nil {
            // The answer comes before the snapshot of the subscription.
            graph.request(.board(path: pattern.nodeAbove, panel: ValueMap())) { [unowned self] reply in
                if case .result(let result) = reply { cards = Outlet.cards(of: result) }
            }
        }
        let request = Request.Subscribe(patterns: [patternText], events: [.update, .structure], maxRate: 10)
        graph.subscribe(request) { [unowned self] result in
            do throws(Failure) { subscription = try result.get() } catch {
                log.report("subscribe", error.message, .error)
            }
        }
    }

    func receive(_ number: Int64, _ event: Event) {
        guard subscription == number else { return }
        switch event {
        case .update(_, _, _, _, let isInitial, let changes, _):
            if isInitial { forgetMissing(changes) }
            for change in changes { take(change.path, change.content) }
        case .structure(_, _, let removed, _, _):
            for path in removed { remove(below: path) }
        case .ended(_, let reason): log.report("subscribe", "agd has ended the subscription: \(reason)", .error)
        default: break
        }
        publish()
    }

    private func topic(_ path: String) -> String { prefix + PathTopic.topic(path) }

    private func take(_ path: String, _ content: Content) {
        guard case .value(let value) = content else { return put(topic(path), "") }
        if case .string(let text) = value { put(topic(path), text) } else { put(topic(path), value.jsonText) }
        if discovery != nil, described[path] == nil { describe(path) }
    }

    private func put(_ topic: String, _ payload: String) {
        guard payloads[topic] != payload else { return }
        guard payloads[topic] != nil || payloads.count < limit else {
            return log.report("limit", "there are more than \(limit) topics (the setting 'entries' is the limit)")
        }
        payloads[topic] = payload
        if isWaiting.insert(topic).inserted { waiting.append(topic) }
    }

    private func remove(below path: String) {
        let (node, attribute) = (topic(path) + "/", topic(path) + ".")
        for topic in payloads.keys
        where topic == self.topic(path) || topic.hasPrefix(node) || topic.hasPrefix(attribute) {
            put(topic, "")
        }
        for (known, topic) in described
        where known == path || known.hasPrefix(path + "/") || known.hasPrefix(path + ".") {
            described[known] = nil
            put(topic, "")
        }
    }

    /// Attributes that have gone while there was no connection.
    private func forgetMissing(_ present: [Change]) {
        let topics = Set(present.map { topic($0.path) })
        let configurations = discovery.map { $0 + "/" }
        for topic in payloads.keys where !topics.contains(topic) {
            if let configurations, topic.hasPrefix(configurations) { continue }
            put(topic, "")
        }
    }

    // MARK: To the broker

    /// The broker has forgotten the topics, or is another one.
    func publishAll() {
        for topic in payloads.keys where isWaiting.insert(topic).inserted { waiting.append(topic) }
        publish()
    }

    /// Sends what the queue of the broker takes.
    func publish() {
        var count = 0
        for topic in waiting {
            guard let payload = payloads[topic] else { continue }
            guard broker.publish(topic, payload) else { break }
            isWaiting.remove(topic)
            if payload.isEmpty { payloads[topic] = nil }
            count += 1
        }
        waiting.removeFirst(count)
    }

    // MARK: Home Assistant

    private func describe(_ path: String) {
        described[path] = ""
        graph.request(.describe(path: path, depth: nil)) { [unowned self] reply in
            guard case .result(let result) = reply, let details = result.map, let discovery, described[path] != nil,
                let (component, configuration) = configuration(path, details)
            else { return }
            let topic = "\(discovery)/\(component)/\(Outlet.identifier(path))/config"
            described[path] = topic
            put(topic, configuration.jsonText)
            publish()
        }
    }

    private func configuration(_ path: String, _ details: ValueMap) -> (component: String, Value)? {
        let kind = details["kind"]?.string ?? ""
        let type = details["type"]?.string ?? ""
        let canWrite = isWritable && (kind == "state" || kind == "binding")
        let id = Outlet.identifier(path)
        let device: Value = ["identifiers": [.string("agd_\(prefix)")], "name": .string(prefix)]
        var form = ValueMap([
            (.string("name"), .string(cards[path]?.title ?? String(path.dropFirst()))),
            (.string("unique_id"), .string(id)),
            (.string("object_id"), .string(id)),
            (.string("availability_topic"), .string(availability)), (.string("device"), device),
        ])
        let topics = PathTopic.topic(path)
        if kind == "action" {
            guard isWritable else { return nil }
            form["command_topic"] = .string("\(prefix)/do\(topics)")
            form["payload_press"] = "{}"
            return ("button", .map(form))
        }
        form["state_topic"] = .string(topic(path))
        if let unit = cards[path]?.unit { form["unit_of_measurement"] = .string(unit) }
        let isNumber = ["int", "uint", "double"].contains(type)
        if isNumber, canWrite, let range = cards[path]?.range {
            form["command_topic"] = .string("\(prefix)/set\(topics)")
            (form["min"], form["max"]) = (range.least, range.greatest)
            if type == "double" { form["step"] = 0.01 }
            return ("number", .map(form))
        }
        if isNumber { form["state_class"] = "measurement" }
        guard type == "bool" else { return ("sensor", .map(form)) }
        (form["payload_on"], form["payload_off"]) = ("true", "false")
        if canWrite { form["command_topic"] = .string("\(prefix)/set\(topics)") }
        return (canWrite ? "switch" : "binary_sensor", .map(form))
    }

    /// The cards of a board, by the paths of their attributes.
    private static func cards(of board: Value) -> [String: Card] {
        var cards: [String: Card] = [:]
        for row in board.map?["rows"]?.list ?? [] {
            for card in row.map?["cards"]?.list ?? [] {
                guard let card = card.map, let path = card["path"]?.string, cards[path] == nil else { continue }
                let panel = card["panel"]?.map
                var range: (Value, Value)?
                if card["kind"] == "slider" || card["kind"] == "stepper" {
                    range = (panel?["min"] ?? 0, panel?["max"] ?? 100)
                }
                cards[path] = Card(title: card["title"]?.string, unit: panel?["unit"]?.string, range: range)
            }
        }
        return cards
    }

    /// A name of letters, digits and `_` that only this path has.
    private static func identifier(_ path: String) -> String {
        var id = "agd"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                id.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "/"), UInt8(ascii: "."): id += byte == UInt8(ascii: "/") ? "_" : "__"
            default: id += "_x" + String(byte, radix: 16)
            }
        }
        return id
    }

    // MARK: Commands

    /// The filters of commands.
    var filters: [String] { isWritable ? ["\(prefix)/set/#", "\(prefix)/do/#"] : [] }

    /// Performs a command: `agd/set/lamp.isOn` writes a value, `agd/do/lamp.toggle` calls an action.
    /// - Returns: false if the message is for somebody else.
    func take(_ message: Broker.Message) -> Bool {
        guard isWritable, message.topic.hasPrefix(prefix + "/") else { return false }
        let rest = message.topic.dropFirst(prefix.count)
        let isWrite = rest.hasPrefix("/set/")
        guard isWrite || rest.hasPrefix("/do/") else { return false }
        // A retained command would be performed again with each connection.
        if message.isRetained { return true }
        let path = PathTopic.path(rest.dropFirst(isWrite ? 4 : 3))
        guard let known = try? AttributePath(path), known.attribute != nil,
            pattern.covers(PathPattern(attributesAt: known))
        else {
            log.report("command", "\(message.topic) names nothing that this line publishes")
            return true
        }
        isWrite ? write(path, message) : call(path, message)
        return true
    }

    /// The payload is JSON if that fits the type of the attribute, otherwise a text.
    private func write(_ path: String, _ message: Broker.Message) {
        let json = message.payload.withUnsafeBufferPointer { try? parser.parse($0).value }
        guard let text = String(validating: message.payload, as: UTF8.self) else {
            return log.report("command", "\(message.topic): the message is no UTF-8")
        }
        set(path, json ?? .string(text), otherwise: json?.string == nil && json != nil ? text : nil)
    }

    private func set(_ path: String, _ value: Value, otherwise text: String?) {
        let mutation = Mutation(operation: .set, path: path, value: value)
        graph.request(.set(mutation, TransactionOptions(label: "mqtt"))) { [unowned self] reply in
            guard case .fault(let fault) = reply else { return }
            if let text, fault.failure.code == .typeMismatch { return set(path, .string(text), otherwise: nil) }
            log.report("command", fault.failure.message)
        }
    }

    private func call(_ path: String, _ message: Broker.Message) {
        var arguments = ValueMap()
        if !message.payload.isEmpty {
            let json = message.payload.withUnsafeBufferPointer { try? parser.parse($0).value }
            guard let map = json?.map else {
                return log.report("command", "\(message.topic): the arguments of an action are an object of JSON")
            }
            arguments = map
        }
        graph.request(.do(path: RequestPath(path), arguments: arguments, TransactionOptions(label: "mqtt"))) {
            [unowned self] reply in
            if case .fault(let fault) = reply { log.report("command", fault.failure.message) }
        }
    }
}

extension PathPattern {
    /// The node above everything that matches.
    fileprivate var nodeAbove: String {
        var names: [Name] = []
        for segment in segments {
            guard case .id(let name) = segment else { break }
            names.append(name)
        }
        return AttributePath.describe(nodes: names)
    }
}
