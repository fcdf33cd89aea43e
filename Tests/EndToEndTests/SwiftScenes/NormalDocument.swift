import AttributeValues

/// A scene document with everything written in its long form, so that two that say the same are equal.
enum NormalDocument {
    static func of(_ document: Value) -> Value {
        edit(document) { scene in
            scene["keys"] = entries(scene["keys"]) { group in entries(group, key) ?? group }
            scene["types"] = entries(scene["types"]) { type in edit(type) { $0["state"] = entries($0["state"], state) }
            }
            scene["components"] = entries(scene["components"]) { node($0, isBody: true) }
            scene["nodes"] = scene["nodes"]?.list.map { .list($0.map { node($0) }) }
        }
    }

    private static func edit(_ value: Value, _ change: (inout ValueMap) -> Void) -> Value {
        guard case .map(var map) = value else { return value }
        change(&map)
        return .map(map)
    }

    private static func entries(_ value: Value?, _ change: (Value) -> Value) -> Value? {
        value.map { edit($0) { map in for (key, value) in map { map[key] = change(value) } } }
    }

    private static func key(_ value: Value) -> Value {
        guard let map = value.map, map["default"] != nil || map["type"] != nil else { return ["default": value] }
        return edit(value) { $0["default"] = $0["default"] ?? .null }
    }

    private static func state(_ value: Value) -> Value {
        guard let map = value.map, map["initial"] != nil || map["type"] != nil else { return ["initial": value] }
        return value
    }

    private static func node(_ value: Value, isBody: Bool = false) -> Value {
        edit(value) { node in
            // A container with children is one without being told.
            if node["kind"] == "container", node["children"] != nil, !isBody { node["kind"] = nil }
            node["state"] = entries(node["state"], state)
            for name in ["let", "binding"] {
                node[name] = named(node[name]) { _ in ["type": "dyn"] }
                if isBody { node[name] = entries(node[name], parameter) }
            }
            node["inherit"] = named(node["inherit"]) { .string($0) }
            if let animation = node["animation"], animation.list == nil { node["animation"] = [animation] }
            if let content = node["content"] {
                node["children"] = content
                node["content"] = nil
            }
            for slot in ["children", "header", "footer"] {
                node[slot] = node[slot]?.list.map { .list($0.map { self.node($0) }) }
            }
            node["forEach"] = node["forEach"].map(forEach)
        }
    }

    private static func parameter(_ value: Value) -> Value {
        guard let map = value.map, map["default"] != nil || map["type"] != nil else { return ["default": value] }
        return value
    }

    /// A list of names as a map.
    private static func named(_ value: Value?, _ standard: (String) -> Value) -> Value? {
        guard let names = value?.list else { return value }
        return .map(ValueMap(names.map { ($0, standard($0.string ?? "")) }))
    }

    private static func forEach(_ value: Value) -> Value {
        edit(value) { map in
            let head = ["in", "id", "as", "index", "node"]
            var template = map["node"]?.map ?? ValueMap()
            for (key, value) in map where !head.contains(key.string ?? "") {
                template[key] = value
                map[key] = nil
            }
            map["node"] = node(.map(template))
            map["id"] = map["id"] ?? "id"
            map["as"] = map["as"] ?? "element"
            map["index"] = map["index"] ?? "index"
        }
    }
}
