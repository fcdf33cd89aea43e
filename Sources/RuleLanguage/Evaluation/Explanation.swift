import AttributeValues

/// A rule's tree with the result of each part in one evaluation.
public struct Explanation {
    public struct Part {
        /// Levels below the whole rule.
        public var depth: Int
        /// The part's source text, on one line.
        public var text: String
        /// Its last result; nil if evaluation skipped it.
        public var content: Content?
        /// Number of evaluations: more than one inside macros.
        public var times: Int
    }

    /// Each part precedes its own parts.
    public private(set) var parts: [Part] = []
    public let result: Content

    /// Evaluates a rule and records the results of its parts. Names and types are checked unless `isChecked` is false.
    public init(_ text: String, in scope: RuleScope, bindings: ValueMap, isChecked: Bool = true) throws(RuleErrors) {
        let checked: CheckedTree
        if isChecked {
            checked = try Rule.check(text, in: scope)
        } else {
            checked = Checker.check(try Rule.parse(text, limits: scope.limits), in: scope).0
        }
        let program = Compiler.compile(checked, text: text, scope: scope, isTraced: true)
        let evaluator = Evaluator()
        evaluator.machine.pointee.trace = [:]
        result = evaluator.evaluate(program, bindings: bindings)
        add(checked.tree.root, depth: 0, checked.tree, Array(text.utf8), evaluator.machine.pointee.trace ?? [:])
    }

    private typealias Trace = [Int: (content: Content, times: Int)]

    /// Adds a part and the parts below it. Returns the failure with which the part ended, if it failed. The tree's
    /// height bounds the recursion.
    @discardableResult
    private mutating func add(
        _ id: SyntaxTree.ID, depth: Int, _ tree: SyntaxTree, _ source: [UInt8], _ trace: Trace
    ) -> (failure: Failure, times: Int)? {
        let node = tree[id]
        if node.kind == .literal { return nil }
        let text = String(decoding: source[Int(node.start)..<Int(max(node.start, node.end))], as: UTF8.self)
        let words = text.split { $0 == "\n" || $0 == "\r" || $0 == "\t" || $0 == " " }
        let position = parts.count
        parts.append(
            Part(
                depth: depth, text: words.joined(separator: " "), content: trace[id]?.content,
                times: trace[id]?.times ?? 0))
        for child in partsShown(below: id, tree, trace) {
            guard let (failure, times) = add(child, depth: depth + 1, tree, source, trace) else { continue }
            // A part without a result of its own, because a part below it failed, has that part's failure.
            guard times > parts[position].times, node.kind != .and, node.kind != .or else { continue }
            parts[position].content = .failure(failure)
            parts[position].times = node.kind == .comprehension ? parts[position].times + 1 : times
        }
        if case .failure(let failure)? = parts[position].content { return (failure, parts[position].times) }
        return nil
    }

    /// The children, without the prefixes of a path that is read as a whole: of `a.b.c`, neither `a.b` nor `a` is
    /// evaluated.
    private func partsShown(below id: SyntaxTree.ID, _ tree: SyntaxTree, _ trace: Trace) -> [SyntaxTree.ID] {
        var shown: [SyntaxTree.ID] = []
        var at = id
        while [.select, .index, .presence].contains(tree[at].kind) {
            let operand = tree.child(at, 0)
            shown.insert(contentsOf: tree.children(at).dropFirst().map { Int($0) }, at: 0)
            let isPath = [.identifier, .select, .index].contains(tree[operand].kind)
            if !isPath || trace[operand] != nil { return [operand] + shown }
            at = operand
        }
        guard at == id else { return shown }
        let children = tree.children(id).map { Int($0) }
        // The rule of a declared function is not a part of this text.
        return tree[id].kind == .block && tree[id].flag ? children.dropLast() : children
    }
}

extension Explanation: CustomStringConvertible {
    /// One line per part: indented source, arrow, result.
    public var description: String {
        let width = min(48, parts.map { $0.depth * 2 + $0.text.unicodeScalars.count }.max() ?? 0)
        return parts.map { part in
            let label = String(repeating: "  ", count: part.depth) + part.text
            let padding = String(repeating: " ", count: max(0, width - label.unicodeScalars.count))
            let shown: String
            switch part.content {
            case .value(let value): shown = value.jsonText
            case .failure(let failure): shown = "error: \(failure.message)"
            case nil: shown = "not evaluated"
            }
            return "\(label)\(padding) → \(shown)" + (part.times > 1 ? " (last of \(part.times))" : "")
        }.joined(separator: "\n")
    }
}
