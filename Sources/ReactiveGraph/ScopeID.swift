/// Names one scope: a set of attributes and further scopes that are destroyed together.
@frozen
public struct ScopeID: Hashable, Sendable, CustomStringConvertible {
    public let index: UInt32
    public let generation: UInt32

    @inlinable
    public init(index: UInt32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    /// The scope in which every graph begins. It cannot be destroyed, and does not list its content.
    @inlinable
    public static var root: ScopeID { ScopeID(index: 0, generation: 1) }

    public var description: String { "scope \(index).\(generation)" }
}
