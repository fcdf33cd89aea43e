import AttributeValues
import RuleLanguage

// Reads `keys`: environment, container-value and preference keys with their defaults.
extension ExpressionReader {
    func declareKeys(_ node: DocumentNode) {
        let names = SceneForm.keys.keys
        let groups = cursor.readEntries(node, "keys", hint: "keys has the groups \(names.joined(separator: ", "))")
        cursor.checkKeys(groups, of: "keys", allowed: names)
        for written in groups {
            guard let group = KeyGroup(rawValue: written.name) else { continue }
            cursor.at(written.name) {
                for entry in cursor.readEntries(written.value, "a group of keys", hint: "write name: {default: value}")
                {
                    cursor.at(entry.name) { declare(entry, in: group) }
                }
            }
        }
    }

    private func declare(_ entry: DocumentEntry, in group: KeyGroup) {
        guard cursor.checkName(entry.key, "a key") else { return }
        if group == .environment, entry.name == "objects" {
            return cursor.fault(
                "an environment key cannot be 'objects'", at: entry.key,
                hint: "objects: [$name] provides objects by their type")
        }
        if let first = entry.name.unicodeScalars.first, ("A"..."Z").contains(first), group == .environment {
            return cursor.fault(
                "an environment key begins with a small letter", at: entry.key,
                hint: "names with a capital are object types, which need no key")
        }
        guard let key = definition(entry, in: group) else { return vocabulary.admit(faultyKey: entry.name, in: group) }
        if group == .environment, let system = SystemEnvironment.keys.first(where: { $0.name == key.name }),
            system.type != key.type
        {
            return cursor.fault(
                .typeMismatch, "'\(key.name)' is a system value of type \(system.type), not \(key.type)",
                at: entry.value, hint: "choose another name")
        }
        vocabulary.declare(key, in: group, written: entry.value.value)
    }

    /// Reads the long form `{default, type, reduce}`, or the default alone.
    private func definition(_ entry: DocumentEntry, in group: KeyGroup) -> KeyDefinition? {
        let node = entry.value
        cursor.warnOfSigns(
            node["default"] ?? node, "the default of a key is a literal",
            hint: "write a literal; nodes give the key other values under environment, containerValues or preferences")
        let isLong = node["default"] != nil || node.isForm(SceneForm.preferenceKey.keys)
        guard isLong, let entries = node.map else {
            return KeyDefinition(name: entry.name, type: ValueType(of: node.value), defaultValue: node.value)
        }
        cursor.checkKeys(
            entries, of: "a key's declaration",
            allowed: group == .preference ? SceneForm.preferenceKey.keys : SceneForm.key.keys)
        guard let type = writtenType(node) else { return nil }
        guard let standard = node["default"] else {
            guard let type, type.admits(.null), type != .dyn else {
                return cursor.refuse(
                    "the key '\(entry.name)' needs a default", at: entry.key,
                    hint: "write default:, or a type that takes null, such as int?")
            }
            return KeyDefinition(name: entry.name, type: type, defaultValue: .null)
        }
        let value = standard.value
        guard let type else { return KeyDefinition(name: entry.name, type: ValueType(of: value), defaultValue: value) }
        if let name = type.objectName, !standard.isNull {
            // Readers get this object if no node provides one. Its properties are checked when the types are known.
            guard standard.map != nil else {
                return cursor.refuse(
                    under: "default", .typeMismatch,
                    "a default of type \(name) is a map of its properties, not \(standard.summary)", at: standard)
            }
            return KeyDefinition(name: entry.name, type: type, defaultValue: value)
        }
        // The types are not known yet: see `checkDefaultsOfKeys`.
        guard type.objectNames.isEmpty else { return KeyDefinition(name: entry.name, type: type, defaultValue: value) }
        guard let accepted = type.accept(value) else {
            return cursor.refuse(
                under: "default", .typeMismatch, "the default is \(standard.summary), not \(type.withArticle)",
                at: standard)
        }
        return KeyDefinition(name: entry.name, type: type, defaultValue: accepted)
    }

    /// Checks the defaults of keys that are objects, after all properties are known.
    func checkDefaultsOfKeys(_ keys: DocumentNode) {
        for group in keys.map ?? [] {
            for entry in group.value.map ?? [] {
                guard let standard = entry.value["default"], !standard.isNull,
                    let written = entry.value["type"]?.string, let type = ValueType(written), !type.objectNames.isEmpty
                else { continue }
                // A value that is not a map has been reported already.
                if type.objectName != nil, standard.map == nil { continue }
                cursor.at([group.name, entry.name, "default"]) {
                    checkObjects(standard.value, in: type, "default", at: standard)
                }
            }
        }
    }

    /// Compiles the rules that merge preferences. They can use only two values of the key.
    func compileReducers(_ node: DocumentNode, limits: RuleLimits) {
        guard let group = node["preference"]?.map else { return }
        cursor.at("preference") {
            for entry in group where entry.value["default"] != nil || entry.value.isForm(SceneForm.preferenceKey.keys) {
                guard let written = entry.value["reduce"], var key = vocabulary.declared.preference[entry.name] else {
                    continue
                }
                let scope = RuleScope(limits: limits)
                scope.declare("value", key.type)
                scope.declare("next", key.type)
                cursor.at([entry.name, "reduce"]) {
                    guard let program = readProgram(written, in: scope) else { return }
                    let result = vocabulary.type(of: program)
                    if !key.type.admits(result) {
                        cursor.fault(
                            .ruleType, "reduce gives \(result.withArticle), but the key is \(key.type.withArticle)",
                            at: written)
                    }
                    key.reduce = program
                    vocabulary.declare(key, in: .preference, written: entry.value.value)
                }
            }
        }
    }
}
