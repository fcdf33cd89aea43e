import AttributeValues

/// The surroundings of a node in its document.
struct Surroundings {
    /// The names that expressions of `let`, `binding` and `forEach` can use.
    var enclosing: LexicalScope
    /// Element and index of an instance of a `forEach`. Its own rules can use them too.
    var elements: [ScopeEntry] = []
    /// True directly under `components`.
    var isComponentRoot = false
    /// True for children given at the use of a component.
    var isContent = false
    /// See `NodeDefinition.layer`.
    var layer = 0
    /// Below the existing root of a component's instance: the names that the component's own nodes can use there.
    var inside: LexicalScope?

    /// The names of the node that its own rules can use: its attributes, and its element if a forEach makes it.
    func ownNames(of attributes: [AttributeDefinition]) -> [ScopeEntry] {
        let own = attributes.map { ScopeEntry($0) }
        return own + elements.filter { element in !own.contains { $0.name.hasSameBytes(as: element.name) } }
    }
}
