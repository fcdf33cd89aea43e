import AttributeValues

extension Checker {
    func findLocal(_ name: String) -> (type: RuleType, number: Int)? {
        for local in locals.reversed() where local.name == name { return (local.type, local.number) }
        return nil
    }

    /// The variable of the scope's table. It is added at its first use.
    private mutating func use(_ name: String, _ type: RuleType) -> Resolution {
        let name = Name(name)
        if let known = variables.firstIndex(where: { $0.name == name }) { return .variable(known) }
        variables.append(CheckedTree.Variable(name: name, type: type))
        return .variable(variables.count - 1)
    }

    /// A variable or the name of a type. Names in the container are tried first.
    private mutating func resolve(_ id: SyntaxTree.ID, _ name: String, isRooted: Bool) -> RuleType? {
        if scope.container.isEmpty || isRooted { return resolveExactly(id, name) }
        for candidate in scope.findCandidates(name, isRooted: false) {
            if let type = resolveExactly(id, candidate) { return type }
        }
        return nil
    }

    private mutating func resolveExactly(_ id: SyntaxTree.ID, _ name: String) -> RuleType? {
        if let type = scope.variable(name) {
            resolutions[id] = use(name, type)
            return type
        }
        if let type = RuleScope.typeValue(name) {
            resolutions[id] = .typeValue(name)
            return .type(type)
        }
        return nil
    }

    mutating func checkIdentifier(_ id: SyntaxTree.ID) -> RuleType {
        let name = tree.spelling(id)
        let isRooted = tree[id].flag
        if !isRooted, let (type, number) = findLocal(name) {
            resolutions[id] = .local(number)
            return type
        }
        if !isRooted, let type = checkOwnProperty(id, name) { return type }
        if name.hasPrefix("$/"), scope.hasRoot, name.utf8.contains(UInt8(ascii: "*")), let fault = patternFault(name) {
            return fail(id, fault.message, hint: fault.hint)
        }
        if let type = resolve(id, name, isRooted: isRooted) { return type }
        if let noun = scope.findNamespace(name) {
            return fail(id, "'\(name)' is not a value", hint: "name one \(noun), as \(name).key")
        }
        if name.hasPrefix("$/"), scope.hasRoot {
            return fail(id, "'\(name)' names no attribute", hint: "name one of the node's, as \(name).value")
        }
        let hint =
            scope.findFunction(name) != nil
            ? "'\(name)' is a function: \(name)(…)"
            : nameHint(name) {
                (locals.map(\.name) + scope.variableNames + scope.namespaceNames).lazy.filter {
                    !$0.utf8.contains(UInt8(ascii: "@"))
                }
            }
        return fail(id, "undeclared reference to '\(name)'" + inContainer, hint: hint)
    }

    private func patternFault(_ name: String) -> (message: String, hint: String?)? {
        do throws(Failure) {
            let pattern = try PathPattern(String(name.dropFirst()))
            if pattern.segments.contains(.anyDepth) {
                return ("a pattern in a rule has no '**'", "name each level with an id or '*', as $/rooms/*/*.battery")
            }
            return pattern.attribute == nil
                ? ("'\(name)' names no attribute", "name one of the nodes', as \(name).value") : nil
        } catch { return (error.message, error.hint) }
    }

    private var inContainer: String { scope.container.isEmpty ? "" : " (in container '\(scope.container)')" }

    // MARK: selects

    mutating func checkSelect(_ id: SyntaxTree.ID) -> RuleType {
        if !tree[id].flag, let type = checkQualified(id) { return type }
        let operand = check(tree.child(id, 0))
        if let type = checkProperty(id, of: operand) { return type }
        let type = select(operand, tree.spelling(id), id)
        return tree[id].flag && type.optionalElement == nil ? .optional(type) : type
    }

    /// Reads the chain as one dotted name: the longest declared prefix of a chain of selects is the variable.
    private mutating func checkQualified(_ id: SyntaxTree.ID) -> RuleType? {
        guard scope.mayQualify(tree.rootName(id)) else { return nil }
        guard let (names, isRooted) = tree.qualifiedName(id) else { return nil }
        if !isRooted, findLocal(names[0]) != nil { return nil }
        if let type = resolve(id, names.joined(separator: "."), isRooted: isRooted) { return type }
        guard names.count == 2, let noun = scope.findNamespace(names[0]), scope.variable(names[0]) == nil else {
            return nil
        }
        return fail(
            id, "no \(noun) '\(names[1])'",
            hint: nameHint(names[1]) { scope.rests(below: names[0], among: scope.variableNames) })
    }

    /// The type of a field of a value.
    mutating func select(_ operand: RuleType, _ field: String, _ id: SyntaxTree.ID) -> RuleType {
        switch unifier.substitute(operand) {
        case .dyn, .error, .variable, .parameter: return .dyn
        case .map(let key, let value):
            if !unifier.agree(.string, key) {
                fail(
                    id, "a map with keys of type '\(unifier.substitute(key))' has no field '\(field)'",
                    hint: "write m[key]")
            }
            return value
        case .wrapper(let type): return select(type, field, id)
        case .abstract("optional_type", let parameters):
            let type = select(parameters.first ?? .dyn, field, id)
            return type.optionalElement == nil ? .optional(type) : type
        case .abstract(let name, _):
            guard let properties = scope.properties(of: name) else {
                return fail(id, "type '\(name)' does not support field selection")
            }
            if let type = properties[field] { return type }
            return fail(id, "'\(name)' has no property '\(field)'", hint: nameHint(field) { properties.keys })
        case let type:
            let hint =
                scope.findFunction(field)?.overloads.contains { $0.isMember } ?? false
                ? "'\(field)' is a function: write \(field)()"
                : ["length", "len", "count"].contains(field) ? "write size(x)" : nil
            return fail(id, "type '\(type)' does not support field selection", hint: hint)
        }
    }

    mutating func checkIndex(_ id: SyntaxTree.ID) -> RuleType {
        let operandID = tree.child(id, 0)
        // `env["key"]` is `env.key`.
        if tree[operandID].kind == .identifier, !tree[id].flag,
            case .string(let key)? = tree.constant(tree.child(id, 1)), findLocal(tree.spelling(operandID)) == nil,
            scope.variable(tree.spelling(operandID)) == nil, let noun = scope.findNamespace(tree.spelling(operandID))
        {
            if let type = resolve(id, "\(tree.spelling(operandID)).\(key)", isRooted: true) { return type }
            return fail(id, "no \(noun) '\(key)'")
        }
        let operand = check(operandID)
        let key = check(tree.child(id, 1))
        let type = element(unifier.substitute(operand), key, id)
        return tree[id].flag && type.optionalElement == nil ? .optional(type) : type
    }

    private mutating func element(_ operand: RuleType, _ key: RuleType, _ id: SyntaxTree.ID) -> RuleType {
        switch operand {
        case .dyn, .error, .variable, .parameter: return .dyn
        case .wrapper(let type): return element(type, key, id)
        case .list(let element) where unifier.agree(key, .int): return element
        case .map(let keyType, let value) where unifier.agree(key, keyType): return value
        case .abstract("vector", _) where unifier.agree(key, .int): return .double
        case .abstract("optional_type", let parameters):
            let type = element(unifier.substitute(parameters.first ?? .dyn), key, id)
            return type.optionalElement == nil ? .optional(type) : type
        default:
            return fail(id, "found no matching overload for '[]' applied to '(\(operand), \(unifier.substitute(key)))'")
        }
    }
}
