@testable import ViewGraph

/// Tests number the nodes that they make.
extension NodeRow: ExpressibleByIntegerLiteral {
    public init(integerLiteral row: UInt32) { self.init(index: row) }
}
