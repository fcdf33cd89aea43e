/// Where names are looked up, from inside out.
enum Scope {
    /// Computed attributes: the node's own attributes alone.
    case own
    /// `let`, bindings and the data of `forEach`: the enclosing nodes, nearest first.
    case enclosing
    /// Modifiers: the node itself, then as `enclosing`.
    case modifier
    /// Values for the container: as `modifier`, but `env` is the environment where the node was declared, because the
    /// container may use these values to decide where the node stands.
    case label
    /// Modifiers that a component or its use writes: as `modifier`, but `env` is the inherited environment, changed
    /// only by the modifiers further out. `behind` is their number.
    case nestedModifier(behind: Int)
    /// The data of a `forEach`: as `enclosing`, but `preferences` are those of the node around it, because its own come
    /// from its instances.
    case data
}

extension Scope {
    var isOfDeclaration: Bool { if case .label = self { true } else { false } }

    var isEnclosing: Bool {
        switch self {
        case .enclosing, .data: true
        default: false
        }
    }
}
