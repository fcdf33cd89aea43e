import AttributeGraph

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
/// An *input* is set from outside, a *rule* is computed when it is read and kept until something it read has changed,
/// an *observer* runs at once and again after every batch that changed something it read. Rules and observers are
/// made over fixed inputs, whose values their closures get; or their closures get a `GraphContext`, through which
/// everything they depend on must be read, and can choose. A closure should not capture the graph itself, which would
/// keep the graph alive for ever. Rules must not write, nor may the `deinit` of a value use the graph. Values of
/// several types in one graph are an enum's cases.
///
/// A rule that throws keeps its error as a value keeps its place: readers get it thrown until something the rule
/// read has changed. A cycle is such an error, `GraphError.cycle`, for each of its members.
///
/// Attributes live as long as the graph, the `scope` they were made in, or the run of the rule or observer that made
/// them. A graph belongs to one thread at a time.
public final class Graph<Value: Equatable>: GraphAccess {
    public let context: GraphContext<Value>

    @inlinable
    public init() {
        context = GraphContext(GraphCore(host: ClosureHost()))
    }

    deinit { context.core.deallocate() }
}

/// What a closure sees of its graph. One can copy it freely but must not keep it beyond the graph's life.
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

/// The operations of a graph, the same from outside and inside a closure.
public protocol GraphAccess<Value> {
    associatedtype Value: Equatable
    var context: GraphContext<Value> { get }
}

extension GraphAccess {
    // MARK: Reading

    /// The attribute's value, evaluated if need be; inside a rule or observer also a dependency.
    ///
    /// - Throws: the error its rule threw; `GraphError.removed`.
    @inlinable @inline(__always)
    public func read(_ attribute: AttributeID) throws -> Value { try context.core.read(attribute) }

    /// Short for `read`.
    @inlinable @inline(__always)
    public subscript(attribute: AttributeID) -> Value {
        @inline(__always) get throws { try context.core.read(attribute) }
    }

    /// As `read`, but lends the value instead of copying it: for values that are dear to copy. The body must not use
    /// the graph.
    @inlinable @inline(__always)
    public func withRead<Result>(_ attribute: AttributeID, _ body: (borrowing Value) throws -> Result) throws -> Result
    {
        try context.core.withRead(attribute, body)
    }

    /// The attribute's value without a dependency.
    @inlinable @inline(__always)
    public func peek(_ attribute: AttributeID) throws -> Value { try context.core.readUntracked(attribute) }

    /// Runs the body with its own reads untracked; what rules read that it causes to run is tracked as ever.
    @inlinable
    public func untracked<Result>(_ body: () throws -> Result) rethrows -> Result {
        try context.core.withoutTracking(body)
    }

    // MARK: Writing

    /// Gives an input a value and, outside a batch, runs the observers that are affected. An equal value does nothing.
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
    /// The observers run even if the body throws; its error comes first. Otherwise throws as `set` does.
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
