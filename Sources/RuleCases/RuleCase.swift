public import AttributeValues
public import RuleLanguage

/// A rule with everything for its evaluation, in the form of the conformance suite:
/// `{"expr", "container", "type_env", "bindings", "disable_check", "check_only"}`, values in typed JSON.
public struct RuleCase {
    public var expression: String
    public var container: String
    /// True if types are checked before evaluation.
    public var isChecked: Bool
    /// True if the rule is not evaluated.
    public var isCheckOnly: Bool
    public var bindings: ValueMap
    public let scope: RuleScope

    /// - Throws: `invalid`, which names the faulty member.
    public init(json: Value) throws(Failure) {
        guard case .map(let members) = json, case .string(let expression)? = members["expr"] else {
            throw Failure(.invalid, "a case is an object with the member \"expr\"")
        }
        self.expression = expression
        container = try RuleCase.member("container", members, \.string) ?? ""
        let flag = { (value: Value) -> Bool? in if case .bool(let flag) = value { flag } else { nil } }
        isChecked = try !(RuleCase.member("disable_check", members, flag) ?? false)
        isCheckOnly = try RuleCase.member("check_only", members, flag) ?? false
        bindings = ValueMap()
        scope = RuleScope(container: container)
        for (name, value) in try RuleCase.member("bindings", members, \.map) ?? ValueMap() {
            guard case .string(let name) = name else { throw Failure(.invalid, "a binding's name is a string") }
            bindings[name] = try Value(typedJSON: value)
            scope.declare(name, RuleType.dyn)
        }
        for declaration in try RuleCase.member("type_env", members, \.list) ?? [] {
            try RuleCase.declare(declaration, in: scope)
        }
    }

    private static func member<T>(_ name: String, _ members: ValueMap, _ read: (Value) -> T?) throws(Failure) -> T? {
        guard let value = members[name], value != .null else { return nil }
        guard let read = read(value) else {
            throw Failure(.invalid, "\"\(name)\" of a case cannot be \(value.shortTypeName)")
        }
        return read
    }

    private static func declare(_ json: Value, in scope: RuleScope) throws(Failure) {
        guard case .map(let members) = json, case .string(let name)? = members["name"] else {
            throw Failure(.invalid, "a declaration is an object with a name")
        }
        if let type = members["type"] {
            scope.declare(name, try RuleType(json: type))
            return
        }
        guard case .list(let overloads)? = members["overloads"] else {
            throw Failure(.invalid, "the declaration of '\(name)' has neither a type nor overloads")
        }
        scope.declareFunction(name, try overloads.map { (overload) throws(Failure) in try read(overload) })
    }

    private static func read(_ json: Value) throws(Failure) -> Overload {
        guard case .map(let members) = json, case .list(let written)? = members["params"],
            let result = members["result"]
        else {
            throw Failure(.invalid, "an overload is an object with params and result")
        }
        let parameters = try written.map { (parameter) throws(Failure) in try RuleType(json: parameter) }
        return Overload(
            isMember: members["instance"] == .bool(true), parameters: parameters, result: try RuleType(json: result))
    }

    /// The outcome of a case.
    public enum Outcome {
        /// The value, and the type if it was checked.
        case value(Value, RuleType?)
        case type(RuleType)
        case errors(RuleErrors)
        case failure(Failure)
    }

    public func run(on evaluator: Evaluator) -> Outcome {
        do throws(RuleErrors) {
            if isCheckOnly { return .type(try Rule.type(of: expression, in: scope)) }
            let program =
                try isChecked ? Rule.compile(expression, in: scope) : Rule.compileUnchecked(expression, in: scope)
            switch evaluator.evaluate(program, bindings: bindings) {
            case .value(let value): return .value(value, isChecked ? program.resultType : nil)
            case .failure(let failure): return .failure(failure)
            }
        } catch {
            return .errors(error)
        }
    }
}

extension RuleCase.Outcome {
    /// `{"value", "type"}` in typed JSON, or `{"error": {"message", "line", "column", "hint"?}}`. If a rule has several
    /// faults, this is the first, and `errors` has all of them.
    public var json: Value {
        switch self {
        case .value(let value, let type):
            var members = ValueMap([(.string("value"), value.typedJSON)])
            if let type { members["type"] = type.json }
            return .map(members)
        case .type(let type): return ["type": type.json]
        case .failure(let failure):
            return ["error": RuleCase.Outcome.error(failure.message, failure.line, failure.column, failure.hint)]
        case .errors(let errors):
            let all = errors.errors.map { RuleCase.Outcome.error($0.message, $0.line, $0.column, $0.hint) }
            var members = ValueMap([(.string("error"), all[0])])
            if all.count > 1 { members["errors"] = .list(all) }
            return .map(members)
        }
    }

    private static func error(_ message: String, _ line: Int?, _ column: Int?, _ hint: String?) -> Value {
        var members = ValueMap([(.string("message"), .string(message))])
        if let line { members["line"] = .int(Int64(line)) }
        if let column { members["column"] = .int(Int64(column)) }
        if let hint { members["hint"] = .string(hint) }
        return .map(members)
    }
}
