import AttributeGraph
import AttributeValues
import SceneModel

// What is written with a type gives values of that type, wherever they come from.

extension ViewGraph {
    /// Whether what may come out as one type must be held to another. Objects are not: a reference to one leads to the object.
    static func holds(_ type: ValueType, to given: ValueType) -> Bool {
        type != .dyn && !type.includes(given) && type.objectNames.isEmpty
    }

    /// Whether a vertex of a type reads, through an alias, what may have another type.
    func isHeldToType(_ type: ValueType, _ source: Source) -> Bool {
        guard type != .dyn, case .alias(let target, _) = source else { return false }
        return ViewGraph.holds(type, to: declaredType(of: target))
    }

    /// The type that whatever stands at a place has for sure.
    private func declaredType(of place: Place) -> ValueType {
        let place = follow(place)
        var type = attributes[Int(place.attribute.index)]?.type ?? .dyn
        for step in place.steps { type = type.part(at: step) ?? .dyn }
        return type
    }

    /// A content as a type holds it, widened or read; the refusal that names both types where it does not fit.
    @inline(never)
    func hold(_ content: Content, to type: ValueType, of attribute: AttributeID) -> Content {
        guard case .value(let value) = content else { return content }
        if let fitting = type.accept(value) { return .value(fitting) }
        let path = path(of: attribute)
        return .failure(Misfit(of: value, in: type, declarations).failure(at: path, path: path))
    }
}

/// The innermost part of a value that its type does not hold.
struct Misfit {
    /// Where in the value.
    var steps: [AttributePath.Step] = []
    /// What the type wants there; nil for a property that the object does not have.
    var wanted: ValueType?
    var found: Value
    private var nearName: String?
    private var object = ""

    /// Descends into value and type together, which are no deeper than types are written.
    init(of value: Value, in type: ValueType, _ declarations: Declarations) {
        var (wanted, found) = (type, value)
        descent: while true {
            switch (wanted, found) {
            case (.nullable(let wrapped), _): wanted = wrapped
            case (.list(let element), .list(let elements)):
                guard let place = elements.firstIndex(where: { declarations.accept($0, as: element) == nil }) else { break descent }
                steps.append(.index(place))
                (wanted, found) = (element, elements[place])
            case (.map(let key, let part), .map(let map)):
                guard let (name, value) = map.first(where: { declarations.accept($0.value, as: part) == nil }),
                    case .string(let text) = name, key.accept(name) != nil
                else { break descent }
                steps.append(.key(text))
                (wanted, found) = (part, value)
            case (.vector, .list(let elements)):
                guard let place = elements.firstIndex(where: { $0.number == nil }) else { break descent }
                steps.append(.index(place))
                (wanted, found) = (.double, elements[place])
            case (.object(let name), .map(let map)):
                guard let next = Misfit.property(of: map, in: name, declarations) else { break descent }
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

    /// The first property of a map that an object does not hold so; its type is nil where the object does not store such a one.
    private static func property(of map: ValueMap, in name: String, _ declarations: Declarations) -> (
        name: String, value: Value, type: ValueType?, known: [String]
    )? {
        guard let type = declarations.types[name] else { return nil }
        let stored = type.properties.filter { if case .state = $0.role { true } else { false } }
        for case (.string(let key), let value) in map {
            let property = stored.first { $0.name.hasSameBytes(as: key) }
            if let property, declarations.accept(value, as: property.type) != nil { continue }
            return (key, value, property?.type, stored.map(\.name))
        }
        return nil
    }

    /// - Parameters:
    ///   - whole: the name of what holds the value.
    ///   - path: what was asked for.
    func failure(at whole: String, path: String) -> Failure {
        let place = whole + steps.map(\.description).joined()
        guard let wanted else {
            let name = if case .key(let name)? = steps.last { name } else { "" }
            return Failure(.notFound, "\(object) stores no property \(name)", path: path, hint: nearName)
        }
        let form: String? =
            switch (wanted, found) {
            case (.color, .string): "a color is a CSS color, as red, #rrggbb or rgb(255 0 0)"
            case (.timestamp, .string): "a timestamp is written as 2026-01-31T12:00:00Z"
            case (.duration, .string): "a duration is written as 1.5s"
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
            .typeMismatch, "\(place) holds \(wanted), not \(shown)", path: path, hint: form ?? "write a value of type \(wanted)")
    }
}
