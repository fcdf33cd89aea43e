import AttributeValues

extension Shape {
    /// Maximum number of bytes of a client's text that an error message repeats.
    static let maximumQuote = 64

    /// Refuses JSON of another form.
    ///
    /// - Parameter place: the position of the JSON in the request, as `mutations[2].op`. Called only for a fault.
    /// - Throws: `invalid` with the position, the expected form and the given one.
    func check(_ element: JSONElement, at place: () -> String) throws(Failure) {
        switch self {
        case .any: return
        case .string: if element.isString { return }
        case .bool: if element.bool != nil { return }
        case .integer: if element.int != nil { return }
        case .number: if element.number != nil { return }
        case .positive: if let number = element.number, number > 0 { return }
        case .count: if let number = element.int, number >= 0 { return }
        case .objectOrString: if element.isObject || element.isString { return }
        case .choice(let words):
            guard let word = element.string else { break }
            if words.contains(where: { $0.hasSameBytes(as: word) }) { return }
            throw unexpected(element, at: place(), hint: NearestName.hint(word, among: words))
        case .array(let shape):
            guard element.isArray else { break }
            var index = 0
            try element.forEachElement { (element) throws(Failure) in
                try shape.check(element) { "\(place())[\(index)]" }
                index += 1
            }
            return
        case .map(let shape):
            guard element.isObject else { break }
            try element.forEachMember { (name, element) throws(Failure) in
                try shape.check(element) { "\(place()).\(String(decoding: name, as: UTF8.self))" }
            }
            return
        case .object(let fields):
            guard element.isObject else { break }
            try Shape.check(element, has: fields, at: place)
            return
        }
        throw unexpected(element, at: place(), hint: nil)
    }

    private static func check(_ element: JSONElement, has fields: [Field], at place: () -> String) throws(Failure) {
        try element.forEachMember { (name, member) throws(Failure) in
            guard let field = fields.first(where: { $0.isNamed(name) }) else {
                let name = String(decoding: name.prefix(Shape.maximumQuote), as: UTF8.self)
                throw Failure(
                    .invalid, "\(place()) has an unknown member \"\(name)\"",
                    hint: NearestName.hint(name, among: fields.map(\.name)))
            }
            if field.isAbsent(member) { return }
            try field.shape.check(member) { "\(place()).\(field.name)" }
        }
        for field in fields where field.isRequired {
            var isThere = false
            element.forEachMember { name, _ in isThere = isThere || field.isNamed(name) }
            guard isThere else {
                throw Failure(
                    .invalid, "\(place()) lacks the member \"\(field.name)\": \(field.shape.summary)",
                    hint: field.meaning)
            }
        }
    }

    private func unexpected(_ element: JSONElement, at place: String, hint: String?) -> Failure {
        Failure(.invalid, "\(place): expected \(summary), found \(Shape.describe(element))", hint: hint)
    }

    /// The element in a few words. Long texts are cut off.
    private static func describe(_ element: JSONElement) -> String {
        if element.isObject { return "an object" }
        if element.isArray { return "a list" }
        guard let text = element.stringBytes else { return element.value.jsonText }
        let shown = String(decoding: text.prefix(Shape.maximumQuote), as: UTF8.self)
        return Value.string(shown + (text.count > Shape.maximumQuote ? "…" : "")).jsonText
    }
}

extension Field {
    func isNamed(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool { name.hasBytes(bytes) }

    /// True for a null that stands for an omitted member. Where any value is allowed, null is a value.
    func isAbsent(_ element: JSONElement) -> Bool {
        guard element.isNull, !isRequired else { return false }
        if case .any = shape { return false }
        return true
    }
}
