import RuleLanguage

/// The surroundings of a node in its document.
struct Surroundings {
    var enclosing: LexicalScope?
    /// Element and index of an instance of a `forEach`. Its own rules can use them too.
    var elements: [ScopeEntry] = []
    /// True directly under `components`.
    var isComponentRoot = false
    /// True under `forEach`: the element determines the id.
    var isTemplate = false
    /// True for children given at the use of a component.
    var isContent = false
    /// See `NodeDefinition.layer`.
    var layer = 0
    /// Below the existing root of a component's instance: the names that the component's own nodes can use there.
    var inside: LexicalScope?

    /// The names that expressions of `let`, `binding` and `forEach` can use.
    func scope(base: RuleScope) -> LexicalScope { enclosing ?? LexicalScope([], in: nil, base: base) }
}
