/// A right of a client on a part of the tree. Each right includes those before it.
public enum AccessRight: String, CaseIterable, Comparable, Sendable {
    /// See and watch values and definitions.
    case read
    /// Call actions.
    case `do`
    /// Change values.
    case write
    /// Create, change and remove nodes and attributes.
    case define
    /// Control the daemon as a whole.
    case admin

    public static func < (a: AccessRight, b: AccessRight) -> Bool { a.rank < b.rank }

    private var rank: Int {
        switch self {
        case .read: 0
        case .do: 1
        case .write: 2
        case .define: 3
        case .admin: 4
        }
    }
}
