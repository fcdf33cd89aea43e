import AttributeValues

/// Macros: calls whose arguments are not evaluated before the call. The name, the number of arguments and the style of
/// the call decide whether it is a macro. Every other call of that name is an ordinary function.
extension Parser {
    /// `has(a.b)`, `orElse(x, default)`, `isError(x)`.
    mutating func expandGlobal(
        _ name: String, _ arguments: [SyntaxTree.ID], _ position: Int, from start: Int
    ) -> SyntaxTree.ID? {
        if name == "orElse" && arguments.count == 2 || name == "isError" && arguments.count == 1 {
            return add(.attempt, at: position, from: start, arguments)
        }
        guard name == "has", arguments.count == 1 else { return nil }
        let argument = arguments[0]
        guard tree[argument].kind == .select else {
            report("has() asks for a field", at: position, hint: "write has(a.b)")
            return addFaulty()
        }
        // `has(a.?b)`: the operand's own optional form gives the same result.
        return add(.presence, at: position, name: tree[argument].name, [tree.child(argument, 0)])
    }

    mutating func expandMember(
        _ operand: SyntaxTree.ID, _ name: String, _ arguments: [SyntaxTree.ID], _ position: Int
    ) -> SyntaxTree.ID? {
        if tree[operand].kind == .identifier, tree.spelling(operand) == "cel", !tree[operand].flag {
            return expandNamespaced(name, arguments, position, Int(tree[operand].start))
        }
        if let (macro, variables, parts) = Parser.macros[name],
            let count = variables.first(where: { parts.contains(arguments.count - $0) })
        {
            return fold(macro, operand, name, arguments, variables: count, position)
        }
        guard arguments.count == 2, name == "optMap" || name == "optFlatMap" else { return nil }
        let variable = variable(arguments[0], of: name)
        return add(.optionalMap, at: position, flag: name == "optFlatMap", name: variable, [operand, arguments[1]])
    }

    /// Comprehensions, with the numbers of variables and of expressions after them.
    private static let macros:
        [String: (macro: SyntaxTree.Macro, variables: ClosedRange<Int>, parts: ClosedRange<Int>)] = [
            "all": (.all, 1...2, 1...1), "exists": (.exists, 1...2, 1...1), "exists_one": (.existsOne, 1...2, 1...1),
            "existsOne": (.existsOne, 1...2, 1...1), "filter": (.filter, 1...1, 1...1), "map": (.map, 1...1, 1...2),
            "sortBy": (.sortBy, 1...1, 1...1), "reduce": (.reduce, 2...2, 2...2),
            "transformList": (.transformList, 2...2, 1...2),
            "transformMap": (.transformMap, 2...2, 1...2), "transformMapEntry": (.transformMapEntry, 2...2, 1...2),
        ]

    private mutating func fold(
        _ macro: SyntaxTree.Macro, _ range: SyntaxTree.ID, _ name: String, _ arguments: [SyntaxTree.ID], variables: Int,
        _ position: Int
    ) -> SyntaxTree.ID {
        let first = variable(arguments[0], of: name)
        let second = variables == 2 ? variable(arguments[1], of: name) : -1
        if second >= 0, tree.names[Int(first)] == tree.names[Int(second)] {
            report("the two variables of \(name)() have the same name", at: Int(tree[arguments[1]].start))
        }
        return add(
            .comprehension, at: position, detail: macro.rawValue, name: first, second: second,
            [range] + arguments.dropFirst(variables))
    }

    /// The variable that a macro's argument declares.
    private mutating func variable(_ argument: SyntaxTree.ID, of macro: String) -> Int32 {
        let node = tree[argument]
        if node.kind == .identifier, !node.flag { return node.name }
        if node.kind != .faulty { report("the variable of \(macro)() must be a simple name", at: Int(node.start)) }
        return tree.intern("")
    }

    // MARK: cel.bind, cel.block and its names

    private mutating func expandNamespaced(
        _ name: String, _ arguments: [SyntaxTree.ID], _ position: Int, _ start: Int
    ) -> SyntaxTree.ID? {
        switch (name, arguments.count) {
        case ("bind", 3):
            let name = variable(arguments[0], of: "cel.bind")
            return add(.bind, at: position, from: start, name: name, [arguments[1], arguments[2]])
        case ("block", 2):
            guard tree[arguments[0]].kind == .list else {
                report("cel.block() takes a list literal of expressions", at: Int(tree[arguments[0]].start))
                return addFaulty()
            }
            let bound = tree.children(arguments[0]).map { Int($0) }
            if let entry = bound.first(where: { tree[$0].kind == .optionalEntry }) {
                report("cel.block() takes plain expressions", at: Int(tree[entry].start))
            }
            return add(.block, at: position, from: start, bound + [arguments[1]])
        case ("index", 1): return generatedName("@index", arguments, position, start)
        case ("iterVar", 2): return generatedName("@it", arguments, position, start)
        case ("accuVar", 2): return generatedName("@ac", arguments, position, start)
        default: return nil
        }
    }

    /// A generated name that no rule can contain: `@index0`, `@it:0:1`.
    private mutating func generatedName(
        _ prefix: String, _ arguments: [SyntaxTree.ID], _ position: Int, _ start: Int
    ) -> SyntaxTree.ID? {
        var name = prefix
        for argument in arguments {
            guard case .int(let number)? = tree.constant(argument), number >= 0 else {
                report("a non-negative int literal is needed", at: Int(tree[argument].start))
                return addFaulty()
            }
            name += arguments.count == 1 ? "\(number)" : ":\(number)"
        }
        return add(.identifier, at: position, from: start, name: tree.intern(name), [])
    }
}
