import AttributeValues

/// A function that a document declares. The checker puts its rule in the place of each call.
///
/// The rule can use the parameters, and the names of the scope in which the function is declared. It cannot see the
/// names at the call.
public final class DeclaredFunction: Equatable {
    public let name: String
    public let parameters: [String]
    /// The rule.
    public let text: String
    let tree: SyntaxTree
    /// For a computed property: the type of the object, whose properties the rule names.
    let object: String?

    /// The rule of a computed property of an object type, as a function of the object.
    /// - Throws: faults of syntax.
    public init(property: String, of object: String, _ text: String, limits: RuleLimits) throws(RuleErrors) {
        name = "\(object).\(property)"
        parameters = [DeclaredFunction.receiver]
        self.object = object
        self.text = text
        tree = try Rule.parse(text, limits: limits)
    }

    /// The name of the object, which no rule can contain.
    static let receiver = "@object"

    /// - Throws: faults of syntax.
    public init(_ name: String, _ parameters: [String], _ text: String, limits: RuleLimits) throws(RuleErrors) {
        self.name = name
        self.parameters = parameters
        self.text = text
        object = nil
        tree = try Rule.parse(text, limits: limits)
    }

    /// As it is declared: `planned(t)`.
    public var head: String { "\(name)(\(parameters.joined(separator: ", ")))" }

    public static func == (a: DeclaredFunction, b: DeclaredFunction) -> Bool {
        a.head.hasSameBytes(as: b.head) && a.text.hasSameBytes(as: b.text)
    }

    /// Checks the rule, with arguments of any type.
    /// - Parameter scope: the scope in which the function is declared, or one inside it.
    public func check(in scope: RuleScope) throws(RuleErrors) {
        let inside = RuleScope(parent: scope)
        for parameter in parameters { inside.declare(parameter, RuleType.dyn) }
        let (_, diagnostics) = Checker.check(tree, in: inside, declaring: name)
        if !diagnostics.isEmpty { throw RuleErrors(rule: text, errors: diagnostics.map { $0.located(in: text) }) }
    }
}

extension SyntaxTree {
    /// Adds the nodes of another tree. They have the place of a node of this one.
    /// - Returns: the other's root.
    mutating func graft(_ other: SyntaxTree, at place: ID) -> ID {
        let (names, constants, first) = (Int32(self.names.count), Int32(self.constants.count), nodes.count)
        add(names: other.names, constants: other.constants)
        for id in other.nodes.indices {
            var node = other[id]
            if node.name >= 0 { node.name += node.kind == .literal ? constants : names }
            if node.second >= 0 { node.second += names }
            (node.position, node.start, node.end) = (self[place].position, self[place].start, self[place].end)
            _ = add(node, other.children(id).map { Int($0) + first })
        }
        return other.root + first
    }
}

extension Checker {
    /// Checks a call of a declared function, and replaces it by the function's rule behind its arguments, which are
    /// evaluated at most once.
    mutating func checkDeclared(_ id: SyntaxTree.ID, _ function: DeclaredFunction, from home: RuleScope) -> RuleType {
        let arguments = tree.children(id).map { Int($0) }
        return checkCall(id, function, from: home, arguments, arguments.map { check($0) })
    }

    /// A computed property of an object that is a value, as an element of a list: its rule is put in the place of the
    /// selection. nil if the property has no rule, or if the object is an attribute, which has the property itself.
    mutating func checkProperty(_ id: SyntaxTree.ID, of operand: RuleType) -> RuleType? {
        guard case .abstract(let object, _) = unifier.substitute(operand).unwrapped, !tree[id].flag,
            let (function, home) = scope.findPropertyRule(tree.spelling(id), of: object),
            !(readsPlaces && isInVariable(tree.child(id, 0)))
        else { return nil }
        return checkCall(id, function, from: home, [tree.child(id, 0)], [operand])
    }

    /// True for a variable of the scope, and for a place in its value.
    private func isInVariable(_ id: SyntaxTree.ID) -> Bool {
        var at = id
        while true {
            if case .variable = resolutions[at] { return true }
            guard tree[at].kind == .select || tree[at].kind == .index, !tree[at].flag else { return false }
            at = tree.child(at, 0)
        }
    }

    /// A name in the rule of a computed property that means another property: it becomes a selection on the object.
    mutating func checkOwnProperty(_ id: SyntaxTree.ID, _ name: String) -> RuleType? {
        guard let object = receivers.last ?? nil, scope.properties(of: object)?[name] != nil else { return nil }
        let receiver = tree.addReceiver(at: id)
        types.append(.error)
        resolutions.append(.none)
        tree.makeSelection(id, of: receiver)
        return checkSelect(id)
    }

    private mutating func checkCall(
        _ id: SyntaxTree.ID, _ function: DeclaredFunction, from home: RuleScope, _ arguments: [SyntaxTree.ID],
        _ types: [RuleType]
    ) -> RuleType {
        guard arguments.count == function.parameters.count else {
            let count = function.parameters.count
            return fail(
                id, "\(function.name)() takes \(count == 1 ? "one argument" : "\(count) arguments")",
                hint: "as \(function.head)")
        }
        if let first = calling.firstIndex(of: function.name) {
            let way = calling[first...] + [function.name]
            return fail(
                id, "a function cannot call itself: \(way.joined(separator: " → "))",
                hint: "list.reduce(acc, x, start, step) repeats a step")
        }
        let height = Int(function.tree[function.tree.root].height)
        guard callHeight + height <= scope.limits.nesting,
            tree.nodes.count + function.tree.nodes.count <= scope.limits.nodes
        else {
            diagnostics.append(
                Diagnostic(
                    code: .limit, offset: Int(tree[id].position),
                    message: "with the functions that it calls, the rule has more than \(scope.limits.nodes) parts, or "
                        + "is nested deeper than \(scope.limits.nesting) levels"))
            return .error
        }
        if !functions.contains(function) { functions.append(function) }
        let body = tree.graft(function.tree, at: id)
        self.types += [RuleType](repeating: .error, count: tree.nodes.count - self.types.count)
        resolutions += [Resolution](repeating: .none, count: tree.nodes.count - resolutions.count)
        tree.makeCall(id, arguments + [body])
        let outer = (locals, scope)
        defer {
            (locals, scope) = outer
            calling.removeLast()
            receivers.removeLast()
            callHeight -= height
        }
        resolutions[id] = .local(localCount)
        locals = zip(function.parameters, types).enumerated().map { ($1.0, $1.1, localCount + $0) }
        localCount += arguments.count
        scope = home
        calling.append(function.name)
        receivers.append(function.object)
        callHeight += height
        return check(body)
    }
}
