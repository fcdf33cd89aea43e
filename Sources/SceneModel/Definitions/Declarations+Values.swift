import AttributeValues

// Objects as values: objects inside another value, or where null is allowed.

extension Declarations {
    /// The value converted to a type, or nil if it does not fit: as `ValueType.accept`, and a map of properties becomes
    /// an object, completed with the initial values of its type. Recursion follows the nesting of the value and the
    /// types.
    /// - Parameter withComputed: true if maps may contain computed properties, as when an object is read whole.
    public func accept(_ value: Value, as type: ValueType, withComputed: Bool = false) -> Value? {
        var budget = Int.max
        return accept(value, as: type, withComputed: withComputed, within: &budget)
    }

    /// The same, for a value whose size clients choose.
    /// - Parameter budget: bytes of JSON that completing objects may add. It is reduced by the bytes added. Below zero
    ///   means that the budget was too small; the result is then nil.
    public func accept(_ value: Value, as type: ValueType, withComputed: Bool = false, within budget: inout Int)
        -> Value?
    {
        type.accept(value) { makeObject($0, $1, withComputed: withComputed, within: &budget) }
    }

    /// The value converted to a type, or unchanged if it does not fit: the check of the document has reported that.
    public func complete(_ value: Value, as type: ValueType) -> Value { accept(value, as: type) ?? value }

    /// Makes an object of a type from a map. `withComputed` and `budget` mean the same as for `accept`.
    public func makeObject(_ name: String, _ given: ValueMap, withComputed: Bool, within budget: inout Int) -> Value? {
        guard let type = types[name] else { return nil }
        var whole = ValueMap(minimumCapacity: type.properties.count)
        var found = 0
        for property in type.properties {
            switch (property.role, given[property.name]) {
            case (.state, let part?):
                guard let accepted = accept(part, as: property.type, withComputed: withComputed, within: &budget) else {
                    return nil
                }
                whole[property.name] = accepted
                found += 1
            case (.state(let initial, _), nil):
                budget -= property.name.utf8.count + 4
                initial.draw(from: &budget, isTyped: false)
                guard budget >= 0 else { return nil }
                whole[property.name] = accept(initial, as: property.type, within: &budget) ?? initial
                guard budget >= 0 else { return nil }
            case (_, let part?) where withComputed:
                whole[property.name] = part
                found += 1
            default: continue
            }
        }
        // A property that the type does not have is not accepted.
        return found == given.count ? .map(whole) : nil
    }

    /// The keys with their defaults converted to their types.
    public func completed(_ keys: [String: KeyDefinition]) -> [String: KeyDefinition] {
        keys.mapValues { key in
            var key = key
            key.defaultValue = complete(key.written, as: key.type)
            return key
        }
    }

    /// The type of a part of a value of a type; `dyn` if it is unknown or there can be no such part.
    public func type(at steps: [AttributePath.Step], in whole: ValueType) -> ValueType {
        var type = whole
        for step in steps {
            if let part = type.typeOfPart(at: step) {
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

    /// The initial value of a property: the given value over the type's default. For an object, property by property.
    public func merge(_ given: Value?, over standard: Value, of type: ValueType) -> Value {
        guard let given else { return standard }
        guard case .object(let name) = type else { return accept(given, as: type) ?? standard }
        guard case .map(let map) = given, let object = types[name] else { return standard }
        var whole = standard.map ?? ValueMap()
        for property in object.properties {
            guard let part = map[property.name], case .state(let own, _) = property.role else { continue }
            whole[property.name] = merge(part, over: whole[property.name] ?? own, of: property.type)
        }
        return .map(whole)
    }
}
