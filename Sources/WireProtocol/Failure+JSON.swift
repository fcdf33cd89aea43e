import AttributeValues

extension Failure {
    /// Reads an error. A code that this client does not know becomes `invalid`, and the message then contains it.
    /// - Parameter message: takes the place of the member `message`.
    public convenience init(_ map: ValueMap, message: String? = nil) {
        func int(_ name: String) -> Int? { if case .int(let number)? = map[name] { Int(number) } else { nil } }
        let (name, message) = (map["code"]?.string ?? "", message ?? map["message"]?.string ?? "")
        let code = ErrorCode(rawValue: name)
        self.init(
            code ?? .invalid, code == nil && !name.isEmpty ? "\(message) [\(name)]" : message,
            path: map["path"]?.string, rule: map["rule"]?.string, line: int("line"), column: int("column"),
            hint: map["hint"]?.string)
    }

    /// As `init` reads it, without the rule.
    public var json: Value {
        var map = ValueMap([("code", .string(code.rawValue)), ("message", .string(message))])
        map["path"] = path.map { .string($0) }
        map["hint"] = hint.map { .string($0) }
        return .map(map)
    }
}
