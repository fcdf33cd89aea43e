import AttributeValues

extension ScalarType {
    func admits(_ other: ScalarType) -> Bool {
        switch (self, other) {
        case (.double, .int), (.double, .uint), (.uint, .int), (.int, .uint), (.timestamp, .string),
            (.duration, .string):
            true
        default: self == other
        }
    }
}

extension ValueType {
    /// True if a value of the other type may be accepted where this type is required, as far as types can tell. If it
    /// depends on the value, the result is true, and the check happens at run time. Values are converted to this type:
    /// an int widens to a double.
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

    /// True if a binding can connect the two types: each side accepts the other's writes.
    func agrees(with other: ValueType) -> Bool { admits(other) && other.admits(self) }

    /// This type, with unknown object types replaced by `dyn`. Only rules know the types of `subviews` and the like.
    func limited(to types: (String) -> Bool) -> ValueType {
        switch self {
        case .object(let name): types(name) ? self : .dyn
        case .list(let element): .list(element.limited(to: types))
        case .map(let key, let value): .map(key: key.limited(to: types), value: value.limited(to: types))
        case .optional(let wrapped): .optional(wrapped.limited(to: types))
        case .nullable(let wrapped): .nullable(wrapped.limited(to: types))
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
        // "uint" begins with a vowel in writing, but not in speech.
        let isVowel = text.first.map { "aeioAEIO".contains($0) } ?? false
        return (isVowel ? "an " : "a ") + text
    }
}
