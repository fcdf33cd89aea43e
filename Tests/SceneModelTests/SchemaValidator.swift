import AttributeValues
import Foundation

/// As much of JSON Schema (draft 2020-12) as `config/scene.schema.json` uses; a keyword it does not know is a problem.
struct SchemaValidator {
    private let root: Value

    init(_ text: String) throws { root = try JSONParser.parseOnce(Array(text.utf8)) }

    func problems(of value: Value) -> [String] { check(value, root, "#") }

    private func check(_ value: Value, _ schema: Value, _ place: String) -> [String] {
        if case .bool(let isAllowed) = schema { return isAllowed ? [] : ["\(place): not allowed"] }
        guard let rules = schema.map else { return ["\(place): the schema is no object"] }
        var problems: [String] = []
        for (key, rule) in rules { problems += apply(key.string ?? "", rule, rules, value, place) }
        return problems
    }

    private func apply(_ keyword: String, _ rule: Value, _ rules: ValueMap, _ value: Value, _ place: String) -> [String]
    {
        switch keyword {
        case "$schema", "$id", "$defs", "title", "description", "markdownDescription", "examples", "default": return []
        case "$ref":
            let names = (rule.string ?? "").split(separator: "/").dropFirst()
            guard let found = names.reduce(root as Value?, { $0?.map?[String($1)] }) else {
                return ["\(place): no schema \(rule)"]
            }
            return check(value, found, place)
        case "type":
            let names = rule.list?.compactMap(\.string) ?? [rule.string ?? ""]
            return names.contains { isType($0, value) } ? [] : ["\(place): not \(names.joined(separator: " or "))"]
        case "const": return value == rule ? [] : ["\(place): not \(rule)"]
        case "enum": return rule.list?.contains(value) ?? false ? [] : ["\(place): not one of \(rule)"]
        case "pattern":
            guard let text = value.string, let pattern = rule.string else { return [] }
            return text.range(of: pattern, options: .regularExpression) != nil
                ? [] : ["\(place): does not match \(pattern)"]
        case "minimum":
            guard let number = value.number, let least = rule.number, number < least else { return [] }
            return ["\(place): less than \(rule)"]
        case "minLength":
            return (value.string?.unicodeScalars.count ?? .max) >= Int(rule.number ?? 0) ? [] : ["\(place): too short"]
        case "minProperties":
            return (value.map?.count ?? .max) >= Int(rule.number ?? 0) ? [] : ["\(place): too few members"]
        case "required":
            guard let map = value.map else { return [] }
            return (rule.list ?? []).filter { map[$0] == nil }.map { "\(place): lacks \($0)" }
        case "properties":
            guard let map = value.map, let properties = rule.map else { return [] }
            return map.flatMap { key, value in properties[key].map { check(value, $0, "\(place)/\(key)") } ?? [] }
        case "propertyNames": return (value.map?.keys ?? []).flatMap { check($0, rule, "\(place) key \($0)") }
        case "additionalProperties":
            guard let map = value.map else { return [] }
            let known = rules["properties"]?.map
            return map.filter { known?[$0.key] == nil }.flatMap { check($0.value, rule, "\(place)/\($0.key)") }
        case "items": return (value.list ?? []).enumerated().flatMap { check($1, rule, "\(place)/\($0)") }
        case "anyOf":
            let attempts = (rule.list ?? []).map { check(value, $0, place) }
            return attempts.contains([]) ? [] : ["\(place): fits none of \(attempts)"]
        case "not": return check(value, rule, place).isEmpty ? ["\(place): fits what it must not"] : []
        case "allOf": return (rule.list ?? []).flatMap { check(value, $0, place) }
        case "if":
            let branch = check(value, rule, place).isEmpty ? rules["then"] : rules["else"]
            return branch.map { check(value, $0, place) } ?? []
        case "then", "else": return []
        default: return ["\(place): the schema uses \(keyword), which this check does not know"]
        }
    }

    private func isType(_ name: String, _ value: Value) -> Bool {
        switch (name, value) {
        case ("null", .null), ("boolean", .bool), ("string", .string), ("array", .list), ("object", .map),
            ("integer", .int),
            ("integer", .uint), ("number", .int), ("number", .uint), ("number", .double):
            true
        default: false
        }
    }
}
