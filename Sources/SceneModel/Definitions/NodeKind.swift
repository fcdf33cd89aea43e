public enum NodeKind: String, CaseIterable, Sendable {
    case view, container, group, section, forEach
    /// An `if` or `switch`, and what it makes. Paths do not name them, and nobody is told of them.
    case choice, branch

    /// Those that documents can write.
    public static let written = allCases.filter { !$0.isTransparent }

    /// True for nodes whose children count as their parent's in paths.
    public var isTransparent: Bool { self == .choice || self == .branch }

    /// True for nodes whose children are made from data.
    public var isMadeFromData: Bool { self == .forEach || self == .choice }
}
