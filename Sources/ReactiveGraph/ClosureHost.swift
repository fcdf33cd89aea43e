import AttributeGraph

/// The host of `Graph`: rules and observers are Swift closures, and values are compared by `==`.
public struct ClosureHost<Value: Equatable>: GraphHost, ~Copyable {
    @usableFromInline let table: UnsafeMutablePointer<ClosureTable<Value>>
    /// The table's rows, one step nearer.
    @usableFromInline var rows: UnsafeMutablePointer<ClosureRow>
    /// Some run has created something.
    @usableFromInline var hasOwners = false
    /// Errors of observers wait to be thrown.
    @usableFromInline var hasFailures = false
    /// True while observers are run. A closure that is freed meanwhile may use the graph, but starts no observer.
    @usableFromInline var runsObservers = false

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
        do {
            if _slowPath(row.pointee.hasExtras) { return try evaluateAnew(attribute, in: core) }
            return try run(attribute.index, row.pointee.form, in: core)
        } catch {
            // Through `core`: otherwise fields of the host would have to stay in registers during the run.
            core.host.pointee.fail(attribute.index, error, in: core)
            throw error
        }
    }

    /// As `evaluate`, if the last run has left extras. Cleaning up may move the rows.
    @inlinable @inline(never)
    func evaluateAnew(_ attribute: AttributeID, in core: GraphCore<ClosureHost<Value>>) throws -> Value {
        try prepare(attribute.index, in: core)
        return try core.host.pointee.run(
            attribute.index, ClosureHost.row(attribute.index, in: core).pointee.form, in: core)
    }

    @inlinable @inline(__always)
    static func row(_ index: UInt32, in core: GraphCore<ClosureHost<Value>>) -> UnsafeMutablePointer<ClosureRow> {
        core.host.pointee.rows + Int(index)
    }

    /// Reading fixed inputs may evaluate rules and move the rows, so the closure is looked up afterwards.
    @inlinable @inline(__always)
    func run(_ index: UInt32, _ form: ClosureRow.Form, in core: GraphCore<ClosureHost<Value>>) throws -> Value {
        switch form {
        case .rule: return try (rows + Int(index)).closure(RuleClosure<Value>.self).pointee.run(GraphContext(core))
        case .ruleOfOne:
            let value = try GraphInputs(core, of: index).only()
            return try ClosureHost.row(index, in: core).closure(RuleOfOne<Value>.self).pointee.run(value)
        case .ruleOfTwo:
            let (one, two) = try GraphInputs(core, of: index).both()
            return try ClosureHost.row(index, in: core).closure(RuleOfTwo<Value>.self).pointee.run(one, two)
        default:
            return try (rows + Int(index)).closure(RuleOfMany<Value>.self).pointee.run(GraphInputs(core, of: index))
        }
    }

    @inlinable @inline(__always)
    public func observe(_ attribute: AttributeID, in core: GraphCore<ClosureHost<Value>>) {
        let row = rows + Int(attribute.index)
        do {
            if _slowPath(row.pointee.hasExtras) { return try observeAnew(attribute, in: core) }
            try runObserver(attribute.index, row.pointee.form, in: core)
        } catch {
            core.host.pointee.fail(attribute.index, error, in: core)
        }
    }

    /// As `observe`, if the last run has left extras. Cleaning up may move the rows.
    @inlinable @inline(never)
    func observeAnew(_ attribute: AttributeID, in core: GraphCore<ClosureHost<Value>>) throws {
        try prepare(attribute.index, in: core)
        try core.host.pointee.runObserver(
            attribute.index, ClosureHost.row(attribute.index, in: core).pointee.form, in: core)
    }

    /// As `run`, for an observer.
    @inlinable @inline(__always)
    func runObserver(_ index: UInt32, _ form: ClosureRow.Form, in core: GraphCore<ClosureHost<Value>>) throws {
        switch form {
        case .observer: try (rows + Int(index)).closure(ObserverClosure<Value>.self).pointee.run(GraphContext(core))
        case .observerOfOne:
            let value = try GraphInputs(core, of: index).only()
            try ClosureHost.row(index, in: core).closure(ObserverOfOne<Value>.self).pointee.run(value)
        case .observerOfTwo:
            let (one, two) = try GraphInputs(core, of: index).both()
            try ClosureHost.row(index, in: core).closure(ObserverOfTwo<Value>.self).pointee.run(one, two)
        default: try (rows + Int(index)).closure(ObserverOfMany<Value>.self).pointee.run(GraphInputs(core, of: index))
        }
    }

    @inlinable @inline(__always)
    public func areEqual(_ old: borrowing Value, _ new: borrowing Value) -> Bool { copy old == copy new }

    /// Before a run: cleans up after the last one. Throws if that destroyed the attribute, or read too deep.
    @inlinable @inline(never)
    func prepare(_ index: UInt32, in core: GraphCore<ClosureHost<Value>>) throws {
        let attribute = core.attribute(at: index)
        GraphContext(core).cleanUp(attribute)
        if core.isInterrupted { throw Interruption() }
        if !core.isAlive(attribute) { throw GraphError.removed(attribute) }
    }

    /// Stores an error for the readers, unless the run was interrupted.
    @inlinable @inline(never)
    func fail(_ index: UInt32, _ error: any Error, in core: GraphCore<ClosureHost<Value>>) {
        guard !core.isCondemned(index), !core.isInterrupted else { return }
        table.pointee.makeExtras(of: index).failure = error
        guard table.pointee.row(index).pointee.form.isObserver else { return }
        table.pointee.observerFailures.append(error)
        core.host.pointee.hasFailures = true
    }

    public func value(ofCycle path: [AttributeID]) -> Value? { nil }

    @usableFromInline
    func noteLoss(of input: AttributeID, by reader: UInt32, at position: UInt32) {
        table.pointee.lostInputs[LostInput(reader: reader, position: position)] = input
    }

    @inlinable
    public func note(loss input: AttributeID, of reader: UInt32, at position: UInt32) {
        noteLoss(of: input, by: reader, at: position)
    }

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

/// The closures of one graph by attribute, with their extras and scopes.
///
/// Lifetime: a row owns its closure from its creation until `didDestroy`, which the engine never calls while the
/// closure runs. So a run borrows the closure in place and counts no references. The memory of the rows may move during
/// a run; the closure's context does not.
@usableFromInline
struct ClosureTable<Value: Equatable>: ~Copyable {
    @usableFromInline var rows: UnsafeMutablePointer<ClosureRow>
    @usableFromInline var capacity = 64
    @usableFromInline var extras: [Extras] = []
    @usableFromInline var freeExtras: [UInt32] = []
    @usableFromInline var cleanupCount = 0
    @usableFromInline var observerFailures: [any Error] = []
    /// The scope that `scope` has opened, and the depth of evaluation when it was opened.
    @usableFromInline var openScope = ScopeID.root
    @usableFromInline var openScopeDepth = 0
    @usableFromInline var scopes = Buffer<ScopeRow>(capacity: 16)
    @usableFromInline var freeScope: UInt32 = 0
    /// The steps of all orders, and `edgeChanges` when they were made.
    @usableFromInline var steps = Buffer<UInt32>(capacity: 64)
    @usableFromInline var edgeChangesAtOrders = UInt64.max
    /// The number of updates that followed an order to its end.
    @usableFromInline var followed: UInt64 = 0
    /// Ids of destroyed fixed inputs; nearly always empty.
    @usableFromInline var lostInputs: [LostInput: AttributeID] = [:]
    /// The address on the machine's stack where the outermost of the observers began that are being made inside runs;
    /// 0: there is none.
    @usableFromInline var outermostNewObserver: UInt = 0

    @inlinable
    init() {
        rows = .allocate(capacity: capacity)
        rows.initialize(repeating: ClosureRow(), count: capacity)
        scopes.append(ScopeRow(generation: 1, parent: 0, maker: 0))
        steps.append(0)
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
        // All closures are code and context, and only the context is counted. When the context is freed, the objects in
        // it may use the graph and move the rows. So the row is cleared first.
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
        // Inputs have no closures, so their rows may be beyond the table.
        if Int(index) >= capacity { return nil }
        let number = row(index).pointee.extras
        return number == 0 ? nil : extras[Int(number) - 1]
    }

    @usableFromInline
    mutating func forgetLosses(of reader: UInt32) { lostInputs = lostInputs.filter { $0.key.reader != reader } }

    func failure(of index: UInt32) -> (any Error)? { extras(of: index)?.failure }

    /// The attribute whose runs create the content of a scope; 0: none.
    func owner(of scope: ScopeID) -> UInt32 { isAlive(scope) ? scopes.base[Int(scope.index)].owner : 0 }

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
        if let scope = old.scope, isAlive(scope) { scopes.base[Int(scope.index)].owner = 0 }
        cleanupCount -= old.cleanups.count
        extras[Int(number) - 1] = Extras()
        freeExtras.append(number)
        return old
    }

    /// Clears the row of a destroyed attribute.
    @inlinable
    static func release(_ index: UInt32, of table: UnsafeMutablePointer<ClosureTable>) {
        guard Int(index) < table.pointee.capacity else { return }
        let row = table.pointee.row(index)
        table.pointee.delist(index)
        if _slowPath(!table.pointee.lostInputs.isEmpty) { table.pointee.forgetLosses(of: index) }
        if _slowPath(row.pointee.extras != 0) { return releaseWithExtras(index, of: table) }
        destroyClosure(row)
    }

    /// As `release`. While a scope was freed, its objects may have registered further cleanups; these are done last.
    @inlinable @inline(never)
    static func releaseWithExtras(_ index: UInt32, of table: UnsafeMutablePointer<ClosureTable>) {
        let row = table.pointee.row(index)
        let extras = table.pointee.releaseExtras(row.pointee.extras)
        destroyClosure(row)
        while let cleanup = extras.cleanups.popLast() { cleanup() }
    }
}

/// The data about an attribute: the 16 bytes of its closure, and its place in its scope. An input has its order in
/// place of a closure.
@usableFromInline
struct ClosureRow: BitwiseCopyable {
    @usableFromInline var code: UInt = 0
    @usableFromInline var context: UInt = 0
    /// The form of the closure in the lowest byte; above it the index in the table of extras, from 1. 0: no extras, as
    /// nearly always.
    @usableFromInline var formAndExtras: UInt32 = 0
    /// The scope that lists the attribute, and its neighbours in the list; 0: the root, which has no list.
    @usableFromInline var scope: UInt32 = 0
    @usableFromInline var next: UInt32 = 0
    @usableFromInline var previous: UInt32 = 0

    @inlinable @inline(__always)
    init() {}

    @inlinable @inline(__always)
    var hasExtras: Bool { formAndExtras > 0xff }

    @inlinable
    var extras: UInt32 { formAndExtras >> 8 }

    @usableFromInline
    mutating func setExtras(_ place: UInt32) {
        precondition(place < 1 << 24, "sixteen million closures may leave something behind at once")
        formAndExtras = formAndExtras & 0xff | place << 8
    }

    @inlinable @inline(__always)
    var form: Form {
        get { unsafeBitCast(UInt8(truncatingIfNeeded: formAndExtras), to: Form.self) }
        set { formAndExtras = formAndExtras & ~0xff | UInt32(newValue.rawValue) }
    }

    /// For an input: `edgeChanges` at its last write.
    @inlinable @inline(__always)
    var edgeChangesAtWrite: UInt64 {
        get { UInt64(code) }
        set { code = UInt(newValue) }
    }

    /// For an input: the start of its order, valid while no edge has changed since that write; 0: not known.
    @inlinable @inline(__always)
    var order: Int {
        get { Int(bitPattern: context) }
        set { context = UInt(bitPattern: newValue) }
    }

    /// The input has no order.
    @inlinable static var noOrder: Int { -1 }

    @inlinable @inline(__always)
    var hasOrder: Bool { order > 0 }

    /// The kind of the closure, which decides how it is called.
    @usableFromInline
    enum Form: UInt8, BitwiseCopyable {
        case none, rule, ruleOfOne, ruleOfTwo, ruleOfMany, observer, observerOfOne, observerOfTwo, observerOfMany

        @inlinable
        var isObserver: Bool { rawValue >= Form.observer.rawValue }
    }
}

/// Data that few attributes have: things made while their closure ran, and an error.
@usableFromInline
final class Extras {
    @usableFromInline var scope: ScopeID?
    @usableFromInline var cleanups: [() -> Void] = []
    @usableFromInline var failure: (any Error)?

    @usableFromInline init() {}
}
