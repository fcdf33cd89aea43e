import AttributeValues

/// The form of a part of JSON. It has two uses: requests are checked against it, and `describe` returns it as JSON
/// Schema. Only the tables of this module nest shapes, so functions may recurse over them.
public indirect enum Shape {
    /// Any JSON.
    case any
    case string
    case bool
    case integer
    case number
    /// A number above zero.
    case positive
    /// An integer of zero or more.
    case count
    /// One of these words.
    case choice([String])
    case array(Shape)
    case object([Field])
    /// An object whose members all have one shape. The sender chooses the names.
    case map(Shape)
    /// Either an object or a text.
    case objectOrString
}

/// A member of an object, or a parameter of a method.
///
/// A class, because every request is checked against fields: a copy counts one reference instead of four.
public final class Field {
    public let name: String
    public let shape: Shape
    public let isRequired: Bool
    /// The default of an omitted member, if there is one.
    public let fallback: Value?
    public let meaning: String

    private init(name: String, shape: Shape, isRequired: Bool, fallback: Value?, meaning: String) {
        self.name = name
        self.shape = shape
        self.isRequired = isRequired
        self.fallback = fallback
        self.meaning = meaning
    }

    public static func required(_ name: String, _ shape: Shape, _ meaning: String) -> Field {
        Field(name: name, shape: shape, isRequired: true, fallback: nil, meaning: meaning)
    }

    public static func optional(_ name: String, _ shape: Shape, default fallback: Value? = nil, _ meaning: String)
        -> Field
    {
        Field(name: name, shape: shape, isRequired: false, fallback: fallback, meaning: meaning)
    }
}

extension Shape {
    /// The form in words, as in "expected …".
    var summary: String {
        switch self {
        case .any: "any value"
        case .string: "a string"
        case .bool: "true or false"
        case .integer: "an integer"
        case .number: "a number"
        case .positive: "a number above 0"
        case .count: "an integer of 0 or more"
        case .choice(let words): "one of " + words.joined(separator: ", ")
        case .array(let element): "a list (each element \(element.summary))"
        case .object: "an object"
        case .map: "an object"
        case .objectOrString: "a string or an object"
        }
    }

    /// The form in JSON Schema.
    public var schema: Value {
        switch self {
        case .any: [:]
        case .string: ["type": "string"]
        case .bool: ["type": "boolean"]
        case .integer: ["type": "integer"]
        case .number: ["type": "number"]
        case .positive: ["type": "number", "exclusiveMinimum": 0]
        case .count: ["type": "integer", "minimum": 0]
        case .choice(let words): ["type": "string", "enum": .list(words.map { .string($0) })]
        case .array(let element): ["type": "array", "items": element.schema]
        case .map(let element): ["type": "object", "additionalProperties": element.schema]
        case .objectOrString: ["type": ["string", "object"]]
        case .object(let fields): Shape.objectSchema(fields)
        }
    }

    private static func objectSchema(_ fields: [Field]) -> Value {
        let required = fields.filter(\.isRequired).map { Value.string($0.name) }
        var schema: ValueMap = ValueMap([
            (.string("type"), "object"),
            (.string("properties"), .map(ValueMap(fields.map { (.string($0.name), $0.schema) }))),
            (.string("additionalProperties"), false),
        ])
        if !required.isEmpty { schema["required"] = .list(required) }
        return .map(schema)
    }
}

extension Field {
    /// The member's form in JSON Schema, with its meaning and default.
    var schema: Value {
        guard case .map(var schema) = shape.schema else { return shape.schema }
        schema["description"] = .string(meaning)
        if let fallback { schema["default"] = fallback }
        return .map(schema)
    }
}
