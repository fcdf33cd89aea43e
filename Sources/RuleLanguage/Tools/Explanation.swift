import AttributeValues

/// A rule's tree with what each part gave in one evaluation.
public struct Explanation {
    public struct Part {
        /// Levels below the whole rule.
        public var depth: Int
        /// The part's source text, on one line.
        public var text: String
        /// What it gave, the last time; nil when evaluation passed it by.
        public var content: Content?
        /// How often it was evaluated: more than once inside macros.
        public var times: Int
    }

    /// Every part before those it is made of.
    public private(set) var parts: [Part] = []
    public let result: Content

    /// Evaluates a rule and notes what its parts give. Names and types are checked unless `isChecked` is false.
    public init(
        _ text: String, in scope: RuleScope, bindings: ValueMap, isChecked: Bool = true
    ) throws(RuleErrors) {
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

    /// Recursion is bounded by the tree's height.
    private mutating func add(
        _ id: SyntaxTree.ID, depth: Int, _ tree: SyntaxTree, _ source: [UInt8], _ trace: [Int: (content: Content, times: Int)]
    ) {
        let node = tree[id]
        if node.kind == .literal { return }
        let text = String(decoding: source[Int(node.start)..<Int(max(node.start, node.end))], as: UTF8.self)
        let words = text.split { $0 == "\n" || $0 == "\r" || $0 == "\t" || $0 == " " }
        parts.append(
            Part(
                depth: depth, text: words.joined(separator: " "), content: trace[id]?.content, times: trace[id]?.times ?? 0))
        for child in tree.children(id) { add(Int(child), depth: depth + 1, tree, source, trace) }
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
