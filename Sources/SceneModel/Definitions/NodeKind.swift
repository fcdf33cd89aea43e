public enum NodeKind: String, CaseIterable, Sendable {
    case view, container, group, section, forEach
    /// A choice, such as `if` or `switch`, and the branch that it makes. Paths do not name them.
    case choice, branch

    /// The kinds that documents can write.
    public static let written = allCases.filter { !$0.isTransparent }

    /// True for nodes whose children count as their parent's in paths.
    public var isTransparent: Bool { self == .choice || self == .branch }

    /// True for nodes whose children are made from data.
    public var isMadeFromData: Bool { self == .forEach || self == .choice }
}
