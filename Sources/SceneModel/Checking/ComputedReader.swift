import AttributeValues
import RuleLanguage

/// Reads `computed`: rules over the node's own attributes, including other computed ones.
///
/// Their types are inferred, so a rule is compiled after the rules that it reads. Rules in a cycle see each other as
/// `dyn`; the cycle is an error value when they run.
final class ComputedReader {
    /// One compiled rule of a node.
    private struct Compiled {
        var program: Program
        var type: ValueType
    }

    /// The inputs of the compiled rules of a node. Nodes with equal keys have the same rules, but for numbers.
    private struct Key: Hashable {
        var isContainer: Bool
        var names: [String]
        var types: [ValueType]
        /// The texts of the rules. The numbers are left out of the text of an adaptable program.
        var shapes: [String]
        var ruleNames: [String]
    }

    private let expressions: ExpressionReader
    private let standard: RuleScope
    private let container: RuleScope
    private let refusesCycles: Bool
    private var compiled: [Key: [Compiled]] = [:]
    private var cursor: CheckCursor { expressions.cursor }

    /// - Parameters:
    ///   - standard: the names that all rules can use.
    ///   - refusesCycles: see `SceneContext.refusesCycles`.
    init(_ expressions: ExpressionReader, in standard: RuleScope, refusesCycles: Bool) {
        self.expressions = expressions
        self.standard = standard
        container = standard.withSubviews
        self.refusesCycles = refusesCycles
    }

    /// - Parameter own: the names that the rules can use besides each other.
    func read(_ node: DocumentNode, own: [ScopeEntry], isContainer: Bool = false, into list: AttributeList) {
        let written = cursor.readEntries(node, "computed", hint: "write name: rule").filter { entry in
            cursor.at(entry.name) { cursor.checkName(entry.key, "an attribute") }
        }
        guard !written.isEmpty else { return }
        let texts = written.map {
            $0.value.isForm(SceneForm.computed.keys, requiring: ["rule"]) ? $0.value["rule"] ?? $0.value : $0.value
        }
        let shaped = Key(
            isContainer: isContainer, names: own.map(\.name), types: own.map(\.type),
            shapes: texts.map { Rule.shape(of: $0.text) }, ruleNames: written.map(\.name))
        var exact = shaped
        exact.shapes = texts.map(\.text)
        let hasForms = written.contains { $0.value.map != nil }
        for key in hasForms ? [] : [shaped, exact] {
            guard let made = compiled[key], let programs = adapt(made, to: texts) else { continue }
            for (entry, (rule, program)) in zip(written, zip(made, programs)) {
                cursor.at(entry.name) { list.enter(entry.key, .computed(program), rule.type) }
            }
            return
        }
        let faultsBefore = cursor.faults.count
        let made = compile(written, texts, own: own, isContainer: isContainer)
        for (entry, rule) in zip(written, made) {
            guard let rule else { continue }
            cursor.at(entry.name) {
                let history = entry.value.map == nil ? nil : expressions.readHistory(entry.value, of: rule.type)
                list.enter(entry.key, .computed(rule.program), rule.type, history: history)
            }
        }
        guard !hasForms, cursor.faults.count == faultsBefore else { return }
        let rules = made.compactMap(\.self)
        compiled[rules.allSatisfy(\.program.isAdaptable) ? shaped : exact] = rules
    }

    /// The programs of rules that have the shapes of compiled ones; nil if one has to be compiled itself.
    private func adapt(_ made: [Compiled], to texts: [DocumentNode]) -> [Program]? {
        var programs: [Program] = []
        for (rule, written) in zip(made, texts) {
            let text = ExpressionReader.ruleText(of: written)
            let isSame = text.hasSameBytes(as: rule.program.text)
            guard let program = isSame ? rule.program : rule.program.adapted(to: text) else { return nil }
            programs.append(program)
        }
        return programs
    }

    private func compile(
        _ written: [DocumentEntry], _ texts: [DocumentNode], own: [ScopeEntry], isContainer: Bool
    ) -> [Compiled?] {
        let scope = RuleScope(parent: isContainer ? container : standard)
        for entry in written { scope.declare(entry.name, ValueType.dyn) }
        for entry in own { scope.declare(entry.name, entry.type) }
        var made = [Compiled?](repeating: nil, count: written.count)
        for position in RuleOrder.order(of: written.map(\.name), texts.map(\.text)) {
            let entry = written[position]
            cursor.at(entry.name) {
                guard let wanted = entry.value.map == nil ? .some(nil) : expressions.writtenType(entry.value),
                    let program = expressions.readProgram(texts[position], in: scope)
                else { return }
                var result = expressions.vocabulary.type(of: program)
                if let wanted {
                    guard wanted.admits(result) else {
                        return cursor.fault(
                            .ruleType, "the rule gives \(result.withArticle), not \(wanted.withArticle)",
                            at: texts[position])
                    }
                    result = wanted
                }
                made[position] = Compiled(program: program, type: result)
                if !own.contains(where: { $0.name.hasSameBytes(as: entry.name) }) { scope.declare(entry.name, result) }
            }
        }
        if refusesCycles { refuseCircles(written, made) }
        return made
    }

    /// Adds a fault for each circle of rules in which each reads the next one whenever it runs.
    private func refuseCircles(_ written: [DocumentEntry], _ made: [Compiled?]) {
        let numbers = Dictionary(zip(written.map(\.name), written.indices)) { first, _ in first }
        let reads = made.map { rule in
            (rule?.program.inputs ?? []).filter { $0.isDefinite && $0.namespace == nil && $0.operation == nil }
                .compactMap { numbers[$0.name.text] }
        }
        for circle in RuleOrder.circles(reads) {
            let (first, way) = (written[circle[0]], circle.map { written[$0].name })
            cursor.fault(
                under: first.name, .cycle, "rules read each other in a circle: \(way.joined(separator: " → "))",
                at: first.value)
        }
    }
}
