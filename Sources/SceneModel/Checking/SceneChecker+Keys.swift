import AttributeValues
import RuleLanguage

// `keys`: environment, container-value and preference keys with their defaults.

extension SceneChecker {
    static let keyGroups = ["environment", "container", "preference"]
    private static let keyForm = ["default", "type", "reduce"]

    func declareKeys(_ node: DocumentNode) {
        let groups = entries(
            node, "keys", hint: "keys has the groups \(SceneChecker.keyGroups.joined(separator: ", "))")
        checkKeys(groups, of: "keys", allowed: SceneChecker.keyGroups)
        for group in groups where SceneChecker.keyGroups.contains(group.name) {
            at(group.name) {
                for entry in entries(group.value, "a group of keys", hint: "write name: {default: value}") {
                    at(entry.name) { declareKey(entry, in: group.name) }
                }
            }
        }
    }

    private func declareKey(_ entry: DocumentEntry, in group: String) {
        guard checkName(entry.key, "a key") else { return }
        if group == "environment", entry.name == "objects" {
            return fault(
                "an environment key cannot be 'objects'", at: entry.key,
                hint: "objects: [$name] provides objects by their type"
            )
        }
        if let first = entry.name.unicodeScalars.first, ("A"..."Z").contains(first), group == "environment" {
            return fault(
                "an environment key begins with a small letter", at: entry.key,
                hint: "names with a capital are object types, which need no key")
        }
        guard let key = keyDefinition(entry, in: group) else {
            // Added in spite of the fault, so that its uses are not reported too.
            let stand = KeyDefinition(name: entry.name, type: .dyn, defaultValue: .null)
            switch group {
            case "environment": known.environment[entry.name] = stand
            case "container": known.container[entry.name] = stand
            default: known.preference[entry.name] = stand
            }
            return
        }
        declared.written.keys[group, default: [:]][entry.name] = entry.value.value
        switch group {
        case "environment":
            if let system = SystemEnvironment.keys.first(where: { $0.name == key.name }), system.type != key.type {
                return fault(
                    .typeMismatch, "'\(key.name)' is a system value of type \(system.type), not \(key.type)",
                    at: entry.value,
                    hint: "choose another name")
            }
            declared.environment[key.name] = key
            known.environment[key.name] = key
        case "container":
            declared.container[key.name] = key
            known.container[key.name] = key
        default:
            declared.preference[key.name] = key
            known.preference[key.name] = key
        }
    }

    /// Reads the long form `{default, type, reduce}`, or the default alone.
    private func keyDefinition(_ entry: DocumentEntry, in group: String) -> KeyDefinition? {
        let node = entry.value
        let isLong = node["default"] != nil || node.isForm(SceneChecker.keyForm)
        guard isLong, let entries = node.map else {
            return KeyDefinition(name: entry.name, type: ValueType(of: node.value), defaultValue: node.value)
        }
        checkKeys(
            entries, of: "a key's declaration",
            allowed: group == "preference" ? SceneChecker.keyForm : ["default", "type"])
        guard let type = writtenType(node) else { return nil }
        guard let standard = node["default"] else {
            guard let type, type.admits(.null), type != .dyn else {
                fault(
                    "the key '\(entry.name)' needs a default", at: entry.key,
                    hint: "write default:, or a type that takes null, such as int?")
                return nil
            }
            return KeyDefinition(name: entry.name, type: type, defaultValue: .null)
        }
        let value = standard.value
        guard let type else { return KeyDefinition(name: entry.name, type: ValueType(of: value), defaultValue: value) }
        if let name = type.objectName, !standard.isNull {
            // The object for readers to whom no other is given: its properties are checked when the types are known.
            guard standard.map != nil else {
                at("default") {
                    fault(
                        .typeMismatch, "a default of type \(name) is a map of its properties, not \(standard.summary)",
                        at: standard)
                }
                return nil
            }
            return KeyDefinition(name: entry.name, type: type, defaultValue: value)
        }
        // The types are not known yet: see `checkDefaultObjects`.
        guard type.objectNames.isEmpty else { return KeyDefinition(name: entry.name, type: type, defaultValue: value) }
        guard let accepted = type.accept(value) else {
            at("default") {
                fault(.typeMismatch, "the default is \(standard.summary), not \(type.withArticle)", at: standard)
            }
            return nil
        }
        return KeyDefinition(name: entry.name, type: type, defaultValue: accepted)
    }

    /// The rules that merge preferences. They can use only two values of the key.
    func compileReducers(_ node: DocumentNode) {
        guard let group = node["preference"]?.map else { return }
        at("preference") {
            for entry in group where entry.value["default"] != nil || entry.value.isForm(SceneChecker.keyForm) {
                guard let written = entry.value["reduce"], var key = declared.preference[entry.name] else { continue }
                let scope = RuleScope(limits: context.rules)
                scope.declare("value", key.type)
                scope.declare("next", key.type)
                path += [.key(entry.name), .key("reduce")]
                if let program = rule(written, in: scope) {
                    if !key.type.admits(type(of: program)) {
                        fault(
                            .ruleType,
                            "reduce gives \(type(of: program).withArticle), but the key is \(key.type.withArticle)",
                            at: written)
                    }
                    key.reduce = program
                    declared.preference[entry.name] = key
                    known.preference[entry.name] = key
                }
                path.removeLast(2)
            }
        }
    }
}
