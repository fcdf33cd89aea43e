import AttributeValues
import RuleLanguage

/// Reads `types`: observable objects, their stored and computed properties.
struct TypeReader {
    let expressions: ExpressionReader
    let limits: RuleLimits
    /// See `SceneContext.refusesCycles`.
    let refusesCycles: Bool
    private var cursor: CheckCursor { expressions.cursor }
    private var vocabulary: Vocabulary { expressions.vocabulary }

    /// Maximum number of types of a cycle that a fault names.
    private static let toldOfCircle = 20

    func declareNames(_ types: [DocumentEntry]) {
        for entry in types {
            let isCapital = entry.name.unicodeScalars.first.map { ("A"..."Z").contains($0) } ?? false
            if isCapital {
                vocabulary.typeNames.insert(entry.name)
            } else {
                cursor.fault(
                    under: entry.name, "an object type begins with a capital", at: entry.key,
                    hint: "so that inherit can tell types from environment keys")
            }
        }
    }

    /// Declares the types, whose names are declared.
    func declare(_ types: [DocumentEntry]) {
        let usable = types.filter { vocabulary.typeNames.contains($0.name) }
        // The stored properties of all types come first, because the rules of one type may read another.
        var stored: [String: [AttributeDefinition]] = [:]
        for entry in usable {
            cursor.at(entry.name) {
                guard cursor.checkName(entry.key, "a type") else { return }
                let parts = cursor.readEntries(
                    entry.value, "a type", hint: "write state:, computed: and actions: below it"
                ).filter { !cursor.isOfAuthors($0) }
                cursor.checkKeys(parts, of: "a type", allowed: SceneForm.type.keys)
                let list = AttributeList(cursor)
                if let state = entry.value["state"] {
                    cursor.at("state") {
                        cursor.visitEntries(state, "state") { property in
                            expressions.addLiteralState(property, to: list)
                            guard property.value.count > 0 else { return }
                            expressions.cursor.warnOfSigns(
                                property.value, "a stored property starts from a literal",
                                hint: "write what follows others under computed")
                        }
                    }
                }
                stored[entry.name] = list.attributes
            }
        }
        checkContainment(usable, &stored)
        let scope = RuleScope(limits: limits)
        for (name, type) in vocabulary.known.types where stored[name] == nil { scope.declareObject(type) }
        for function in vocabulary.known.functions.values { scope.declare(function) }
        for entry in usable {
            var properties = Dictionary((stored[entry.name] ?? []).map { ($0.name, RuleType($0.type)) }) { first, _ in
                first
            }
            var rules: [String: DeclaredFunction] = [:]
            for computed in entry.value["computed"]?.map ?? [] {
                properties[computed.name] = .dyn
                let text = ExpressionReader.ruleText(of: computed.value["rule"] ?? computed.value)
                // Its faults are told where the rule itself is read.
                rules[computed.name] = try? DeclaredFunction(
                    property: computed.name, of: entry.name, text, limits: limits)
            }
            scope.declareObject(entry.name, properties: properties, rules: rules)
        }
        let rules = ComputedReader(expressions, in: scope, refusesCycles: refusesCycles)
        for entry in usable {
            guard let own = stored[entry.name] else { continue }
            cursor.at(entry.name) {
                let list = AttributeList(cursor, own)
                if let computed = entry.value["computed"] {
                    cursor.at("computed") { rules.read(computed, own: own.map { ScopeEntry($0) }, into: list) }
                }
                vocabulary.declare(
                    ObjectTypeDefinition(
                        name: entry.name, properties: list.attributes,
                        actionNames: entry.value["actions"]?.map?.map(\.name) ?? []),
                    written: entry.value.value.withoutAuthor)
            }
        }
        checkStoredObjects(usable)
    }

    /// Reads the actions of the types, which are declared. Their names are the properties of the object.
    func readActions(_ types: [DocumentEntry], _ parts: PartReader) {
        guard types.contains(where: { $0.value["actions"] != nil }) else { return }
        let scope = RuleScope(limits: limits)
        for type in vocabulary.known.types.values { scope.declareObject(type) }
        for function in vocabulary.known.functions.values { scope.declare(function) }
        for entry in types {
            guard let written = entry.value["actions"], let type = vocabulary.declared.types[entry.name] else {
                continue
            }
            let names =
                type.properties.map { ScopeEntry($0) }
                + type.actionNames.map { ScopeEntry(name: $0, type: .dyn, access: .readOnly("an action")) }
            let own = LexicalScope(names, in: LexicalScope(scope))
            let list = AttributeList(cursor, type.properties)
            cursor.at([entry.name, "actions"]) {
                cursor.visitEntries(written, "actions", hint: "write name: {set: {$property: value}}") { action in
                    list.enter(action.key, .action(parts.calledAction(action.value, in: own)), .dyn)
                }
            }
            type.actions = Array(list.attributes.dropFirst(type.properties.count))
            type.author = cursor.authors.standard
            if cursor.isKept { type.author = PartAuthors(kept: entry.value[PartAuthor.key]?.value ?? .null).standard }
            // A type that is declared again without a change keeps its author.
            if let old = vocabulary.replacedTypes[entry.name], old.saysSame(as: type), !type.author.replaces(old.author)
            {
                type.author = old.author
            }
        }
    }

    /// An object that initially contains an object of its own type would be infinite, and each type that contains
    /// others multiplies their size. Therefore the size of objects is computed before any is made. O(properties of all
    /// types).
    private func checkContainment(_ types: [DocumentEntry], _ stored: inout [String: [AttributeDefinition]]) {
        let properties = { (name: String) in stored[name] ?? vocabulary.known.types[name]?.properties ?? [] }
        let extents = ObjectExtents(of: Set(stored.keys).union(vocabulary.known.types.keys), properties: properties)
        for circle in extents.circles() { tell(circle, types) }
        for entry in types {
            guard let extent = extents[entry.name] else { continue }
            cursor.at(entry.name) {
                if extent.depth > SceneLimits.objectDepth {
                    cursor.fault(
                        .limit,
                        "an object of type \(entry.name) would have objects nested \(extent.depth) deep",
                        at: entry.key,
                        hint: "at most \(SceneLimits.objectDepth)")
                } else if extent.properties > SceneLimits.objectProperties {
                    cursor.fault(
                        .limit, "an object of type \(entry.name) would have \(extent.properties) properties",
                        at: entry.key, hint: "at most \(SceneLimits.objectProperties), with those of the objects in it")
                }
            }
        }
        // A type of the graph may contain one that the document declares anew.
        let declared = Set(types.map(\.name))
        for name in vocabulary.known.types.keys.sorted() where !declared.contains(name) {
            guard let entry = types.first, extents[name] != nil, extents.isBeyondLimits(name) else { continue }
            cursor.fault(
                .limit, "objects of type \(name) would become too large with the types declared here", at: entry.key)
        }
        // Types that exceed the limits are removed, because no object of them may be made.
        for name in stored.keys where extents.isBeyondLimits(name) {
            stored[name] = nil
            vocabulary.forget(type: name)
        }
    }

    /// - Parameter circle: types of which each contains the next, and the last contains the first.
    private func tell(_ circle: [String], _ types: [DocumentEntry]) {
        let places = Dictionary(circle.enumerated().map { ($1, $0) }) { first, _ in first }
        for entry in types {
            guard let place = places[entry.name] else { continue }
            let way = (0...min(circle.count, TypeReader.toldOfCircle)).map { circle[(place + $0) % circle.count] }
            cursor.fault(
                under: entry.name,
                "an object of type \(entry.name) would contain itself: \(way.joined(separator: " → "))"
                    + "\(way.count > circle.count ? "" : " → …")",
                at: entry.key, hint: "give one property the type \(entry.name)? and start it as null")
        }
    }

    /// Checks the initial values of stored objects, after all properties are known.
    private func checkStoredObjects(_ types: [DocumentEntry]) {
        for entry in types {
            for property in vocabulary.declared.types[entry.name]?.properties ?? [] {
                guard case .state(let initial, _) = property.role, !property.type.objectNames.isEmpty,
                    let written = entry.value["state"]?[property.name]
                else { continue }
                cursor.at([entry.name, "state", property.name]) {
                    expressions.checkObjects(
                        initial, in: property.type, "initial value", at: written["initial"] ?? written)
                }
            }
        }
    }
}
