/// The host behind `Graph`: rules and observers are Swift closures, values are equal by `==`.
public struct ClosureHost<Value: Equatable>: GraphHost, ~Copyable {
    @usableFromInline let table: UnsafeMutablePointer<ClosureTable<Value>>
    /// Those of the table, one step nearer.
    @usableFromInline var rows: UnsafeMutablePointer<ClosureRow>
    /// A run has created something, ever.
    @usableFromInline var hasOwners = false
    /// Errors of observers wait to be thrown.
    @usableFromInline var hasFailures = false

    @inlinable
    init() {
        table = .allocate(capacity: 1)
        table.initialize(to: ClosureTable())
        rows = table.pointee.rows
    }

    deinit {
        table.deinitialize(count: 1)
        table.deallocate()
    }

    @inlinable @inline(__always)
    public func evaluate(_ attribute: AttributeID, in core: GraphCore<ClosureHost<Value>>) throws -> Value {
        let row = rows + Int(attribute.index)
        if _slowPath(row.pointee.plainForm != .rule) { return try evaluateAnew(attribute, in: core) }
        do { return try row.closure(RuleClosure<Value>.self).pointee.run(GraphContext(core)) } catch {
            // Through the core: what is known of the host would have to be kept during the run.
            core.host.pointee.fail(attribute.index, error, in: core)
            throw error
        }
    }

    /// As `evaluate`, where the last run left something. Cleaning up may have moved the rows.
    @inlinable @inline(never)
    func evaluateAnew(_ attribute: AttributeID, in core: GraphCore<ClosureHost<Value>>) throws -> Value {
        try prepare(attribute.index, in: core)
        let row = ClosureHost.row(attribute.index, in: core)
        do { return try row.closure(RuleClosure<Value>.self).pointee.run(GraphContext(core)) } catch {
            core.host.pointee.fail(attribute.index, error, in: core)
            throw error
        }
    }

    @inlinable @inline(__always)
    public func evaluate(
        _ attribute: AttributeID, over inputs: FixedInputs<ClosureHost<Value>>, in core: GraphCore<ClosureHost<Value>>
    ) throws -> Value {
        let row = rows + Int(attribute.index)
        do {
            if _slowPath(row.pointee.plainForm == .none) { return try evaluateAnew(attribute, over: inputs, in: core) }
            return try run(attribute.index, row.pointee.plainForm, over: inputs)
        } catch {
            core.host.pointee.fail(attribute.index, error, in: core)
            throw error
        }
    }

    @inlinable @inline(never)
    func evaluateAnew(
        _ attribute: AttributeID, over inputs: FixedInputs<ClosureHost<Value>>, in core: GraphCore<ClosureHost<Value>>
    ) throws -> Value {
        try prepare(attribute.index, in: core)
        return try core.host.pointee.run(
            attribute.index, ClosureHost.row(attribute.index, in: core).pointee.form,
            over: FixedInputs(core, of: core.s.pointee.vertex(attribute.index)))
    }

    @inlinable @inline(__always)
    static func row(_ index: UInt32, in core: GraphCore<ClosureHost<Value>>) -> UnsafeMutablePointer<ClosureRow> {
        core.host.pointee.rows + Int(index)
    }

    /// Reading the inputs may evaluate something, and move the rows: the closure is looked up after that.
    @inlinable @inline(__always)
    func run(_ index: UInt32, _ form: ClosureRow.Form, over inputs: GraphInputs<Value>) throws -> Value {
        switch form {
        case .ruleOfOne:
            let value = try inputs.only()
            return try ClosureHost.row(index, in: inputs.core).closure(RuleOfOne<Value>.self).pointee.run(value)
        case .ruleOfTwo:
            let (one, two) = try inputs.both()
            return try ClosureHost.row(index, in: inputs.core).closure(RuleOfTwo<Value>.self).pointee.run(one, two)
        default:
            inputs.keep()
            return try ClosureHost.row(index, in: inputs.core).closure(RuleOfMany<Value>.self).pointee.run(inputs)
        }
    }

    @inlinable @inline(__always)
    public func observe(_ attribute: AttributeID, in core: GraphCore<ClosureHost<Value>>) {
        let row = rows + Int(attribute.index)
        if _slowPath(row.pointee.plainForm != .observer) { return observeAnew(attribute, in: core) }
        do { try row.closure(ObserverClosure<Value>.self).pointee.run(GraphContext(core)) } catch {
            core.host.pointee.fail(attribute.index, error, in: core)
        }
    }

    /// As `observe`, where the last run left something. Cleaning up may have moved the rows.
    @inlinable @inline(never)
    func observeAnew(_ attribute: AttributeID, in core: GraphCore<ClosureHost<Value>>) {
        do {
            try prepare(attribute.index, in: core)
            let row = ClosureHost.row(attribute.index, in: core)
            try row.closure(ObserverClosure<Value>.self).pointee.run(GraphContext(core))
        } catch {
            core.host.pointee.fail(attribute.index, error, in: core)
        }
    }

    @inlinable @inline(__always)
    public func observe(
        _ attribute: AttributeID, over inputs: FixedInputs<ClosureHost<Value>>, in core: GraphCore<ClosureHost<Value>>
    ) {
        let row = rows + Int(attribute.index)
        do {
            if _slowPath(row.pointee.plainForm == .none) { return try observeAnew(attribute, over: inputs, in: core) }
            try runObserver(attribute.index, row.pointee.plainForm, over: inputs)
        } catch {
            core.host.pointee.fail(attribute.index, error, in: core)
        }
    }

    @inlinable @inline(never)
    func observeAnew(
        _ attribute: AttributeID, over inputs: FixedInputs<ClosureHost<Value>>, in core: GraphCore<ClosureHost<Value>>
    ) throws {
        try prepare(attribute.index, in: core)
        try core.host.pointee.runObserver(
            attribute.index, ClosureHost.row(attribute.index, in: core).pointee.form,
            over: FixedInputs(core, of: core.s.pointee.vertex(attribute.index)))
    }

    /// As `run`, of an observer.
    @inlinable @inline(__always)
    func runObserver(_ index: UInt32, _ form: ClosureRow.Form, over inputs: GraphInputs<Value>) throws {
        switch form {
        case .observerOfOne:
            let value = try inputs.only()
            try ClosureHost.row(index, in: inputs.core).closure(ObserverOfOne<Value>.self).pointee.run(value)
        case .observerOfTwo:
            let (one, two) = try inputs.both()
            try ClosureHost.row(index, in: inputs.core).closure(ObserverOfTwo<Value>.self).pointee.run(one, two)
        default:
            inputs.keep()
            try ClosureHost.row(index, in: inputs.core).closure(ObserverOfMany<Value>.self).pointee.run(inputs)
        }
    }

    @inlinable @inline(__always)
    public func areEqual(_ old: borrowing Value, _ new: borrowing Value) -> Bool { copy old == copy new }

    /// Before a run: what the last one left is cleaned up. Throws if that destroyed the attribute, or read too deep.
    @inlinable @inline(never)
    func prepare(_ index: UInt32, in core: GraphCore<ClosureHost<Value>>) throws {
        let attribute = core.attribute(at: index)
        GraphContext(core).cleanUp(attribute)
        if core.isInterrupted { throw Interruption() }
        if !core.isAlive(attribute) { throw GraphError.removed(attribute) }
    }

    /// Keeps an error for the readers. That the run was interrupted the engine knows.
    @inlinable @inline(never)
    func fail(_ index: UInt32, _ error: any Error, in core: GraphCore<ClosureHost<Value>>) {
        guard core.isRunning(index), !core.isInterrupted else { return }
        table.pointee.makeExtras(of: index).failure = error
        guard table.pointee.row(index).pointee.form.isObserver else { return }
        table.pointee.observerFailures.append(error)
        core.host.pointee.hasFailures = true
    }

    public func value(ofCycle path: [AttributeID]) -> Value? { nil }

    public func note(_ attribute: AttributeID, onCycle path: [AttributeID]) {
        table.pointee.makeExtras(of: attribute.index).failure = GraphError.cycle(path)
    }

    public func value(ofRemoved attribute: AttributeID) throws -> Value { throw GraphError.removed(attribute) }

    public func value(ofFailed attribute: AttributeID) throws -> Value {
        throw table.pointee.failure(of: attribute.index) ?? GraphError.cycle([attribute])
    }

    @inlinable
    public func didDestroy(_ attribute: AttributeID) { ClosureTable.release(attribute.index, of: table) }
}

/// The closures of one graph by attribute, and what they own.
///
/// Lifetime: a row holds its closure from creation until `didDestroy`, which the engine never calls while the
/// closure runs; so a run borrows the closure where it lies and counts no references. The memory of the rows
/// may move during a run; the closure's own context does not.
@usableFromInline
struct ClosureTable<Value: Equatable>: ~Copyable {
    @usableFromInline var rows: UnsafeMutablePointer<ClosureRow>
    @usableFromInline var capacity = 64
    @usableFromInline var extras: [Extras] = []
    @usableFromInline var freeExtras: [UInt32] = []
    /// By row, the subgraphs that runs own, and some that are gone.
    @usableFromInline var owned: [OwnedScope] = []
    @usableFromInline var cleanupCount = 0
    @usableFromInline var observerFailures: [any Error] = []
    /// Where `scope` put its attributes, and how deep evaluation was nested then.
    @usableFromInline var scope = SubgraphID.root
    @usableFromInline var scopeDepth = 0

    @inlinable
    init() {
        rows = .allocate(capacity: capacity)
        rows.initialize(repeating: ClosureRow(), count: capacity)
    }

    @inlinable
    deinit {
        for index in 0..<capacity { ClosureTable.destroyClosure(rows + index) }
        rows.deallocate()
    }

    @inlinable @inline(__always)
    func row(_ index: UInt32) -> UnsafeMutablePointer<ClosureRow> { rows + Int(index) }

    @inlinable
    static func destroyClosure(_ row: UnsafeMutablePointer<ClosureRow>) {
        if row.pointee.form == .none { return }
        // All closures are code and context, and only the context is counted. What it lets go may use the graph, and move the
        // rows: so the row is cleared first.
        if row.pointee.context == 0 { return row.initialize(to: ClosureRow()) }
        let closure = row.closure(RuleClosure<Value>.self).move()
        row.initialize(to: ClosureRow())
        _ = consume closure
    }

    @inlinable @inline(never)
    mutating func grow(to index: UInt32) {
        let newCapacity = max(capacity * 2, Int(index) + 1)
        let larger = UnsafeMutablePointer<ClosureRow>.allocate(capacity: newCapacity)
        larger.update(from: rows, count: capacity)
        (larger + capacity).initialize(repeating: ClosureRow(), count: newCapacity - capacity)
        rows.deallocate()
        rows = larger
        capacity = newCapacity
    }

    @inlinable
    func extras(of index: UInt32) -> Extras? {
        // Inputs have no rows of their own, and may lie beyond them.
        if Int(index) >= capacity { return nil }
        let number = row(index).pointee.extras
        return number == 0 ? nil : extras[Int(number) - 1]
    }

    func failure(of index: UInt32) -> (any Error)? { extras(of: index)?.failure }

    /// The attribute whose run owns a subgraph; 0: none.
    func owner(of scope: SubgraphID) -> UInt32 {
        guard Int(scope.index) < owned.count, owned[Int(scope.index)].generation == scope.generation else { return 0 }
        return owned[Int(scope.index)].owner
    }

    mutating func setOwner(of scope: SubgraphID, to attribute: UInt32) {
        while owned.count <= Int(scope.index) { owned.append(OwnedScope()) }
        owned[Int(scope.index)] = OwnedScope(generation: scope.generation, owner: attribute)
    }

    /// A subgraph is nobody's any more. It may be gone, and its row another's.
    mutating func disown(_ scope: SubgraphID) {
        if owner(of: scope) != 0 { owned[Int(scope.index)] = OwnedScope() }
    }

    @usableFromInline
    mutating func makeExtras(of index: UInt32) -> Extras {
        let number = row(index).pointee.extras
        if number != 0 { return extras[Int(number) - 1] }
        if let reused = freeExtras.popLast() {
            row(index).pointee.setExtras(reused)
            return extras[Int(reused) - 1]
        }
        let new = Extras()
        extras.append(new)
        row(index).pointee.setExtras(UInt32(extras.count))
        return new
    }

    @usableFromInline
    mutating func releaseExtras(_ number: UInt32) -> Extras {
        let old = extras[Int(number) - 1]
        if let scope = old.scope { disown(scope) }
        cleanupCount -= old.cleanups.count
        extras[Int(number) - 1] = Extras()
        freeExtras.append(number)
        return old
    }

    /// Empties the row of an attribute that is gone.
    @inlinable
    static func release(_ index: UInt32, of table: UnsafeMutablePointer<ClosureTable>) {
        guard Int(index) < table.pointee.capacity else { return }
        let row = table.pointee.row(index)
        if _slowPath(row.pointee.extras != 0) { return releaseWithExtras(index, of: table) }
        destroyClosure(row)
    }

    /// As `release`. What has been registered since the cleanups of something that goes were done is done last: by what its scope
    /// held, when that went.
    @inlinable @inline(never)
    static func releaseWithExtras(_ index: UInt32, of table: UnsafeMutablePointer<ClosureTable>) {
        let row = table.pointee.row(index)
        let extras = table.pointee.releaseExtras(row.pointee.extras)
        destroyClosure(row)
        while let cleanup = extras.cleanups.popLast() { cleanup() }
    }
}

/// 16 bytes that hold a closure, and what is known of it.
@usableFromInline
struct ClosureRow: BitwiseCopyable {
    @usableFromInline var code: UInt = 0
    @usableFromInline var context: UInt = 0
    /// Place in the table of extras, from 1; 0: none, as nearly always.
    @usableFromInline var extras: UInt32 = 0
    @usableFromInline var form = Form.none
    /// As `form`, but `none` of one with extras: these are seen to before it runs.
    @usableFromInline var plainForm = Form.none

    @inlinable @inline(__always)
    init() {}

    @usableFromInline
    mutating func setExtras(_ place: UInt32) {
        extras = place
        plainForm = .none
    }

    /// What kind of closure it is: how it is called, and with what.
    @usableFromInline
    enum Form: UInt8, BitwiseCopyable {
        case none, rule, ruleOfOne, ruleOfTwo, ruleOfMany, observer, observerOfOne, observerOfTwo, observerOfMany

        @inlinable
        var isObserver: Bool { rawValue >= Form.observer.rawValue }
    }
}

/// A subgraph of a row that a run owns. Of another generation nobody is the owner.
@usableFromInline
struct OwnedScope: BitwiseCopyable {
    @usableFromInline var generation: UInt32 = 0
    /// The row of the attribute; 0: none.
    @usableFromInline var owner: UInt32 = 0
}

/// What few attributes have: things made while their closure ran, and an error.
@usableFromInline
final class Extras {
    @usableFromInline var scope: SubgraphID?
    @usableFromInline var cleanups: [() -> Void] = []
    @usableFromInline var failure: (any Error)?

    @usableFromInline init() {}
}
