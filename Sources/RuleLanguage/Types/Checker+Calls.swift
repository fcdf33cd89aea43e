import AttributeValues

extension Checker {
    // MARK: operators

    mutating func checkNegation(_ id: SyntaxTree.ID) -> RuleType {
        let type = check(tree.child(id, 0))
        switch unifier.substitute(type) {
        case .scalar(.int), .scalar(.double), .scalar(.duration), .dyn, .error: return type
        case .variable: return .dyn
        case .wrapper(let inner) where inner == .int || inner == .double: return inner
        case let found:
            return fail(id, "found no matching overload for '-' applied to '(\(found))'")
        }
    }

    mutating func checkBinary(_ id: SyntaxTree.ID) -> RuleType {
        let operation = tree.operation(id)
        let left = check(tree.child(id, 0))
        let right = check(tree.child(id, 1))
        switch operation {
        case .equal, .notEqual:
            let common = unifier.fresh()
            // A vector equals the list of its numbers.
            let (left, right) = (right.isVector ? left : left.listed, left.isVector ? right : right.listed)
            if left != right, !unifier.agree([left, right], [common, common]) {
                failOverload(id, operation.text, [left, right])
            }
            return .bool
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            if left == right, left == .int || left == .double || left == .string { return .bool }
            _ = call(id, operation.text, "_<_", [left, right])
            return .bool
        case .isIn:
            _ = call(id, "in", "_in_", [left, right.listed])
            return .bool
        case .add, .subtract, .multiply, .divide, .modulo:
            if left == right, left == .int || left == .double || left == .string && operation == .add { return left }
            let type = call(id, operation.text, "_\(operation.text)_", [left, right])
            // An int is converted beside a double of unknown type.
            return type == .int && operation != .modulo && left != right ? mixed(left, right) : type
        }
    }

    /// The result of arithmetic that fits two ints: if one operand is of unknown type, it may be a double.
    private func mixed(_ left: RuleType, _ right: RuleType) -> RuleType {
        let isUnknown = [left, right].contains { type in
            switch unifier.substitute(type) {
            case .dyn, .variable, .parameter: true
            default: false
            }
        }
        return isUnknown ? .dyn : .int
    }

    private mutating func call(_ id: SyntaxTree.ID, _ text: String, _ name: String, _ arguments: [RuleType]) -> RuleType
    {
        guard let function = FunctionTable.standard[name] else {
            preconditionFailure("operator \(name) has no signature")
        }
        return resolve(function, arguments, isMember: false) ?? failOverload(id, text, arguments)
    }

    @discardableResult
    private mutating func failOverload(_ id: SyntaxTree.ID, _ name: String, _ arguments: [RuleType]) -> RuleType {
        let found = arguments.map { unifier.substitute($0) }
        let list = found.map { $0.resolved.description }.joined(separator: ", ")
        return fail(
            id, "found no matching overload for '\(name)' applied to '(\(list))'",
            hint: Checker.conversionHint(name, found, divides: tree.children(id).contains { isWholeDivision(Int($0)) }))
    }

    private func isWholeDivision(_ id: SyntaxTree.ID) -> Bool {
        tree[id].kind == .binary && tree.operation(id) == .divide && types[id] == .int
    }

    /// Mixing numbers of different types is the usual mistake.
    /// - Parameter divides: true if an operand is the quotient of two ints.
    private static func conversionHint(_ name: String, _ types: [RuleType], divides: Bool) -> String? {
        guard types.count == 2 else { return nil }
        if name == "in", types[1] == .string { return "to search a text, write text.contains(part)" }
        guard types[0] != types[1] else { return nil }
        let numeric: [RuleType] = [.int, .uint, .double]
        if numeric.contains(types[0]), numeric.contains(types[1]) {
            let target = types.contains(.double) ? "double" : "int"
            if divides, target == "double" {
                return "an int divided by an int is an int, 7 / 2 is 3: write double(a) / double(b)"
            }
            return "numbers of different types do not mix: convert one, as \(target)(x)"
        }
        if types.contains(.string) { return "string(x) makes a string of a value" }
        if types.contains(.null) {
            return ["==", "!="].contains(name)
                ? "make one side dyn(…) to compare it with null"
                : "'\(name)' does not take null: give a value to use instead, as x == null ? … : x"
        }
        return nil
    }

    // MARK: functions

    mutating func checkCall(_ id: SyntaxTree.ID) -> RuleType {
        if let type = checkTimeOperator(id) { return type }
        let name = tree.spelling(id)
        if !tree[id].flag, let (function, home) = scope.findDeclared(name) {
            return checkDeclared(id, function, from: home)
        }
        let arguments = tree.children(id).map { check(Int($0)) }
        for candidate in scope.findCandidates(name, isRooted: tree[id].flag) {
            guard let function = scope.findFunction(candidate) else { continue }
            // A function of lists may have the name of another language's function.
            if !function.isGlobal, Checker.wordsElsewhere[name] != nil { continue }
            resolutions[id] = .function(function)
            return checkCall(id, function, arguments, isMember: false)
        }
        if let form = Checker.globalMacroForms[name] {
            return fail(id, "\(name)() takes \(form.takes)", hint: "as \(form.example)")
        }
        return failUnknown(id, name)
    }

    mutating func checkMemberCall(_ id: SyntaxTree.ID) -> RuleType {
        let name = tree.spelling(id)
        let receiver = tree.child(id, 0)
        if scope.mayQualifyFunction(tree.rootName(receiver)) || tree.rootName(receiver) == Checker.macroNamespace,
            let (names, isRooted) = tree.qualifiedName(receiver)
        {
            let qualified = names.joined(separator: ".") + "." + name
            for candidate in scope.findCandidates(qualified, isRooted: isRooted) {
                guard let function = scope.findFunction(candidate) else { continue }
                resolutions[id] = .namespacedFunction(function)
                let arguments = tree.children(id).dropFirst().map { check(Int($0)) }
                return checkCall(id, function, arguments, isMember: false)
            }
            if names.count == 1, !isRooted, isFunctionNamespace(names[0]) {
                for argument in tree.children(id).dropFirst() where !Checker.isMacro(name, of: names[0]) {
                    _ = check(Int(argument))
                }
                return failUnknown(id, name, in: names[0])
            }
        }
        if let form = Checker.macroForms[name], scope.findFunction(name) == nil {
            // The arguments of a macro are not evaluated before the call.
            _ = check(receiver)
            return fail(id, "\(name)() takes \(form.takes)", hint: "as \(form.example)")
        }
        let arguments = tree.children(id).map { check(Int($0)) }
        guard let function = scope.findFunction(name) else { return failUnknown(id, name) }
        resolutions[id] = .function(function)
        return checkCall(id, function, arguments, isMember: true)
    }

    private mutating func failUnknown(_ id: SyntaxTree.ID, _ name: String) -> RuleType {
        fail(
            id, "undeclared reference to '\(name)'",
            hint: Checker.wordsElsewhere[name] ?? nameHint(name) { scope.functionNames }
                ?? (scope.variable(name) != nil ? "'\(name)' is a variable, not a function" : nil))
    }

    /// Functions of other languages, each with what CEL has instead.
    private static let wordsElsewhere: [String: String] = [
        "len": "write size(x)", "length": "write size(x)", "lenght": "write size(x)", "count": "write size(x)",
        "now": "a clock tells the time: declare one, as clock: {now: every 1s}, and name it",
        "max": "write math.greatest(a, b), or list.max()", "min": "write math.least(a, b), or list.min()",
        "clamp": "write math.clamp(x, low, high)", "pow": "write math.pow(x, y)", "exp": "write math.exp(x)",
        "log": "write math.log(x)", "avg": "write list.average()", "mean": "write list.average()",
        "abs": "write math.abs(x)",
        "round": "write math.round(x)", "floor": "write math.floor(x)", "ceil": "write math.ceil(x)",
        "str": "write string(x)", "toString": "write string(x)", "float": "write double(x)",
        "upper": "write x.upperAscii()", "lower": "write x.lowerAscii()", "toUpperCase": "write x.upperAscii()",
        "toLowerCase": "write x.lowerAscii()", "includes": "write x.contains(y), or y in list",
        "if": "write condition ? a : b",
    ]

    // MARK: namespaces and macros

    /// True if a name occurs only before functions' names, as `math`.
    private func isFunctionNamespace(_ name: String) -> Bool {
        (FunctionTable.namespaces.contains(name) || name == Checker.macroNamespace) && findLocal(name) == nil
            && scope.variable(name) == nil && scope.findNamespace(name) == nil
    }

    private mutating func failUnknown(_ id: SyntaxTree.ID, _ name: String, in namespace: String) -> RuleType {
        if Checker.isMacro(name, of: namespace), let form = Checker.namespacedMacroForms[name] {
            return fail(id, "\(namespace).\(name)() takes \(form.takes)", hint: "as \(form.example)")
        }
        let known = Set(scope.rests(below: namespace, among: scope.functionNames)).union(
            namespace == Checker.macroNamespace ? Array(Checker.namespacedMacroForms.keys) : [])
        let shown = known.sorted()
        return fail(
            id, "no function '\(namespace).\(name)'",
            hint: nearName(name) { shown }.map { NearestName.question("\(namespace).\($0)") }
                ?? "\(namespace) has \(shown.prefix(12).joined(separator: ", "))\(shown.count > 12 ? ", …" : "")")
    }

    private static let macroNamespace = "cel"

    private static func isMacro(_ name: String, of namespace: String) -> Bool {
        namespace == macroNamespace && namespacedMacroForms[name] != nil
    }

    /// The forms of macros without a receiver.
    private static let globalMacroForms: [String: (takes: String, example: String)] = [
        "orElse": ("an expression and what to use instead of an error", "orElse(x / y, 0)"),
        "isError": ("an expression", "isError(x)"),
    ]

    static let macroNames = Set(globalMacroForms.keys).union(macroForms.keys).union(["has"])

    /// The forms of macros. A call in another form is not a macro, and no function has its name.
    private static let macroForms: [String: (takes: String, example: String)] = [
        "all": ("a name and a condition", "list.all(x, x > 0)"),
        "exists": ("a name and a condition", "list.exists(x, x > 0)"),
        "exists_one": ("a name and a condition", "list.exists_one(x, x > 0)"),
        "existsOne": ("a name and a condition", "list.existsOne(x, x > 0)"),
        "filter": ("a name and a condition", "list.filter(x, x > 0)"),
        "map": ("a name and an expression, with a condition between them or without", "list.map(x, x * 2)"),
        "sortBy": ("a name and an expression", "list.sortBy(x, x.size)"),
        "reduce": (
            "two names, a start and an expression", "list.reduce(sum, x, 0, sum + x)"
        ),
        "transformList": (
            "two names and an expression, with a condition before it or without", "list.transformList(i, x, i + x)"
        ),
        "transformMap": (
            "two names and an expression, with a condition before it or without", "map.transformMap(k, v, v + 1)"
        ),
        "transformMapEntry": (
            "two names and a map of one entry, with a condition before it or without",
            "map.transformMapEntry(k, v, {v: k})"
        ),
        "optMap": ("a name and an expression", "optional.optMap(x, x + 1)"),
        "optFlatMap": ("a name and an optional", "optional.optFlatMap(x, x.?field)"),
    ]
    private static let namespacedMacroForms: [String: (takes: String, example: String)] = [
        "bind": ("a name, a value and an expression", "cel.bind(x, a + b, x * x)")
    ]

    private mutating func checkCall(
        _ id: SyntaxTree.ID, _ function: Function, _ arguments: [RuleType], isMember: Bool
    ) -> RuleType {
        if function.overloads.isEmpty, !isMember {
            return checkExtremum(id, function.name, arguments)
        }
        if let result = resolve(function, arguments, isMember: isMember) { return result }
        let found = arguments.map { unifier.substitute($0).resolved.description }
        let applied =
            isMember
            ? "\(found[0]).(\(found.dropFirst().joined(separator: ", ")))" : "(\(found.joined(separator: ", ")))"
        return fail(
            id, "found no matching overload for '\(function.name)' applied to '\(applied)'",
            hint: "it takes " + Checker.forms(function))
    }

    private static func forms(_ function: Function) -> String {
        let forms = function.overloads.map { overload in
            let parameters = overload.parameters.map(\.description)
            return overload.isMember
                ? "\(parameters[0]).\(function.name)(\(parameters.dropFirst().joined(separator: ", ")))"
                : "\(function.name)(\(parameters.joined(separator: ", ")))"
        }
        return forms.prefix(4).joined(separator: ", ") + (forms.count > 4 ? ", …" : "")
    }

    /// The result of the overloads that fit: their common type, or `dyn` if they differ; nil if none fits.
    private mutating func resolve(_ function: Function, _ arguments: [RuleType], isMember: Bool)
        -> RuleType?
    {
        var result: RuleType?
        let overloads = function.overloads
        // By index, because copying an overload costs more than most checks need.
        for at in overloads.indices
        where overloads[at].isMember == isMember && overloads[at].parameters.count == arguments.count {
            guard let type = fit(overloads[at], arguments) else { continue }
            if let known = result, known != type { result = .dyn } else { result = type }
        }
        return result
    }

    /// The result type of an overload for the arguments; nil if it does not accept them.
    private mutating func fit(_ overload: borrowing Overload, _ arguments: [RuleType]) -> RuleType? {
        if overload.typeParameters.isEmpty {
            for at in arguments.indices where arguments[at].isBasic {
                if overload.parameters[at].isBasic, overload.parameters[at] != arguments[at] { return nil }
            }
            return unifier.agree(arguments, overload.parameters) ? overload.result : nil
        }
        let names = overload.typeParameters
        let variables = names.map { _ in unifier.fresh() }
        let parameters = overload.parameters.map { unifier.instantiate($0, names, variables) }
        guard unifier.agree(arguments, parameters) else { return nil }
        return unifier.substitute(unifier.instantiate(overload.result, names, variables))
    }

    /// `math.greatest`, `math.least`: one or more numbers, or one list of them. The result has their type.
    private mutating func checkExtremum(_ id: SyntaxTree.ID, _ name: String, _ arguments: [RuleType]) -> RuleType {
        guard !arguments.isEmpty else { return fail(id, "\(name)() needs at least one argument") }
        var elements = arguments.map { unifier.substitute($0) }
        if elements.count == 1, case .list(let element) = elements[0] { elements = [unifier.substitute(element)] }
        var result: RuleType?
        for type in elements {
            switch type {
            case .scalar(.int), .scalar(.uint), .scalar(.double): result = result == nil || result == type ? type : .dyn
            case .dyn, .error, .variable: result = .dyn
            case .wrapper(let inner) where [.int, .uint, .double].contains(inner): result = .dyn
            default:
                return fail(id, "\(name)() takes numbers or one list of numbers, not '\(type)'")
            }
        }
        return result ?? .dyn
    }

    // MARK: comprehensions

    mutating func checkComprehension(_ id: SyntaxTree.ID) -> RuleType {
        let macro = tree.macro(id)
        let children = tree.children(id).map { Int($0) }
        let range = checkAndSubstitute(children[0]).listed
        let key: RuleType
        let value: RuleType
        switch range.unwrapped {
        case .list(let element): (key, value) = (.int, element)
        case .map(let mapKey, let mapValue) where macro != .sortBy: (key, value) = (mapKey, mapValue)
        case .dyn, .error, .variable, .parameter: (key, value) = (.dyn, .dyn)
        case let type:
            fail(
                id, "expression of type '\(type)' cannot be range of a comprehension (must be list, map, or dynamic)",
                at: Int(tree[children[0]].start))
            (key, value) = (.error, .error)
        }
        let isList = if case .list = range.unwrapped { true } else { false }
        if macro == .reduce {
            return checkReduction(id, children, element: range.isDynOrError ? .dyn : isList ? value : key)
        }
        var added: [(String, RuleType)]
        if let second = tree.secondName(id) {
            added = [(tree.spelling(id), key), (second, value)]
        } else {
            added = [(tree.spelling(id), isList ? value : key)]
        }
        // If the range is unknown, so is its element.
        if range.isDynOrError { added = added.map { ($0.0, .dyn) } }
        let elementType = added[0].1
        return withLocals(added, of: id) { $0.checkSteps(macro, children, key: key, element: elementType) }
    }

    /// `list.reduce(acc, x, start, step)`: the accumulator has the type of its start.
    private mutating func checkReduction(_ id: SyntaxTree.ID, _ children: [Int], element: RuleType) -> RuleType {
        let start = check(children[1])
        let names = [(tree.spelling(id), start), (tree.secondName(id) ?? "", element)]
        let step = withLocals(names, of: id) { $0.check(children[2]) }
        guard unifier.agree(step, start) else {
            return fail(
                children[2],
                "reduce() begins with '\(unifier.substitute(start))', but its step gives '\(unifier.substitute(step))'",
                hint: "convert one of them, or make the start dyn(…)", at: Int(tree[children[2]].start))
        }
        return Unifier.moreGeneral(unifier.substitute(start), unifier.substitute(step))
    }

    private mutating func checkSteps(
        _ macro: SyntaxTree.Macro, _ children: [Int], key: RuleType, element: RuleType
    ) -> RuleType {
        let last = children[children.count - 1]
        if children.count == 3 { expect(.bool, children[1]) }
        switch macro {
        case .all, .exists, .existsOne:
            expect(.bool, last)
            return .bool
        case .filter:
            expect(.bool, last)
            return .list(element)
        case .map, .transformList: return .list(check(last))
        case .transformMap: return .map(key, check(last))
        case .transformMapEntry:
            let type = checkAndSubstitute(last)
            switch type {
            case .map: return type
            case .dyn, .error, .variable: return .map(.dyn, .dyn)
            default:
                fail(last, "transformMapEntry needs a map as its result, not '\(type)'", at: Int(tree[last].start))
                return .map(.dyn, .dyn)
            }
        case .sortBy, .reduce:
            _ = check(last)
            return .list(element)
        }
    }
}

extension RuleType {
    /// The type without null.
    var unwrapped: RuleType {
        if case .wrapper(let type) = self { type.unwrapped } else { self }
    }
}
