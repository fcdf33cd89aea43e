/// What a client may be allowed to do with a part of the tree. Each right includes those before it.
public enum AccessRight: String, CaseIterable, Comparable, Sendable {
    /// See values and definitions, and watch them.
    case read
    /// Change values.
    case write
    /// Change what nodes and attributes there are.
    case define
    /// Whatever concerns the daemon as a whole.
    case admin

    public static func < (a: AccessRight, b: AccessRight) -> Bool { a.rank < b.rank }

    private var rank: Int {
        switch self {
        case .read: 0
        case .write: 1
        case .define: 2
        case .admin: 3
        }
    }
}
