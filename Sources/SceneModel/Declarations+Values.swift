import AttributeValues

// Objects as values: where one is not a state of its own but stands inside a value, or where there may be null.

extension Declarations {
    /// The value as a type holds it, or nil when it does not fit: as `ValueType.accept`, and a map of properties is an object,
    /// completed with what its type begins with. Recursion follows the value's nesting and the types'.
    public func accept(_ value: Value, as type: ValueType) -> Value? {
        var room = Int.max
        return accept(value, as: type, within: &room)
    }

    /// The same, for a value that clients size.
    /// - Parameter room: bytes of JSON that may be added to complete objects, less those that were; below zero when they would not
    ///   do, and the value is nil.
    public func accept(_ value: Value, as type: ValueType, within room: inout Int) -> Value? {
        type.accept(value) { object($0, $1, &room) }
    }

    private func object(_ name: String, _ given: ValueMap, _ room: inout Int) -> Value? {
        guard let type = types[name] else { return nil }
        var whole = ValueMap(minimumCapacity: type.properties.count)
        var found = 0
        for property in type.properties {
            guard case .state(let initial, _) = property.role else { continue }
            if let part = given[property.name] {
                guard let accepted = accept(part, as: property.type, within: &room) else { return nil }
                whole[property.name] = accepted
                found += 1
            } else {
                room -= property.name.utf8.count + 4
                initial.draw(from: &room, isTyped: false)
                guard room >= 0 else { return nil }
                whole[property.name] = accept(initial, as: property.type, within: &room) ?? initial
                guard room >= 0 else { return nil }
            }
        }
        // What the type does not store has no place.
        return found == given.count ? .map(whole) : nil
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
