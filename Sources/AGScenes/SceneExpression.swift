public import AGClient
public import AttributeValues

/// The value of an input or a modifier: a Swift literal, or `.rule("volume * 2.0")`. References are key paths and need
/// no expression; see `Place`.
public struct SceneExpression {
    /// The document's form.
    let document: Value
    /// The reason why a document cannot express it.
    let problem: String?

    init(document: Value, problem: String? = nil) {
        self.document = document
        self.problem = problem
    }

    init(literal value: Value) {
        switch value {
        // JSON has no form for these values, but a rule has.
        case .timestamp: self.init(document: .string("=timestamp(\(value.jsonText))"))
        case .duration: self.init(document: .string("=duration(\(value.jsonText))"))
        case .uint(let number): self.init(document: .string("=\(number)u"))
        default: self.init(document: value.writtenLiteral, problem: value.problemInDocument)
        }
    }

    init(_ place: PlacePath) { self.init(document: .string("$" + place.text), problem: place.problemAsReference) }

    /// A rule in CEL.
    public static func rule(_ text: String) -> SceneExpression { SceneExpression(document: .string("=" + text)) }

    /// A value that is not a Swift literal.
    public static func literal(_ value: some ValueRepresentable) -> SceneExpression {
        SceneExpression(literal: value.value)
    }
}

extension SceneExpression: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(booleanLiteral value: Bool) { self.init(literal: .bool(value)) }
    public init(integerLiteral value: Int64) { self.init(literal: .int(value)) }
    public init(floatLiteral value: Double) { self.init(literal: .double(value)) }
    public init(stringLiteral value: String) { self.init(literal: .string(value)) }
    public init(arrayLiteral elements: Value...) { self.init(literal: .list(elements)) }
    public init(dictionaryLiteral elements: (String, Value)...) {
        self.init(literal: .map(ValueMap(elements.map { (.string($0), $1) })))
    }
    public init(nilLiteral: ()) { self.init(literal: .null) }
}

extension KeyPath where Root == Place, Value == Place {
    var problemAsReference: String? { text.isEmpty ? "a reference names an attribute, as \\.name" : nil }
}

extension Value {
    /// A literal where a rule or a reference is also allowed. If a text looks like one, its first character is doubled.
    var writtenLiteral: Value {
        guard case .string(let text) = self, text.hasPrefix("=") || text.hasPrefix("$") else { return self }
        return .string(text.prefix(1) + text)
    }

    /// True if a document would read the map as a long form: it has only some of these keys, and at least one of
    /// `required`.
    func looksLikeForm(_ keys: Set<String>, requiring required: Set<String>) -> Bool {
        guard case .map(let map) = self, !map.isEmpty else { return false }
        let names = map.keys.compactMap(\.string)
        return names.count == map.count && keys.isSuperset(of: names) && !required.isDisjoint(with: names)
    }

    /// The reason why a document, which is JSON, cannot contain the value.
    var problemInDocument: String? {
        // An explicit stack, because a program may have made a value of any depth.
        var pending = [self]
        while let value = pending.popLast() {
            switch value {
            case .null, .bool, .int, .string: continue
            case .double(let number) where number.isFinite: continue
            case .list(let elements): pending += elements
            case .map(let map):
                pending += map.values
                if map.keys.contains(where: { $0.string == nil }) { return "the keys of a map in a document are texts" }
            default: return "a document cannot contain the \(value.shortTypeName) \(value); write it as a rule"
            }
        }
        return nil
    }
}
