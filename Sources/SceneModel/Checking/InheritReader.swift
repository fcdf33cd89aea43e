import AttributeValues

// Reads `inherit`: environment keys, and objects by their type.
extension PartReader {
    func readInherited(_ node: DocumentNode, into list: AttributeList) {
        if let names = node.list {
            cursor.visit(names) { name in
                guard let key = name.string else {
                    return cursor.fault("inherit lists environment keys, not \(name.summary)", at: name)
                }
                if expressions.vocabulary.typeNames.contains(key) {
                    let attribute = key.prefix(1).lowercased() + key.dropFirst()
                    return cursor.fault(
                        "an object needs a name here", at: name, hint: "write inherit: {\(attribute): \(key)}")
                }
                inherit(key, as: name, at: name, into: list)
            }
            return
        }
        cursor.visitEntries(node, "inherit", hint: "write inherit: [key], or {name: key}") { entry in
            guard let key = entry.value.string else {
                return cursor.fault(
                    "inherit takes an environment key or an object type, not \(entry.value.summary)", at: entry.value)
            }
            let isObject = key.unicodeScalars.first.map { ("A"..."Z").contains($0) } ?? false
            guard isObject else { return inherit(key, as: entry.key, at: entry.value, into: list) }
            let isOptional = key.hasSuffix("?")
            let name = isOptional ? String(key.dropLast()) : key
            guard expressions.vocabulary.typeNames.contains(name) else {
                list.enter(entry.key, .inherit(key: key), .dyn)
                return cursor.fault(
                    .notFound, "there is no object type '\(name)'", at: entry.value,
                    hint: NearestName.hint(name, among: expressions.vocabulary.typeNames.sorted())
                        ?? "object types are declared under types")
            }
            list.enter(
                entry.key, .inheritObject(type: name, isOptional: isOptional),
                isOptional ? .nullable(.object(name)) : .object(name))
        }
    }

    private func inherit(_ key: String, as name: DocumentNode, at node: DocumentNode, into list: AttributeList) {
        guard let declared = expressions.vocabulary.known.environment[key] else {
            if name.position != node.position { list.enter(name, .inherit(key: key), .dyn) }
            let known = expressions.vocabulary.known.environment
            // A rule or a reference: only the key is written.
            var bare = key.drop { $0 == "=" || $0 == "$" || $0 == " " }
            if bare.hasPrefix("env.") { bare = bare.dropFirst(4) }
            let first = String(bare.prefix { $0 != "." })
            let hint =
                if first.count < bare.count {
                    "inherit the whole key, as \(first), or read env.\(bare) in a rule"
                } else if known[first] != nil {
                    "write \(first)"
                } else {
                    NearestName.hint(first, among: known.keys.sorted())
                        ?? "environment keys are declared under keys.environment"
                }
            return cursor.fault(.notFound, "there is no environment key '\(key)'", at: node, hint: hint)
        }
        list.enter(name, .inherit(key: key), declared.type)
    }
}
