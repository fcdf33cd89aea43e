import AttributeValues
import RuleLanguage

// `types`: observable objects, their stored and computed properties.

extension SceneChecker {
    private static let typeKeys = ["state", "computed"]
    /// Maximum number of types of a cycle that a fault names.
    private static let toldOfCircle = 20

    func declareTypeNames(_ types: [DocumentEntry]) {
        for entry in types {
            let isCapital = entry.name.unicodeScalars.first.map { ("A"..."Z").contains($0) } ?? false
            guard isCapital else {
                path = [.key("types"), .key(entry.name)]
                fault(
                    "an object type begins with a capital", at: entry.key,
                    hint: "so that inherit can tell types from environment keys")
                path = []
                continue
            }
            typeNames.insert(entry.name)
        }
    }

    func declareTypes(_ types: [DocumentEntry]) {
        let usable = types.filter { typeNames.contains($0.name) }
        // The stored properties of all types come first, because the rules of one type may read another.
        var stored: [String: [AttributeDefinition]] = [:]
        for entry in usable {
            at(entry.name) {
                guard checkName(entry.key, "a type") else { return }
                let parts = entries(entry.value, "a type", hint: "write state: and computed: below it")
                checkKeys(parts, of: "a type", allowed: SceneChecker.typeKeys)
                var list = AttributeList()
                if let state = entry.value["state"] {
                    at("state") {
                        for property in entries(state, "state") {
                            at(property.name) { self.state(property, into: &list) }
                        }
                    }
                }
                stored[entry.name] = list.attributes
            }
        }
        checkContainment(usable, &stored)
        let scope = RuleScope(limits: context.rules)
        for (name, type) in known.types where stored[name] == nil {
            scope.declareObject(
                name, properties: Dictionary(type.properties.map { ($0.name, RuleType($0.type)) }) { first, _ in first }
            )
        }
        for entry in usable {
            var properties = Dictionary((stored[entry.name] ?? []).map { ($0.name, RuleType($0.type)) }) { first, _ in
                first
            }
            for computed in entry.value["computed"]?.map ?? [] { properties[computed.name] = .dyn }
            scope.declareObject(entry.name, properties: properties)
        }
        for entry in usable {
            guard let own = stored[entry.name] else { continue }
            at(entry.name) {
                var list = AttributeList(own)
                if let computed = entry.value["computed"] {
                    at("computed") {
                        self.computed(computed, own: own.map { ScopeEntry($0) }, base: scope, into: &list)
                    }
                }
                let type = ObjectTypeDefinition(name: entry.name, properties: list.attributes)
                declared.types[entry.name] = type
                declared.written.types[entry.name] = entry.value.value
                known.types[entry.name] = type
            }
        }
        checkStoredObjects(usable)
    }

    /// An object that initially contains an object of its own type would be infinite, and each type that contains
    /// others multiplies their size. Therefore the size of objects is computed before any is made. O(properties of all
    /// types).
    private func checkContainment(_ types: [DocumentEntry], _ stored: inout [String: [AttributeDefinition]]) {
        let properties = { (name: String) in stored[name] ?? self.known.types[name]?.properties ?? [] }
        let extents = ObjectExtents(of: Set(stored.keys).union(known.types.keys), properties: properties)
        for circle in extents.circles() { tell(circle, types) }
        for entry in types {
            guard let extent = extents[entry.name] else { continue }
            at(entry.name) {
                if extent.depth > SceneLimits.objectDepth {
                    fault(
                        .limit,
                        "an object of type \(entry.name) would hold objects inside each other, \(extent.depth) deep",
                        at: entry.key,
                        hint: "at most \(SceneLimits.objectDepth)")
                } else if extent.properties > SceneLimits.objectProperties {
                    fault(
                        .limit, "an object of type \(entry.name) would begin with \(extent.properties) properties",
                        at: entry.key,
                        hint: "at most \(SceneLimits.objectProperties), those of the objects in it counted")
                }
            }
        }
        // A type of the graph may contain one that the document declares anew.
        let declared = Set(types.map(\.name))
        for name in known.types.keys.sorted() where !declared.contains(name) {
            guard let entry = types.first, extents[name] != nil, extents.isBeyondLimits(name) else { continue }
            fault(.limit, "objects of type \(name) would become too large with the types declared here", at: entry.key)
        }
        // Types that exceed the limits are removed, because no object of them may be made.
        for name in stored.keys where extents.isBeyondLimits(name) {
            stored[name] = nil
            known.types[name] = nil
        }
    }

    /// - Parameter circle: types of which each contains the next, and the last contains the first.
    private func tell(_ circle: [String], _ types: [DocumentEntry]) {
        let places = Dictionary(circle.enumerated().map { ($1, $0) }) { first, _ in first }
        for entry in types {
            guard let place = places[entry.name] else { continue }
            let way = (0...min(circle.count, SceneChecker.toldOfCircle)).map { circle[(place + $0) % circle.count] }
            at(entry.name) {
                fault(
                    "an object of type \(entry.name) would hold itself: \(way.joined(separator: " → "))\(way.count > circle.count ? "" : " → …")",
                    at: entry.key, hint: "give one property the type \(entry.name)? and start it as null")
            }
        }
    }

    /// Checks the initial values of stored objects, after all properties are known.
    private func checkStoredObjects(_ types: [DocumentEntry]) {
        for entry in types {
            for property in declared.types[entry.name]?.properties ?? [] {
                guard case .state(let initial, _) = property.role, !property.type.objectNames.isEmpty,
                    let written = entry.value["state"]?[property.name]
                else { continue }
                path += [.key(entry.name), .key("state"), .key(property.name)]
                checkObjects(initial, in: property.type, "initial value", at: written["initial"] ?? written)
                path.removeLast(3)
            }
        }
    }

    /// Checks the defaults of keys that are objects, after all properties are known.
    func checkDefaultObjects(_ keys: DocumentNode) {
        for group in keys.map ?? [] {
            for entry in group.value.map ?? [] {
                guard let standard = entry.value["default"], !standard.isNull,
                    let written = entry.value["type"]?.string,
                    let type = ValueType(written), !type.objectNames.isEmpty
                else { continue }
                // A value that is not a map has been reported already.
                if type.objectName != nil, standard.map == nil { continue }
                path += [.key(group.name), .key(entry.name), .key("default")]
                checkObjects(standard.value, in: type, "default", at: standard)
                path.removeLast(3)
            }
        }
    }

    /// Checks a value of a type that contains object types, which are all known now.
    private func checkObjects(_ value: Value, in type: ValueType, _ what: String, at node: DocumentNode) {
        if let name = type.objectName {
            _ = objectProperties(value, of: name, at: node)
        } else {
            _ = fitting(value, as: type, at: node) { "the \(what) is \(node.summary), not \(type.withArticle)" }
        }
    }

    /// The initial values that override an object's stored properties, converted to their types; nil after adding a
    /// fault. Recursion follows the value's nesting.
    func objectProperties(_ value: Value, of name: String, at node: DocumentNode) -> Value? {
        // If the type itself is faulty, its objects are not checked.
        guard let type = known.types[name] else { return value }
        if case .null = value { return value }
        guard let map = value.map else {
            fault(
                .typeMismatch, "an object of type \(name) starts from a map of its properties, not \(node.summary)",
                at: node)
            return nil
        }
        var accepted = ValueMap(minimumCapacity: map.count)
        var isRight = true
        let stored = type.properties.filter { if case .state = $0.role { true } else { false } }
        for (key, value) in map {
            guard let property = stored.first(where: { .string($0.name) == key }) else {
                let name = key.string ?? key.jsonText
                let isComputed = type.properties.contains { $0.name == name }
                fault(
                    .notFound,
                    isComputed
                        ? "'\(name)' of \(type.name) is computed" : "\(type.name) has no stored property '\(name)'",
                    at: node[name] ?? node, hint: NearestName.hint(name, among: stored.map(\.name)))
                isRight = false
                continue
            }
            if let inner = property.type.objectName {
                let fitting = objectProperties(value, of: inner, at: node[property.name] ?? node)
                if let fitting { accepted[key] = fitting } else { isRight = false }
                continue
            }
            let place = node[property.name] ?? node
            let fitting = fitting(value, as: property.type, at: place) {
                "'\(property.name)' of \(type.name) is \(property.type.withArticle), not \(DocumentNode(value).summary)"
            }
            guard let fitting else {
                isRight = false
                continue
            }
            accepted[key] = fitting
        }
        return isRight ? .map(accepted) : nil
    }
}
