import AttributeValues

/// The protocol as the daemon itself describes it: every reply and event that the tests see is held against it.
struct Schema {
    private let document: Value

    init(_ client: Client) throws { document = try client.call("describe") }

    var methods: [String] { names("methods") }

    private func names(_ list: String) -> [String] { document[list]?.list?.compactMap { $0["name"]?.string } ?? [] }

    private func entry(_ list: String, _ name: String) -> Value? {
        document[list]?.list?.first { $0["name"] == .string(name) }
    }

    /// What is wrong with a method's result; empty when nothing is.
    func faults(in result: Value, of method: String) -> [String] {
        guard let schema = entry("methods", method)?["result"]?["schema"] else {
            return ["no method \(method) is described"]
        }
        return faults(in: result, schema, at: method)
    }

    /// What is wrong with the parameters of a notification.
    func faults(in parameters: Value, ofEvent event: String) -> [String] {
        guard let fields = entry("x-events", event)?["params"]?.list else { return ["no event \(event) is described"] }
        let properties = fields.map { (Value.string($0["name"]?.string ?? ""), $0["schema"] ?? .null) }
        let required = fields.filter { $0["required"] == true }.compactMap { $0["name"] }
        let schema: Value = [
            "type": "object", "properties": .map(ValueMap(properties)), "required": .list(required),
            "additionalProperties": false,
        ]
        return faults(in: parameters, schema, at: event)
    }

    /// The codes that a method may be refused with.
    func errors(of method: String) -> [String] {
        entry("methods", method)?["errors"]?.list?.compactMap { $0["message"]?.string } ?? []
    }

    /// As much of JSON Schema as the daemon writes.
    private func faults(in value: Value, _ schema: Value, at place: String) -> [String] {
        var faults: [String] = []
        if let type = schema["type"] {
            let allowed = type.list?.compactMap(\.string) ?? [type.string ?? ""]
            if !allowed.contains(where: { Schema.has(value, type: $0) }) {
                return ["\(place): \(value) is not of type \(type)"]
            }
        }
        if let words = schema["enum"]?.list, !words.contains(value) {
            faults.append("\(place): \(value) is none of \(words)")
        }
        if let least = schema["minimum"]?.number, let number = value.number, number < least {
            faults.append("\(place): \(number) is below \(least)")
        }
        if let elements = value.list, let items = schema["items"] {
            for (index, element) in elements.enumerated() {
                faults += self.faults(in: element, items, at: "\(place)[\(index)]")
            }
        }
        guard let map = value.map else { return faults }
        for name in schema["required"]?.list ?? [] where map[name] == nil { faults.append("\(place) lacks \(name)") }
        for (key, member) in map {
            let name = key.string ?? ""
            if let property = schema["properties"]?[name] {
                faults += self.faults(in: member, property, at: "\(place).\(name)")
            } else if let other = schema["additionalProperties"] {
                faults +=
                    other == false
                    ? ["\(place) has an undescribed \(name)"] : self.faults(in: member, other, at: "\(place).\(name)")
            }
        }
        return faults
    }

    private static func has(_ value: Value, type: String) -> Bool {
        switch (type, value) {
        case ("string", .string), ("boolean", .bool), ("integer", .int), ("integer", .uint), ("array", .list),
            ("object", .map), ("number", .int), ("number", .uint), ("number", .double):
            true
        default: false
        }
    }
}
