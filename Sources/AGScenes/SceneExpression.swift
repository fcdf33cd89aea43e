public import AGClient
public import AttributeValues

/// What an input or a modifier is given: a literal as Swift writes it, or `.rule("volume * 2.0")`. References are key paths and
/// need no expression; see `Place`.
public struct SceneExpression {
    /// As a document writes it.
    let document: Value
    /// Why a document cannot say it.
    let problem: String?

    init(document: Value, problem: String? = nil) {
        self.document = document
        self.problem = problem
    }

    init(literal value: Value) {
        switch value {
        // JSON has no form for these; a rule has.
        case .timestamp: self.init(document: .string("=timestamp(\(value.jsonText))"))
        case .duration: self.init(document: .string("=duration(\(value.jsonText))"))
        case .uint(let number): self.init(document: .string("=\(number)u"))
        default: self.init(document: value.writtenLiteral, problem: value.problemInDocument)
        }
    }

    init(_ place: PlacePath) { self.init(document: .string("$" + place.text), problem: place.problemAsReference) }

    /// A rule in CEL.
    public static func rule(_ text: String) -> SceneExpression { SceneExpression(document: .string("=" + text)) }

    /// A value that is no literal of Swift's.
    public static func literal(_ value: some ValueRepresentable) -> SceneExpression { SceneExpression(literal: value.value) }
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
    /// A literal where a rule or a reference could stand, too: texts that look like one have their first character doubled.
    var writtenLiteral: Value {
        guard case .string(let text) = self, text.hasPrefix("=") || text.hasPrefix("$") else { return self }
        return .string(text.prefix(1) + text)
    }

    /// Whether it is a map that a document takes for a long form: of nothing but some of these keys, one of `required` among them.
    func looksLikeForm(_ keys: Set<String>, requiring required: Set<String>) -> Bool {
        guard case .map(let map) = self, !map.isEmpty else { return false }
        let names = map.keys.compactMap(\.string)
        return names.count == map.count && keys.isSuperset(of: names) && !required.isDisjoint(with: names)
    }

    /// Why a document, which is JSON, cannot hold the value.
    var problemInDocument: String? {
        // An explicit stack: a program may have made the value as deep as it likes.
        var pending = [self]
        while let value = pending.popLast() {
            switch value {
            case .null, .bool, .int, .string: continue
            case .double(let number) where number.isFinite: continue
            case .list(let elements): pending += elements
            case .map(let map):
                pending += map.values
                if map.keys.contains(where: { $0.string == nil }) { return "a document's maps have texts as keys" }
            default: return "a document cannot hold the \(value.shortTypeName) \(value); write it as a rule"
            }
        }
        return nil
    }
}
