public import AttributeGraph

/// A graph whose rules are closures, for the tests and the benchmark of the engine.
///
/// An *observer* is a rule that is read at once after each write or batch that may have changed it. Closures must not
/// capture the graph strongly; they get the engine.
public final class ClosureGraph<Value: Equatable> {
    public typealias Core = GraphCore<ClosureHost<Value>>
    public typealias Rule = (Core) throws -> Value

    public let core: Core
    private var isBatch = false
    private var due: [AttributeID] = []

    @inlinable
    public init() { core = GraphCore(host: ClosureHost()) }

    deinit { core.deallocate() }

    @inlinable
    public func input(_ value: Value) -> AttributeID { core.createInput(value) }

    @inlinable
    public func rule(_ body: @escaping Rule) -> AttributeID { core.createRule(body) }

    /// Makes a rule and observes it. Its error is the host's to remember, and is thrown by a read.
    @inlinable
    @discardableResult
    public func observe(_ body: @escaping Rule) -> AttributeID {
        let rule = core.createRule(body)
        core.watch(rule)
        _ = try? core.readUntracked(rule)
        return rule
    }

    @inlinable
    public func read(_ attribute: AttributeID) throws -> Value { try core.readUntracked(attribute) }

    @inlinable
    public func set(_ input: AttributeID, _ value: Value) throws {
        if try core.set(input, value), core.mayHaveReports { update() }
    }

    /// Runs the body as one batch, and then the observers.
    @inlinable
    public func batch<Result>(_ body: () throws -> Result) rethrows -> Result {
        beginBatch()
        defer { endBatch() }
        return try body()
    }

    @usableFromInline
    func beginBatch() {
        isBatch = true
        core.beginBatch()
    }

    @usableFromInline
    func endBatch() {
        core.endBatch()
        isBatch = false
        if core.mayHaveReports { update() }
    }

    /// Destroys attributes, and updates the observers that this concerns.
    public func remove(_ attributes: [AttributeID]) {
        for attribute in attributes where core.isAlive(attribute) {
            core.destroy(attribute)
            core.host.pointee.table.forget(attribute.index)
        }
        update()
    }

    /// Makes a rule run again, as if its closure were another one.
    public func redefine(_ rule: AttributeID) throws {
        try core.invalidate(rule)
        update()
    }

    /// Reads the observers that have been reported.
    @usableFromInline
    func update() {
        if isBatch { return }
        core.drainInvalidated(into: &due)
        for observer in due { _ = try? core.readUntracked(observer) }
        due.removeAll(keepingCapacity: true)
    }
}

/// The error of the members of a cycle, in the order in which they read one another.
public struct CycleError: Error, Equatable {
    public let path: [AttributeID]

    public init(_ path: [AttributeID]) { self.path = path }
}

/// The host of `ClosureGraph`.
public struct ClosureHost<Value: Equatable>: GraphHost, ~Copyable {
    @usableFromInline let table = ClosureTable<Value>()

    @inlinable
    init() {}

    @inlinable
    public func evaluate(_ attribute: AttributeID, in core: GraphCore<ClosureHost<Value>>) throws -> Value {
        guard let rule = table.rules[Int(attribute.index)] else { throw GraphError.removed(attribute) }
        do { return try rule._withUnsafeGuaranteedRef { try $0.run(core) } } catch {
            table.note(error, of: attribute)
            throw error
        }
    }

    @inlinable
    public func areEqual(_ old: borrowing Value, _ new: borrowing Value) -> Bool { copy old == copy new }

    public func value(ofCycle path: [AttributeID]) -> Value? { nil }

    public func note(_ attribute: AttributeID, onCycle path: [AttributeID]) {
        table.note(CycleError(path), of: attribute)
    }

    public func value(ofRemoved attribute: AttributeID) throws -> Value { throw GraphError.removed(attribute) }

    public func value(ofFailed attribute: AttributeID) throws -> Value {
        throw table.failures[attribute.index] ?? CycleError([attribute])
    }
}

/// The closures by row, and the errors that they threw last.
///
/// Lifetime: a row owns its closure until its attribute is destroyed, which never happens while a rule runs. So a run
/// borrows the closure.
@usableFromInline
final class ClosureTable<Value: Equatable> {
    @usableFromInline var rules: [Unmanaged<Closure<Value>>?] = []
    private(set) var failures: [UInt32: any Error] = [:]

    @inlinable
    init() {}

    deinit { for rule in rules { rule?.release() } }

    @inlinable
    func keep(_ body: @escaping ClosureGraph<Value>.Rule, at index: UInt32) {
        while rules.count <= Int(index) { rules.append(nil) }
        rules[Int(index)] = .passRetained(Closure(body))
    }

    func forget(_ index: UInt32) {
        failures[index] = nil
        guard index < rules.count else { return }
        let rule = rules[Int(index)]
        rules[Int(index)] = nil
        rule?.release()
    }

    @usableFromInline
    func note(_ error: any Error, of attribute: AttributeID) {
        if !(error is Interruption) { failures[attribute.index] = error }
    }
}

@usableFromInline
final class Closure<Value: Equatable> {
    @usableFromInline let run: ClosureGraph<Value>.Rule

    @inlinable
    init(_ run: @escaping ClosureGraph<Value>.Rule) { self.run = run }
}

extension GraphCore where Host: ~Copyable {
    /// Makes a rule that runs a closure.
    @inlinable
    public func createRule<Value: Equatable>(_ body: @escaping ClosureGraph<Value>.Rule) -> AttributeID
    where Host == ClosureHost<Value> {
        let rule = createRule()
        host.pointee.table.keep(body, at: rule.index)
        return rule
    }
}
