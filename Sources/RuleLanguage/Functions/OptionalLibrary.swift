import AttributeValues

extension FunctionList {
    mutating func defineOptionals() {
        let one = Work.constant(1)
        define("optional.none() -> optional(A)", work: one) { (_, _) in .optional(nil) }
        define("optional.of(A) -> optional(A)", work: one) { (value: Value) in .optional(value) }
        define("optional.ofNonZeroValue(A) -> optional(A)", work: one) { (value: Value) in
            .optional(OptionalLibrary.isZero(value) ? nil : value)
        }
        define("optional.unwrap(list(optional(A))) -> list(A)", of: OptionalLibrary.unwrap)
        define("list(optional(A))::unwrapOpt() -> list(A)", of: OptionalLibrary.unwrap)
        define("optional(A)::hasValue() -> bool", work: one) { (content: Value?) in .bool(content != nil) }
        define("optional(A)::value() -> A", work: one) { (content: Value?) throws(Fault) in
            guard let content else { throw Fault("optional.none() dereference") }
            return content
        }
        // Calls of these are compiled to jumps.
        define("optional(A)::or(optional(A)) -> optional(A)")
        define("optional(A)::orValue(A) -> A")
        define("list(A)::first() -> optional(A)", "list(A)::first(A) -> A", work: one) { (a, _) throws(Fault) in
            guard let list = a.elements(0) else { return nil }
            return a.count == 1 ? .optional(list.first) : list.first ?? a[1]
        }
        define("list(A)::last() -> optional(A)", "list(A)::last(A) -> A", work: one) { (a, _) throws(Fault) in
            guard let list = a.elements(0) else { return nil }
            return a.count == 1 ? .optional(list.last) : list.last ?? a[1]
        }
    }
}

/// The content of an optional.
extension Value?: FunctionArgument {
    static func read(_ value: Value) -> Value?? { if case .optional(let content) = value { content } else { nil } }
}

private enum OptionalLibrary {
    static func isZero(_ value: Value) -> Bool {
        switch value {
        case .null: true
        case .bool(let x): !x
        case .int(let x): x == 0
        case .uint(let x): x == 0
        case .double(let x): x == 0
        case .string(let x): x.isEmpty
        case .bytes(let x): x.isEmpty
        case .list(let x): x.isEmpty
        case .map(let x): x.isEmpty
        case .duration(let x): x.nanoseconds == 0
        case .timestamp, .type, .optional, .opaque: false
        }
    }

    static func unwrap(_ elements: ValueList) -> Value? {
        var found: [Value] = []
        for element in elements {
            guard case .optional(let wrapped) = element else { return nil }
            if let wrapped { found.append(wrapped) }
        }
        return .list(found)
    }
}
