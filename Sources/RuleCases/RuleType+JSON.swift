public import AttributeValues
public import RuleLanguage

/// Types in the encoding of the conformance suite: `"int"`, `["list", T]`, `["map", K, V]`,
/// `["abstract", "optional_type", T]`.
extension RuleType {
    public var json: Value {
        switch self {
        case .dyn, .error, .variable: "dyn"
        case .scalar(let type): .string(type == .null ? type.typeName : type.rawValue)
        case .list(let element): ["list", element.json]
        case .map(let key, let value): ["map", key.json, value.json]
        case .type(let type): ["type", type.json]
        case .wrapper(let type): ["wrapper", type.json]
        case .parameter(let name): ["param", .string(name)]
        case .abstract(let name, let parameters): .list(["abstract", .string(name)] + parameters.map(\.json))
        }
    }

    /// - Throws: `invalid` if the JSON is not a type. The depth limit of admitted JSON bounds the recursion.
    public init(json: Value) throws(Failure) {
        switch json {
        case .string(let name): self = try RuleType.named(name)
        case .list(let parts):
            guard case .string(let kind)? = parts.first else { throw RuleType.invalid(json) }
            switch (kind, parts.count) {
            case ("list", 2): self = .list(try RuleType(json: parts[1]))
            case ("map", 3): self = .map(try RuleType(json: parts[1]), try RuleType(json: parts[2]))
            case ("type", 2): self = .type(try RuleType(json: parts[1]))
            case ("wrapper", 2): self = .wrapper(try RuleType(json: parts[1]))
            case ("param", 2): self = .parameter(try RuleType.text(parts[1]))
            case ("message", 2): self = .abstract(try RuleType.text(parts[1]), [])
            case ("abstract", 2...):
                var parameters: [RuleType] = []
                for part in parts.dropFirst(2) { parameters.append(try RuleType(json: part)) }
                self = .abstract(try RuleType.text(parts[1]), parameters)
            case ("function", _): self = .dyn
            default: throw RuleType.invalid(json)
            }
        default: throw RuleType.invalid(json)
        }
    }

    private static func invalid(_ json: Value) -> Failure { Failure(.invalid, "\(json) is not a type") }

    private static func text(_ json: Value) throws(Failure) -> String {
        guard case .string(let text) = json else { throw invalid(json) }
        return text
    }

    private static func named(_ name: String) throws(Failure) -> RuleType {
        switch name {
        case "dyn", "any", "error": return .dyn
        case "list": return .list(.dyn)
        case "map": return .map(.dyn, .dyn)
        case "type": return .type(.dyn)
        default:
            guard let type = ScalarType(rawValue: name) ?? ScalarType(typeName: name) else {
                throw invalid(.string(name))
            }
            return .scalar(type)
        }
    }
}
