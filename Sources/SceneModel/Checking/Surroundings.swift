import RuleLanguage

/// What a node is written within.
struct Surroundings {
    var enclosing: LexicalScope?
    /// Element and index, for the instance of a `forEach`: they are in the scope of its own rules, too.
    var elements: [ScopeEntry] = []
    /// Written directly under `components`.
    var isComponentRoot = false
    /// Under `forEach`: the element gives the id.
    var isTemplate = false
    /// Given to a component where it is used.
    var isContent = false
    /// Below the live root of what a component made: what the component's own nodes see there.
    var inside: LexicalScope?

    /// What expressions of `let`, `binding` and `forEach` see.
    func scope(base: RuleScope) -> LexicalScope { enclosing ?? LexicalScope([], in: nil, base: base) }
}
