import AttributeValues

// Objects as values: where one is not a state of its own but stands inside a value, or where there may be null.

extension Declarations {
    /// The value as a type holds it, or nil when it does not fit: as `ValueType.accept`, and a map of properties is an object,
    /// completed with what its type begins with. Recursion follows the value's nesting and the types'.
    /// - Parameter withComputed: what objects compute may stand in their maps, as where one is read whole.
    public func accept(_ value: Value, as type: ValueType, withComputed: Bool = false) -> Value? {
        var room = Int.max
        return accept(value, as: type, withComputed: withComputed, within: &room)
    }

    /// The same, for a value that clients size.
    /// - Parameter room: bytes of JSON that may be added to complete objects, less those that were; below zero when they would not
    ///   do, and the value is nil.
    public func accept(_ value: Value, as type: ValueType, withComputed: Bool = false, within room: inout Int) -> Value? {
        type.accept(value) { object($0, $1, withComputed, &room) }
    }

    /// The value as a type holds it, and as it is where it does not fit: the check of what stands in a document has told that.
    public func complete(_ value: Value, as type: ValueType) -> Value { accept(value, as: type) ?? value }

    private func object(_ name: String, _ given: ValueMap, _ withComputed: Bool, _ room: inout Int) -> Value? {
        guard let type = types[name] else { return nil }
        var whole = ValueMap(minimumCapacity: type.properties.count)
        var found = 0
        for property in type.properties {
            switch (property.role, given[property.name]) {
            case (.state, let part?):
                guard let accepted = accept(part, as: property.type, withComputed: withComputed, within: &room) else { return nil }
                whole[property.name] = accepted
                found += 1
            case (.state(let initial, _), nil):
                room -= property.name.utf8.count + 4
                initial.draw(from: &room, isTyped: false)
                guard room >= 0 else { return nil }
                whole[property.name] = accept(initial, as: property.type, within: &room) ?? initial
                guard room >= 0 else { return nil }
            case (_, let part?) where withComputed:
                whole[property.name] = part
                found += 1
            default: continue
            }
        }
        // What the type does not have has no place.
        return found == given.count ? .map(whole) : nil
    }

    /// The keys with their defaults as their types hold them.
    public func completed(_ keys: [String: KeyDefinition]) -> [String: KeyDefinition] {
        keys.mapValues { key in
            var key = key
            key.defaultValue = complete(key.defaultValue, as: key.type)
            return key
        }
    }

    /// The type of what stands at a place inside a value of a type; `dyn` where that is not known, or no such place can be.
    public func type(at steps: [AttributePath.Step], in whole: ValueType) -> ValueType {
        var type = whole
        for step in steps {
            if let part = type.part(at: step) {
                type = part
            } else if case .key(let key) = step, let name = type.objectName,
                let property = types[name]?.properties.first(where: { $0.name.hasSameBytes(as: key) })
            {
                type = property.type
            } else {
                return .dyn
            }
        }
        return type
    }

    /// What a property of an object begins with: what is given for it over what its type says, an object's properties one by one.
    public func initial(_ given: Value?, over standard: Value, of type: ValueType) -> Value {
        guard let given else { return standard }
        guard case .object(let name) = type else { return accept(given, as: type) ?? standard }
        guard case .map(let map) = given, let object = types[name] else { return standard }
        var whole = standard.map ?? ValueMap()
        for property in object.properties {
            guard let part = map[property.name], case .state(let own, _) = property.role else { continue }
            whole[property.name] = initial(part, over: whole[property.name] ?? own, of: property.type)
        }
        return .map(whole)
    }
}
