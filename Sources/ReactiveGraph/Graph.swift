@_exported public import AttributeGraph

/// A reactive graph over one type of values, with Swift closures as rules.
///
/// ```swift
/// let graph = Graph<Int>()
/// let width = graph.input(3)
/// let height = graph.input(4)
/// let area = graph.rule(width, height) { $0 * $1 }
/// let side = graph.rule { try $0[area] > 20 ? $0[width] : $0[height] }
/// try graph.observe(area) { print($0) }        // 12
/// try graph.set(width, 5)                      // 20
/// try graph.batch {                            // 42, once
///     try graph.set(width, 6)
///     try graph.set(height, 7)
/// }
/// ```
///
/// An *input* is set from outside. A *rule* is computed when it is read, and its value is retained until something that
/// it read has changed. An *observer* runs at once, and again after every batch that has changed something that it
/// read. Rules and observers are made over fixed inputs, whose values their closures get; or their closures get a
/// `GraphContext`, with which they must read everything that they depend on. A closure should not capture the graph
/// itself, which would keep the graph alive for ever. Rules must not write, and the `deinit` of a value must not use
/// the graph. For values of several types in one graph, use an enum.
///
/// A rule that throws has an error in place of a value. Its readers get the error until something that the rule read
/// has changed. All members of a cycle have the error `GraphError.cycle`.
///
/// An attribute lives as long as the graph, the `scope` in which it was made, or the run of the rule or observer that
/// made it. A graph belongs to one thread at a time.
public final class Graph<Value: Equatable>: GraphAccess {
    public let context: GraphContext<Value>

    @inlinable
    public init() {
        context = GraphContext(GraphCore(host: ClosureHost()))
    }

    deinit { context.core.deallocate() }
}

/// The graph as a closure sees it. It can be copied freely, but must not be used after the graph's end.
@frozen
public struct GraphContext<Value: Equatable>: GraphAccess {
    /// The engine beneath, for counters, reports, dumps and the invariant check.
    public let core: GraphCore<ClosureHost<Value>>

    @inlinable @inline(__always)
    init(_ core: GraphCore<ClosureHost<Value>>) { self.core = core }

    @inlinable @inline(__always)
    var table: UnsafeMutablePointer<ClosureTable<Value>> { core.host.pointee.table }

    @inlinable @inline(__always)
    public var context: GraphContext<Value> { self }
}

/// The operations of a graph. They are the same outside and inside a closure.
public protocol GraphAccess<Value> {
    associatedtype Value: Equatable
    var context: GraphContext<Value> { get }
}

extension GraphAccess {
    // MARK: Reading

    /// The attribute's value, evaluated if necessary. Inside a rule or observer, the read adds a dependency.
    ///
    /// - Throws: the error its rule threw; `GraphError.removed`.
    @inlinable @inline(__always)
    public func read(_ attribute: AttributeID) throws -> Value { try context.core.read(attribute) }

    /// Short for `read`.
    @inlinable @inline(__always)
    public subscript(attribute: AttributeID) -> Value {
        @inline(__always) get throws { try context.core.read(attribute) }
    }

    /// As `read`, but lends the value instead of copying it, for values that are expensive to copy. The body must not
    /// use the graph.
    @inlinable @inline(__always)
    public func withRead<Result>(_ attribute: AttributeID, _ body: (borrowing Value) throws -> Result) throws -> Result
    {
        try context.core.withRead(attribute, body)
    }

    /// The attribute's value without a dependency.
    @inlinable @inline(__always)
    public func peek(_ attribute: AttributeID) throws -> Value { try context.core.readUntracked(attribute) }

    /// Runs the body with its own reads untracked. Reads of rules that run because of it are tracked as usual.
    @inlinable
    public func untracked<Result>(_ body: () throws -> Result) rethrows -> Result {
        try context.core.withoutTracking(body)
    }

    // MARK: Writing

    /// Sets an input and, outside a batch, runs the observers that are affected. An equal value does nothing.
    ///
    /// - Throws: `GraphError.removed`; `GraphError.writeDuringEvaluation` inside a rule; `GraphError.unsettled`; the
    ///   first error of an observer that ran. In the last two cases the write has taken place.
    @inlinable
    public func set(_ input: AttributeID, _ value: Value) throws {
        let context = context
        if _fastPath(context.core.isPlainWrite(to: input)) {
            if context.core.put(input, value) == .uncommitted { try context.commit(input.index) }
        } else {
            try context.setWithCare(input, value)
        }
    }

    /// Runs the body as one batch: observers run once, after it. Reads inside see the writes so far.
    ///
    /// The observers run even if the body throws; then its error is thrown. Otherwise throws as `set` does.
    @inlinable @inline(__always)
    public func batch<Result>(_ body: () throws -> Result) throws -> Result {
        context.core.beginBatch()
        let result: Result
        do { result = try body() } catch {
            try? context.closeBatch()
            throw error
        }
        try context.closeBatch()
        return result
    }
}
