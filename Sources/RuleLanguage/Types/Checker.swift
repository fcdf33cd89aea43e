import AttributeValues

/// The meaning of a name or a call in a rule.
enum Resolution {
    case none
    /// A variable of the scope: index into `CheckedTree.variables`.
    case variable(Int)
    /// A macro's variable, identified by the number of its declaration.
    case local(Int)
    case typeValue(String)
    /// A call of a global function whose name includes the apparent receiver.
    case namespacedFunction(Function)
    case function(Function)
    case timeOperator(TimeOperator)
}

/// A rule with its names resolved and its types known.
struct CheckedTree {
    struct Variable {
        var name: Name
        var type: RuleType
    }

    var tree: SyntaxTree
    /// By node.
    var types: [RuleType]
    /// By node.
    var resolutions: [Resolution]
    var variables: [Variable]
    var resultType: RuleType
    /// The declared functions that it calls, with those that they call.
    var functions: [DeclaredFunction]
}

/// Resolves names and infers types in one walk, children first. The tree's height bounds the recursion. After a fault,
/// the faulty part agrees with every type, so that all independent faults are found.
struct Checker {
    var tree: SyntaxTree
    /// In a function: the scope in which the function is declared.
    var scope: RuleScope
    var types: [RuleType]
    var resolutions: [Resolution]
    var variables: [CheckedTree.Variable] = []
    var unifier = Unifier()
    var diagnostics: [Diagnostic] = []
    /// Macro variables in scope, innermost last.
    var locals: [(name: String, type: RuleType, number: Int)] = []
    var localCount = 0
    /// The functions whose rules are being checked, one called by the other, and the height of these rules together.
    var calling: [String] = []
    var callHeight = 0
    /// For each of them: the object type, if it is the rule of a computed property.
    var receivers: [String?] = []
    /// False if the rule gets whole values, as in an action: a place in one may have no computed property.
    let readsPlaces: Bool
    /// The declared functions that are called.
    var functions: [DeclaredFunction] = []
    /// True if the tree is itself the rule of a function.
    private let isDeclaration: Bool
    /// True if hints should suggest similar names; false if nobody will see the faults.
    private let looksForNames: Bool

    init(_ tree: SyntaxTree, in scope: RuleScope, looksForNames: Bool = true, declaring function: String? = nil) {
        self.tree = tree
        isDeclaration = function != nil
        readsPlaces = !scope.getsWholeValues
        calling = function.map { [$0] } ?? []
        self.scope = scope
        self.looksForNames = looksForNames
        types = [RuleType](repeating: .error, count: tree.nodes.count)
        resolutions = [Resolution](repeating: .none, count: tree.nodes.count)
    }

    /// - Parameter function: the name of the function whose rule the tree is.
    static func check(
        _ tree: SyntaxTree, in scope: RuleScope, looksForNames: Bool = true, declaring function: String? = nil
    ) -> (CheckedTree, [Diagnostic]) {
        var checker = Checker(tree, in: scope, looksForNames: looksForNames, declaring: function)
        let type = checker.check(tree.root)
        let result = checker.unifier.substitute(type).resolved
        let types = checker.unifier.isIdle ? checker.types : checker.types.map { checker.unifier.substitute($0) }
        let checked = CheckedTree(
            tree: checker.tree, types: types, resolutions: checker.resolutions, variables: checker.variables,
            resultType: result, functions: checker.functions)
        if checker.diagnostics.isEmpty { return (checked, []) }
        checker.diagnostics.sort { $0.offset < $1.offset }
        return (checked, Array(checker.diagnostics.prefix(scope.limits.errors)))
    }

    /// Reports a fault. The faulty part has the type that is returned.
    @discardableResult
    mutating func fail(_ id: SyntaxTree.ID, _ message: String, hint: String? = nil, at offset: Int? = nil) -> RuleType {
        let offset = offset ?? Int(tree[id].position)
        let isInCall = calling.count > (isDeclaration ? 1 : 0)
        let message = isInCall ? "in \(calling[calling.count - 1])(): \(message)" : message
        diagnostics.append(Diagnostic(code: .ruleType, offset: offset, message: message, hint: hint))
        return .error
    }

    /// A similar name, for faults that are reported: the search takes much longer than a check.
    func nearName(_ name: String, among candidates: () -> some Sequence<String>) -> String? {
        guard looksForNames, diagnostics.count < scope.limits.errors else { return nil }
        return NearestName.find(name, among: candidates())
    }

    func nameHint(_ name: String, among candidates: () -> some Sequence<String>) -> String? {
        nearName(name, among: candidates).map(NearestName.question)
    }

    mutating func check(_ id: SyntaxTree.ID) -> RuleType {
        let type = infer(id)
        types[id] = type
        return type
    }

    /// The type with everything inferred about it. (The type is computed first, because the unifier changes meanwhile.)
    mutating func checkAndSubstitute(_ id: SyntaxTree.ID) -> RuleType {
        let type = check(id)
        return unifier.substitute(type)
    }

    private mutating func infer(_ id: SyntaxTree.ID) -> RuleType {
        switch tree[id].kind {
        case .literal: return tree.constant(id).map(Checker.type(of:)) ?? .error
        case .identifier: return checkIdentifier(id)
        case .select: return checkSelect(id)
        case .presence:
            let operand = check(tree.child(id, 0))
            _ = select(operand, tree.spelling(id), id)
            return .bool
        case .index: return checkIndex(id)
        case .call: return checkCall(id)
        case .memberCall: return checkMemberCall(id)
        case .list: return checkList(id)
        case .map: return checkMap(id)
        case .optionalEntry: return checkOptionalEntry(id)
        case .message:
            for child in tree.children(id) { _ = check(Int(child)) }
            return fail(
                id, "'\(tree.spelling(id))' is not a type whose values can be written",
                hint: "write a map: {\"key\": value}")
        case .not:
            expect(.bool, tree.child(id, 0))
            return .bool
        case .negate: return checkNegation(id)
        case .binary: return checkBinary(id)
        case .and, .or:
            for child in tree.children(id) { expect(.bool, Int(child)) }
            return .bool
        case .conditional: return checkConditional(id)
        case .comprehension: return checkComprehension(id)
        case .bind:
            let value = check(tree.child(id, 0))
            return withLocals([(tree.spelling(id), value)], of: id) { $0.check($0.tree.child(id, 1)) }
        case .optionalMap: return checkOptionalMap(id)
        case .block: return checkBlock(id)
        case .attempt: return checkAttempt(id)
        case .faulty: return .error
        }
    }

    static func type(of constant: Value) -> RuleType { ScalarType(of: constant).map { .scalar($0) } ?? .dyn }

    /// Checks a part that must have a given type.
    mutating func expect(_ type: RuleType, _ id: SyntaxTree.ID) {
        let found = check(id)
        if !unifier.agree(found, type) {
            fail(id, "expected type '\(type)' but found '\(unifier.substitute(found))'", at: Int(tree[id].start))
        }
    }

    // MARK: macro variables

    /// Locals are numbered as nodes are visited. A macro's variables are consecutive and stored at its node.
    mutating func withLocals(
        _ added: [(String, RuleType)], of id: SyntaxTree.ID, _ body: (inout Checker) -> RuleType
    ) -> RuleType {
        resolutions[id] = .local(localCount)
        for (name, type) in added {
            locals.append((name, type, localCount))
            localCount += 1
        }
        let type = body(&self)
        locals.removeLast(added.count)
        return type
    }

    // MARK: aggregates

    private mutating func checkList(_ id: SyntaxTree.ID) -> RuleType {
        var element: RuleType?
        for child in tree.children(id) {
            let type = check(Int(child))
            element = unifier.join(element, type)
        }
        return .list(element ?? unifier.fresh())
    }

    private mutating func checkOptionalEntry(_ id: SyntaxTree.ID) -> RuleType {
        let type = checkAndSubstitute(tree.child(id, 0))
        if type.isDynOrError { return .dyn }
        let element = unifier.fresh()
        guard unifier.agree(type, .optional(element)) else {
            return fail(
                id, "expected an optional value after '?' but found '\(type)'", hint: "optional.of(x) makes one")
        }
        return unifier.substitute(element)
    }

    private mutating func checkMap(_ id: SyntaxTree.ID) -> RuleType {
        var key: RuleType?
        var value: RuleType?
        let children = tree.children(id)
        for at in stride(from: children.startIndex, to: children.endIndex, by: 2) {
            var found = check(Int(children[at]))
            switch unifier.substitute(found) {
            case .scalar(.bool), .scalar(.int), .scalar(.uint), .scalar(.string), .dyn, .error, .variable, .wrapper:
                break
            case let type:
                fail(
                    Int(children[at]), "a map key is a bool, int, uint or string, not '\(type)'",
                    at: Int(tree[Int(children[at])].start))
                // Not included in the map's type, which would double in size with each such map in a map.
                found = .error
            }
            key = unifier.join(key, found)
            let foundValue = check(Int(children[at + 1]))
            value = unifier.join(value, foundValue)
        }
        return .map(key ?? unifier.fresh(), value ?? unifier.fresh())
    }

    // MARK: conditionals, let-blocks

    private mutating func checkConditional(_ id: SyntaxTree.ID) -> RuleType {
        expect(.bool, tree.child(id, 0))
        let yes = check(tree.child(id, 1))
        let no = check(tree.child(id, 2))
        guard let type = common(yes, no) else {
            return fail(
                id,
                "the branches of '?:' have different types, '\(unifier.substitute(yes))' and '\(unifier.substitute(no))'",
                hint: "convert one of them, or make one dyn(…)")
        }
        return type
    }

    /// The type of two branches of which one is evaluated. If one of them is null, the other one's type with null.
    private mutating func common(_ a: RuleType, _ b: RuleType) -> RuleType? {
        for (branch, other) in [(a, b), (b, a)] where unifier.substitute(branch) == .scalar(.null) {
            switch unifier.substitute(other) {
            case .scalar(.null), .wrapper, .dyn, .error, .variable, .parameter: break
            case let type: return .wrapper(type)
            }
        }
        let result = unifier.fresh()
        return unifier.agree([a, b], [result, result]) ? unifier.substitute(result) : nil
    }

    /// `orElse(x, default)`, or `isError(x)`.
    private mutating func checkAttempt(_ id: SyntaxTree.ID) -> RuleType {
        let tried = check(tree.child(id, 0))
        guard tree.children(id).count > 1 else { return .bool }
        let other = check(tree.child(id, 1))
        return common(tried, other)
            ?? fail(
                id,
                "the value and what orElse() gives instead have different types, '\(unifier.substitute(tried))' and "
                    + "'\(unifier.substitute(other))'", hint: "convert one of them, or make one dyn(…)")
    }

    private mutating func checkOptionalMap(_ id: SyntaxTree.ID) -> RuleType {
        let operand = checkAndSubstitute(tree.child(id, 0))
        let element = unifier.fresh()
        if !operand.isDynOrError, !unifier.agree(operand, .optional(element)) {
            fail(id, "optMap works on an optional value, not on '\(operand)'")
        }
        let inner = operand.isDynOrError ? .dyn : unifier.substitute(element)
        let isFlat = tree[id].flag
        let body = withLocals([(tree.spelling(id), inner)], of: id) { $0.check($0.tree.child(id, 1)) }
        guard isFlat else { return .optional(body) }
        let content = unifier.fresh()
        if !unifier.agree(body, .optional(content)) {
            fail(id, "optFlatMap needs an optional result, not '\(unifier.substitute(body))'", hint: "use optMap")
        }
        return body
    }

    private mutating func checkBlock(_ id: SyntaxTree.ID) -> RuleType {
        let children = tree.children(id)
        resolutions[id] = .local(localCount)
        let first = localCount
        localCount += children.count - 1
        for (number, child) in children.dropLast().enumerated() {
            let type = check(Int(child))
            locals.append(("@index\(number)", type, first + number))
        }
        let type = check(Int(children[children.endIndex - 1]))
        locals.removeLast(children.count - 1)
        return type
    }
}
