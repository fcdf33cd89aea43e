/// Where names are looked up, from inside out.
struct Scope {
    enum Kind {
        /// Computed attributes: the node's own attributes alone.
        case own
        /// `let`, bindings and the data of `forEach`: the enclosing nodes, nearest first.
        case enclosing
        /// Modifiers: the node itself, then as `enclosing`.
        case modifier
        /// Values for the container: as `modifier`, but `env` is the environment where the node was declared, because
        /// the container may use these values to decide where the node stands.
        case label
        /// Modifiers that a component or its use writes: as `modifier`, but `env` is the inherited environment, changed
        /// only by the modifiers further out. `behind` is their number.
        case nestedModifier(behind: Int)
        /// The data of a `forEach`: as `enclosing`, but `preferences` are those of the node around it, because its own
        /// come from its instances.
        case data
    }

    var kind: Kind
    /// True for modifiers at the use of a component. Of the component's names, they know the parameters alone.
    var isAtUse = false
    /// For a modifier of a group or list around a placed subview: `env` is that of the place, changed by so many of the
    /// modifiers around the subview.
    var standing: (row: NodeRow, before: Int)?

    static let own = Scope(kind: .own)
    static let enclosing = Scope(kind: .enclosing)
    static let modifier = Scope(kind: .modifier)
    static let label = Scope(kind: .label)
    static let data = Scope(kind: .data)

    static func nestedModifier(behind count: Int) -> Scope { Scope(kind: .nestedModifier(behind: count)) }

    /// The same for a modifier that is written at the use of a component, or is not.
    func atUse(_ isAtUse: Bool) -> Scope { Scope(kind: kind, isAtUse: isAtUse, standing: standing) }
}

extension Scope {
    var isOfDeclaration: Bool { if case .label = kind { true } else { false } }

    var isEnclosing: Bool {
        switch kind {
        case .enclosing, .data: true
        default: false
        }
    }
}
