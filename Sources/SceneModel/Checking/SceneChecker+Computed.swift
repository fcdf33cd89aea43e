import AttributeValues
import RuleLanguage

// `computed`: rules over the node's own attributes, including other computed ones. Their types are inferred, so a rule
// is compiled after the rules that it reads. Rules in a cycle see each other as `dyn`; the cycle is an error value when
// they run.

/// One compiled rule of a node.
struct ComputedRule {
    var program: Program
    var type: ValueType
}

/// The inputs of the compiled rules of a node. Nodes with equal keys share the rules.
struct ComputedKey: Hashable {
    var isContainer: Bool
    var names: [String]
    var types: [ValueType]
    var rules: [String]
    var ruleNames: [String]
}

extension SceneChecker {
    private static let computedForm = ["rule", "type", "history"]

    /// - Parameters:
    ///   - own: the names that the rules can use besides each other.
    ///   - base: the names that all rules can use.
    func computed(_ node: DocumentNode, own: [ScopeEntry], base: RuleScope, into list: inout AttributeList) {
        let written = entries(node, "computed", hint: "write name: rule").filter { entry in
            at(entry.name) { checkName(entry.key, "an attribute") }
        }
        guard !written.isEmpty else { return }
        let rules = written.map {
            $0.value.isForm(SceneChecker.computedForm, requiring: ["rule"]) ? $0.value["rule"] ?? $0.value : $0.value
        }
        let key = ComputedKey(
            isContainer: base === containerScope, names: own.map(\.name), types: own.map(\.type),
            rules: rules.map(\.text),
            ruleNames: written.map(\.name))
        let isPlain = base === baseScope || base === containerScope
        let hasForms = written.contains { $0.value.map != nil }
        if isPlain, !hasForms, let made = computedCache[key] {
            for (entry, rule) in zip(written, made) {
                at(entry.name) { enter(entry.key, .computed(rule.program), rule.type, into: &list) }
            }
            return
        }
        let faultsBefore = faults.count
        let made = compile(written, rules, own: own, base: base)
        for (entry, rule) in zip(written, made) {
            guard let rule else { continue }
            at(entry.name) {
                let history = entry.value.map == nil ? nil : history(entry.value, of: rule.type)
                enter(entry.key, .computed(rule.program), rule.type, history: history, into: &list)
            }
        }
        if isPlain, !hasForms, faults.count == faultsBefore { computedCache[key] = made.compactMap(\.self) }
    }

    private func compile(_ written: [DocumentEntry], _ rules: [DocumentNode], own: [ScopeEntry], base: RuleScope)
        -> [ComputedRule?]
    {
        let scope = RuleScope(parent: base)
        for entry in written { scope.declare(entry.name, ValueType.dyn) }
        for entry in own { scope.declare(entry.name, entry.type) }
        var made = [ComputedRule?](repeating: nil, count: written.count)
        for position in order(of: written.map(\.name), rules.map(\.text)) {
            let entry = written[position]
            at(entry.name) {
                guard let wanted = entry.value.map == nil ? .some(nil) : writtenType(entry.value) else { return }
                guard let program = rule(rules[position], in: scope) else { return }
                var result = self.type(of: program)
                if let wanted {
                    guard wanted.admits(result) else {
                        return fault(
                            .ruleType, "the rule gives \(result.withArticle), not \(wanted.withArticle)",
                            at: rules[position])
                    }
                    result = wanted
                }
                made[position] = ComputedRule(program: program, type: result)
                if !own.contains(where: { $0.name.hasSameBytes(as: entry.name) }) { scope.declare(entry.name, result) }
            }
        }
        if context.refusesCycles { tellCycles(written, made) }
        return made
    }

    /// Adds a fault for each circle of rules in which each reads the next one whenever it runs.
    private func tellCycles(_ written: [DocumentEntry], _ made: [ComputedRule?]) {
        let numbers = Dictionary(zip(written.map(\.name), written.indices)) { first, _ in first }
        let reads = made.map { rule in
            (rule?.program.inputs ?? []).filter { $0.isDefinite && $0.namespace == nil && $0.operation == nil }
                .compactMap { numbers[$0.name] }
        }
        var isDone = [Bool](repeating: false, count: written.count)
        for start in written.indices where !isDone[start] {
            var stack: [(rule: Int, next: Int)] = [(start, 0)]
            while let (rule, next) = stack.popLast() {
                guard next < reads[rule].count else {
                    isDone[rule] = true
                    continue
                }
                stack.append((rule, next + 1))
                let read = reads[rule][next]
                if let first = stack.firstIndex(where: { $0.rule == read }) {
                    let way = (stack[first...].map(\.rule) + [read]).map { written[$0].name }
                    at(written[read].name) {
                        fault(
                            .cycle, "rules read each other in a circle: \(way.joined(separator: " → "))",
                            at: written[read].value)
                    }
                } else if !isDone[read] {
                    stack.append((read, 0))
                }
            }
        }
    }

    /// The numbers of the rules. Each follows the rules whose names occur in its text, except within a cycle.
    private func order(of names: [String], _ texts: [String]) -> [Int] {
        guard names.count > 1 else { return Array(names.indices) }
        let numbers = Dictionary(zip(names, names.indices)) { first, _ in first }
        let reads = texts.map { text in SceneChecker.words(text).compactMap { numbers[$0] } }
        var order: [Int] = []
        var isEntered = [Bool](repeating: false, count: names.count)
        for start in names.indices where !isEntered[start] {
            var stack: [(rule: Int, next: Int)] = [(start, 0)]
            isEntered[start] = true
            while let (rule, next) = stack.popLast() {
                guard next < reads[rule].count else {
                    order.append(rule)
                    continue
                }
                stack.append((rule, next + 1))
                let read = reads[rule][next]
                if !isEntered[read] {
                    isEntered[read] = true
                    stack.append((read, 0))
                }
            }
        }
        return order
    }

    /// The runs of letters, digits and _ in a text. They include every name that a rule reads, and possibly others.
    private static func words(_ text: String) -> [String] {
        text.utf8.split { !((48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95) }
            .map { String(Substring($0)) }
    }
}
