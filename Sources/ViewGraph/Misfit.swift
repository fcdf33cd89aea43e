import AttributeValues
import SceneModel

/// The innermost part of a value that does not fit its type.
struct Misfit {
    /// The path to it in the value.
    var steps: [AttributePath.Step] = []
    /// The type that the part should have; nil for a property that the object does not have.
    var wanted: ValueType?
    var found: Value
    private var nearName: String?
    private var object = ""

    /// Descends into value and type together, at most as deep as the type is.
    init(of value: Value, in type: ValueType, _ declarations: Declarations, withComputed: Bool = false) {
        var (wanted, found) = (type, value)
        descent: while true {
            switch (wanted, found) {
            case (.nullable(let wrapped), _): wanted = wrapped
            case (.list(let element), .list(let elements)):
                guard
                    let position = elements.firstIndex(where: {
                        declarations.accept($0, as: element, withComputed: withComputed) == nil
                    })
                else { break descent }
                steps.append(.index(position))
                (wanted, found) = (element, elements[position])
            case (.map(let key, let part), .map(let map)):
                guard
                    let (name, value) = map.first(where: {
                        declarations.accept($0.value, as: part, withComputed: withComputed) == nil
                    }),
                    case .string(let text) = name, key.accept(name) != nil
                else { break descent }
                steps.append(.key(text))
                (wanted, found) = (part, value)
            case (.vector, .list(let elements)):
                guard let position = elements.firstIndex(where: { $0.number == nil }) else { break descent }
                steps.append(.index(position))
                (wanted, found) = (.double, elements[position])
            case (.object(let name), .map(let map)):
                guard let next = Misfit.property(of: map, in: name, declarations, withComputed) else { break descent }
                steps.append(.key(next.name))
                guard let type = next.type else {
                    self.found = next.value
                    object = name
                    nearName = NearestName.hint(next.name, among: next.known)
                    return
                }
                (wanted, found) = (type, next.value)
            default: break descent
            }
        }
        self.wanted = wanted
        self.found = found
    }

    /// The first entry of a map that does not fit the properties of an object. `type` is nil if the object stores no
    /// such property.
    private static func property(of map: ValueMap, in name: String, _ declarations: Declarations, _ withComputed: Bool)
        -> (
            name: String, value: Value, type: ValueType?, known: [String]
        )?
    {
        guard let type = declarations.types[name] else { return nil }
        let stored = type.properties.filter { if case .state = $0.role { true } else { false } }
        for case (.string(let key), let value) in map {
            let property = stored.first { $0.name.hasSameBytes(as: key) }
            if let property, declarations.accept(value, as: property.type, withComputed: withComputed) != nil {
                continue
            }
            if withComputed, property == nil, type.properties.contains(where: { $0.name.hasSameBytes(as: key) }) {
                continue
            }
            return (key, value, property?.type, stored.map(\.name))
        }
        return nil
    }

    /// - Parameters:
    ///   - whole: the name of the place whose value this is.
    ///   - path: the path that was asked for.
    ///   - unknown: the error code for a property that the type does not have.
    func refusal(at whole: String, path: String, unknown: ErrorCode = .notFound) -> Failure {
        let place = whole + steps.map(\.description).joined()
        guard let wanted else {
            let name = if case .key(let name)? = steps.last { name } else { "" }
            return Failure(unknown, "\(object) stores no property \(name)", path: path, hint: nearName)
        }
        let form: String? =
            switch (wanted, found) {
            case (.color, .string): "a color is a CSS color, as red, #rrggbb or rgb(255 0 0)"
            case (.timestamp, .string): "a timestamp is written as 2026-01-31T12:00:00Z"
            case (.duration, .string): "a duration is written as 1.5s"
            case (.bytes, .string): #"bytes are written as typed JSON, as {"bytes":"aGk="}"#
            case (.double, "NaN"), (.double, "Infinity"), (.double, "-Infinity"):
                #"NaN and the infinities are written as typed JSON, as {"double":"NaN"}"#
            case (.vector(let length?), .list): "a list of \(length) numbers"
            default: nil
            }
        let shown: String =
            switch found {
            case .null: "null"
            case .string(let text) where form != nil: "the text '\(text.count > 40 ? text.prefix(39) + "…" : text)'"
            default: ValueType(of: found).description
            }
        return Failure(
            .typeMismatch, "\(place) takes \(wanted), not \(shown)", path: path,
            hint: form ?? "write a value of type \(wanted)")
    }
}
