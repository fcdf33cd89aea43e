import AttributeValues

/// The parameters of the present call. The object is reused for each call: its elements are valid only while the
/// decoder reads that call.
final class Parameters {
    /// By key. Only the elements of keys in `given` belong to the present call.
    private var found: [JSONElement?]
    /// The keys that the method of the call declares.
    private var declared = ParameterKeys()
    /// The keys that the call has.
    private var given = ParameterKeys()
    let paths = RequestPaths()

    init() { found = Array(repeating: nil, count: ParameterKey.allCases.count) }

    /// Reads a call: takes its parameters, checks them against the method's table, makes the request, and drops them.
    /// - Throws: `invalid`, which names the parameter.
    func request(_ given: JSONElement?, for reader: CallReader) throws(Failure) -> Request {
        declared = reader.keys
        self.given = ParameterKeys()
        try take(given, for: reader)
        return try reader.method.read(self)
    }

    /// Takes parameters given by name or by position.
    private func take(_ given: JSONElement?, for reader: CallReader) throws(Failure) {
        if let given {
            if given.isObject {
                try given.forEachMember { (name, element) throws(Failure) in
                    let packed = PackedName(name)
                    guard let index = reader.slots.firstIndex(where: { $0.name == packed }) else {
                        throw unknown(name, reader.method)
                    }
                    try take(element, at: index, reader)
                }
            } else if given.isArray {
                var index = 0
                try given.forEachElement { (element) throws(Failure) in
                    guard index < reader.slots.count else {
                        throw Failure(.invalid, "\(reader.method.name) takes at most \(reader.slots.count) parameters")
                    }
                    try take(element, at: index, reader)
                    index += 1
                }
            } else {
                throw Failure(.invalid, "\(reader.method.name): params is an object or a list")
            }
        }
        if self.given.contains(reader.required) { return }
        for (index, slot) in reader.slots.enumerated() where slot.isRequired && !self.given.contains(slot.key) {
            throw missing(reader.method.parameters[index], reader.method)
        }
    }

    private func take(_ element: JSONElement, at index: Int, _ reader: CallReader) throws(Failure) {
        let slot = reader.slots[index]
        guard !given.contains(slot.key) else {
            throw Failure(
                .invalid,
                "\(reader.method.name): the parameter \"\(reader.method.parameters[index].field.name)\" is given twice")
        }
        if !slot.form.accepts(element) {
            let field = reader.method.parameters[index].field
            if field.isAbsent(element) { return }
            try field.shape.check(element) { "\(reader.method.name): \(field.name)" }
        }
        found[slot.key.rawValue] = element
        given.insert(slot.key)
    }

    private func unknown(_ name: UnsafeBufferPointer<UInt8>, _ method: Method) -> Failure {
        let name = String(decoding: name.prefix(Shape.maximumQuote), as: UTF8.self)
        let names = method.parameters.map(\.field.name)
        return Failure(
            .invalid, "\(method.name) has no parameter \"\(name)\"",
            hint: NearestName.hint(name, among: names)
                ?? (names.isEmpty ? nil : "its parameters: " + names.joined(separator: ", ")))
    }

    private func missing(_ parameter: Parameter, _ method: Method) -> Failure {
        Failure(
            .invalid,
            "\(method.name): the parameter \"\(parameter.field.name)\" is missing: \(parameter.field.shape.summary)",
            hint: parameter.field.meaning)
    }

    // The parameters as Swift types. Their shapes have been checked.

    subscript(_ key: ParameterKey) -> JSONElement? {
        precondition(declared.contains(key), "a method reads what its table does not declare")
        return given.contains(key) ? found[key.rawValue] : nil
    }

    /// True if the call has a parameter besides these.
    func hasOthers(than keys: ParameterKeys) -> Bool { !keys.contains(given) }

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

    /// The value as given. The runtime knows the attribute's type and decides whether it is typed JSON.
    func value(_ key: ParameterKey) -> Value { self[key]?.value ?? .null }
}
