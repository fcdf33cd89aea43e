import RuleLanguage

/// The readers of a node's parts, which a node and the use of a component share.
struct PartReader {
    let attributes: AttributeReader
    let computed: ComputedReader
    let actions: ActionReader
    let modifiers: ModifierReader
    var cursor: CheckCursor { modifiers.cursor }

    /// - Parameter standard: the names that every rule can use.
    init(_ expressions: ExpressionReader, _ states: StateReader, in standard: RuleScope, refusesCycles: Bool) {
        let parameters = ParameterReader(expressions: expressions, literals: states.literals)
        let curves = AnimationReader(cursor: expressions.cursor)
        attributes = AttributeReader(
            states: states,
            bindings: BindingReader(expressions: expressions, parameters: parameters, animations: curves),
            parameters: parameters)
        computed = ComputedReader(expressions.rules, states.literals, in: standard, refusesCycles: refusesCycles)
        actions = ActionReader(
            steps: ActionStepReader(expressions: expressions, parameters: parameters, animations: curves))
        modifiers = ModifierReader(expressions: expressions, curves: curves)
    }
}
