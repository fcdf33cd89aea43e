import RuleLanguage

extension RuleScope {
    /// The names that every rule of a document can use: `env`, `preferences`, `self`, and the types of objects.
    convenience init(standardFor known: Declarations, limits: RuleLimits) {
        self.init(limits: limits)
        hasPast = true
        hasRoot = true
        for type in known.types.values { declareObject(type) }
        for function in known.functions.values { declare(function) }
        func types(_ keys: [String: KeyDefinition]) -> [String: RuleType] { keys.mapValues { RuleType($0.type) } }
        declareNamespace("env", keysAre: "environment key", types(known.environment))
        declareNamespace("preferences", keysAre: "preference key", types(known.preference))
        declareNamespace("self", keysAre: "property of self", ["id": .string, "path": .string, "index": .int])
        // Lower-case names cannot collide with those of object types.
        let values = RuleType.abstract("containerValues", [])
        let subviews = RuleType.list(.abstract("subview", []))
        declareObject("containerValues", properties: types(known.container), isAssembled: true)
        declareObject(
            "subview", properties: ["id": .string, "index": .int, "tag": .dyn, "containerValues": values],
            isAssembled: true)
        declareObject(
            "section",
            properties: [
                "id": .string, "index": .int, "header": subviews, "content": subviews, "footer": subviews,
                "containerValues": values,
            ], isAssembled: true)
    }

    func declareObject(_ type: ObjectTypeDefinition) {
        declareObject(
            type.name,
            properties: Dictionary(type.properties.map { ($0.name, RuleType($0.type)) }) { first, _ in first },
            rules: type.rules)
    }
}
