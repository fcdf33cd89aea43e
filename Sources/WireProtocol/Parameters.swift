import AttributeValues

/// The parameters of the call that is being read. Reused from call to call; the elements in it are good only while the
/// decoder reads that call.
final class Parameters {
    private var found: [JSONElement?]

    init() { found = Array(repeating: nil, count: ParameterKey.allCases.count) }

    /// Takes the parameters of a call of `method`, by name or by position, and checks them against its table.
    /// - Throws: `invalid`, naming the parameter.
    func take(_ given: JSONElement?, of method: Method) throws(Failure) {
        for parameter in method.parameters { found[parameter.key.rawValue] = nil }
        if let given {
            if given.isObject {
                try given.forEachMember { (name, element) throws(Failure) in try take(element, named: name, of: method) }
            } else if given.isArray {
                var position = 0
                try given.forEachElement { (element) throws(Failure) in
                    try take(element, at: position, of: method)
                    position += 1
                }
            } else {
                throw Failure(.invalid, "\(method.name): params is an object or a list")
            }
        }
        for parameter in method.parameters where parameter.field.isRequired && found[parameter.key.rawValue] == nil {
            throw Failure(
                .invalid, "\(method.name): the parameter \"\(parameter.field.name)\" is missing: \(parameter.field.shape.summary)",
                hint: parameter.field.meaning)
        }
    }

    private func take(_ element: JSONElement, named name: UnsafeBufferPointer<UInt8>, of method: Method) throws(Failure) {
        for parameter in method.parameters where parameter.field.isNamed(name) {
            guard found[parameter.key.rawValue] == nil else {
                throw Failure(.invalid, "\(method.name): the parameter \"\(parameter.field.name)\" is given twice")
            }
            return try take(element, as: parameter, of: method)
        }
        let name = String(decoding: name.prefix(Shape.maximumQuote), as: UTF8.self)
        throw Failure(
            .invalid, "\(method.name) has no parameter \"\(name)\"",
            hint: NearestName.hint(name, among: method.parameters.map(\.field.name))
                ?? (method.parameters.isEmpty
                    ? nil : "its parameters: " + method.parameters.map(\.field.name).joined(separator: ", ")))
    }

    private func take(_ element: JSONElement, at position: Int, of method: Method) throws(Failure) {
        guard method.parameters.indices.contains(position) else {
            throw Failure(.invalid, "\(method.name) takes at most \(method.parameters.count) parameters")
        }
        try take(element, as: method.parameters[position], of: method)
    }

    private func take(_ element: JSONElement, as parameter: Parameter, of method: Method) throws(Failure) {
        if parameter.field.isAbsent(element) { return }
        try parameter.field.shape.check(element) { "\(method.name): \(parameter.field.name)" }
        found[parameter.key.rawValue] = element
    }

    // What was given, in Swift's types. The shapes have been checked.

    subscript(_ key: ParameterKey) -> JSONElement? { found[key.rawValue] }

    func text(_ key: ParameterKey) -> String? { self[key]?.string }
    func int(_ key: ParameterKey) -> Int64? { self[key]?.int }
    func optionalFlag(_ key: ParameterKey) -> Bool? { self[key]?.bool }
    func flag(_ key: ParameterKey) -> Bool { self[key]?.bool ?? false }

    func texts(_ key: ParameterKey) -> [String]? {
        guard let list = self[key] else { return nil }
        var texts: [String] = []
        list.forEachElement { if let text = $0.string { texts.append(text) } }
        return texts
    }

    /// The value as it came: whether it is typed JSON is for whoever knows the attribute's type.
    func value(_ key: ParameterKey) -> Value { self[key]?.value ?? .null }
}
