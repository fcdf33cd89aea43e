import AttributeValues

extension ScalarType {
    func admits(_ other: ScalarType) -> Bool {
        switch (self, other) {
        case (.double, .int), (.double, .uint), (.uint, .int), (.int, .uint), (.timestamp, .string), (.duration, .string): true
        default: self == other
        }
    }
}

extension ValueType {
    /// Whether what has the other type can stand where this one is asked for, as far as types tell: what may turn out
    /// either way passes, and the run decides. What stands there is held to the type: an int widens to a double.
    func admits(_ other: ValueType) -> Bool {
        switch (self, other) {
        case (.dyn, _), (_, .dyn): return true
        case (.nullable, .scalar(.null)): return true
        case (.nullable(let wanted), .nullable(let given)): return wanted.admits(given)
        case (.nullable(let wanted), _): return wanted.admits(other)
        case (_, .nullable(let given)): return admits(given)
        case (.scalar(let wanted), .scalar(let given)): return wanted.admits(given)
        case (.color, .scalar(.string)): return true
        case (.angle, .scalar(.int)), (.angle, .scalar(.uint)), (.angle, .scalar(.double)): return true
        case (.vector, .list(let element)): return ValueType.double.admits(element)
        case (.vector(let wanted), .vector(let given)): return wanted == nil || given == nil || wanted == given
        case (.list(let wanted), .list(let given)): return wanted.admits(given)
        case (.map(let key, let value), .map(let givenKey, let givenValue)):
            return key.admits(givenKey) && value.admits(givenValue)
        case (.map, .object): return false
        case (.optional(let wanted), .optional(let given)): return wanted.admits(given)
        default: return self == other
        }
    }

    /// Whether a binding can join the two: what either side writes, the other takes.
    func agrees(with other: ValueType) -> Bool { admits(other) && other.admits(self) }

    /// This type, with object types that are not among those known read as `dyn`: the types of `subviews` and the like
    /// are known to rules only.
    func known(among types: (String) -> Bool) -> ValueType {
        switch self {
        case .object(let name): types(name) ? self : .dyn
        case .list(let element): .list(element.known(among: types))
        case .map(let key, let value): .map(key: key.known(among: types), value: value.known(among: types))
        case .optional(let wrapped): .optional(wrapped.known(among: types))
        case .nullable(let wrapped): .nullable(wrapped.known(among: types))
        default: self
        }
    }

    /// Names of types that are built in, for hints.
    static let builtInNames =
        ScalarType.allCases.map(\.rawValue) + ["dyn", "type", "list", "map", "optional", "color", "angle", "vector"]

    /// The type with its article, for messages.
    var withArticle: String {
        let text = description
        if self == .bytes { return text }
        // "uint" is spoken as it is spelt.
        let isVowel = text.first.map { "aeioAEIO".contains($0) } ?? false
        return (isVowel ? "an " : "a ") + text
    }
}
