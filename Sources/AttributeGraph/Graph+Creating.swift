extension GraphAccess {
    /// Creates an input.
    @inlinable
    public func input(_ value: Value) -> AttributeID {
        context.core.createInput(value, in: context.currentSubgraph())
    }

    /// Creates a rule. It first runs when it is first read.
    @inlinable
    public func rule(_ body: consuming @escaping (GraphContext<Value>) throws -> Value) -> AttributeID {
        let context = context
        let attribute = context.core.createRule(in: context.currentSubgraph())
        context.row(for: attribute).install(RuleClosure(body))
        return attribute
    }

    /// Creates an observer and runs it, now also inside a batch.
    ///
    /// - Throws: what its first run throws; `GraphError.tooDeep`; the observer is gone then.
    @inlinable
    @discardableResult
    public func observe(_ body: consuming @escaping (GraphContext<Value>) throws -> Void) throws -> AttributeID {
        try context.makeObserver(ObserverClosure(body), over: EmptyCollection())
    }

    // MARK: Over fixed inputs

    /// Creates a rule that computes its value from that of one attribute, and reads nothing else.
    ///
    /// Nothing is tracked while it runs, so it costs less than one that reads through a context. If the input has
    /// failed, the rule fails with the same error and does not run.
    @inlinable
    public func rule(_ input: AttributeID, _ body: consuming @escaping (Value) throws -> Value) -> AttributeID {
        context.makeRule(RuleOfOne(body), over: CollectionOfOne(input))
    }

    /// Creates a rule that computes its value from those of two attributes, and reads nothing else. Both are brought up to
    /// date before it runs. If one has failed, the rule fails with its error and does not run.
    @inlinable
    public func rule(_ one: AttributeID, _ two: AttributeID, _ body: consuming @escaping (Value, Value) throws -> Value)
        -> AttributeID
    {
        context.makeRule(RuleOfTwo(body), over: Pair(one, two))
    }

    /// Creates a rule that computes its value from those of any number of attributes, and reads nothing else. All are brought
    /// up to date before it runs, also those that have failed; reading these throws.
    @inlinable
    public func rule(
        over inputs: some Collection<AttributeID>, _ body: consuming @escaping (GraphInputs<Value>) throws -> Value
    ) -> AttributeID {
        context.makeRule(RuleOfMany(body), over: inputs)
    }

    /// Creates an observer of one attribute, and runs it. It is tracked by that alone, whatever it reads.
    ///
    /// - Throws: what its first run throws, or the error of the attribute; the observer is gone then.
    @inlinable
    @discardableResult
    public func observe(_ input: AttributeID, _ body: consuming @escaping (Value) throws -> Void) throws -> AttributeID
    {
        try context.makeObserver(ObserverOfOne(body), over: CollectionOfOne(input))
    }

    /// As with one, of two attributes: it runs when either has changed.
    @inlinable
    @discardableResult
    public func observe(
        _ one: AttributeID, _ two: AttributeID, _ body: consuming @escaping (Value, Value) throws -> Void
    ) throws -> AttributeID {
        try context.makeObserver(ObserverOfTwo(body), over: Pair(one, two))
    }

    /// As with one, of any number of attributes: it runs when one of them has changed.
    @inlinable
    @discardableResult
    public func observe(
        over inputs: some Collection<AttributeID>, _ body: consuming @escaping (GraphInputs<Value>) throws -> Void
    ) throws -> AttributeID {
        try context.makeObserver(ObserverOfMany(body), over: inputs)
    }

    /// Registers what is to be done before the running rule or observer runs again or goes. The last registered is
    /// done first, after everything its owner created has been cleaned up. Its reads are not tracked. Outside a
    /// closure it has no effect.
    public func onCleanup(_ body: @escaping () -> Void) { context.addCleanup(body) }

    /// Runs the body; what it creates belongs to the scope and goes when that is disposed of. A scope made by a rule or
    /// observer goes with the run that made it. If the body throws, what it has created goes at once.
    @inlinable
    public func scope<Result>(_ body: () throws -> Result) throws -> (scope: SubgraphID, result: Result) {
        let context = context
        let scope = context.core.createSubgraph(in: context.currentSubgraph())
        let (outer, depth) = (context.table.pointee.scope, context.table.pointee.scopeDepth)
        context.table.pointee.scope = scope
        context.table.pointee.scopeDepth = context.core.stackDepth
        defer {
            context.table.pointee.scope = outer
            context.table.pointee.scopeDepth = depth
            context.leaveLostScope()
        }
        do { return (scope, try body()) } catch {
            try? context.dispose(scope)
            throw error
        }
    }

    /// Destroys an attribute with all that its runs created. Readers run again and get `GraphError.removed`. An observer
    /// may dispose of itself: its run goes on and is its last. During a run the attribute reads as removed at once; its readers run
    /// again, and what its closure holds is let go, when that run is over.
    ///
    /// - Throws: errors of observers that run because of it.
    public func dispose(_ attribute: AttributeID) throws {
        guard context.core.isAlive(attribute) else { return }
        context.core.beginBatch()
        context.cleanUpForGood(attribute)
        context.core.destroy(attribute)
        context.core.endBatch()
        try context.flush()
    }

    /// Destroys a scope with all that was created in it, the youngest first.
    ///
    /// - Throws: errors of observers outside that run because of it.
    @inlinable
    public func dispose(_ scope: SubgraphID) throws {
        let context = context
        guard context.core.isAlive(scope) else { return }
        context.core.beginBatch()
        if context.table.pointee.cleanupCount != 0 { context.runCleanups(in: scope) }
        context.leave(scope)
        context.core.destroy(scope)
        context.core.endBatch()
        try context.flush()
    }

    /// The error that the last run of a rule or observer ended with.
    public func failure(of attribute: AttributeID) -> (any Error)? {
        context.core.isAlive(attribute) ? context.table.pointee.failure(of: attribute.index) : nil
    }
}

/// The values that a rule or observer over fixed inputs computes from.
public typealias GraphInputs<Value: Equatable> = FixedInputs<ClosureHost<Value>>

extension GraphContext {
    /// Where the closure of a new attribute goes.
    @inlinable @inline(__always)
    func row(for attribute: AttributeID) -> UnsafeMutablePointer<ClosureRow> {
        if _slowPath(Int(attribute.index) >= table.pointee.capacity) { growRows(to: attribute.index) }
        return table.pointee.row(attribute.index)
    }

    @inlinable @inline(__always)
    func makeRule<Closure: RowClosure & ~Copyable>(
        _ closure: consuming Closure, over inputs: some Collection<AttributeID>
    ) -> AttributeID {
        let attribute = core.createRule(in: currentSubgraph(), over: inputs)
        row(for: attribute).install(closure)
        return attribute
    }

    /// Makes an observer and runs it, all in one call. An error of that run means that it never came to be.
    @inlinable @inline(never)
    func makeObserver<Closure: RowClosure & ~Copyable>(
        _ closure: consuming Closure, over inputs: some Collection<AttributeID>
    ) throws -> AttributeID {
        // The run that makes it is to be given up.
        if _slowPath(core.isInterrupted) { throw Interruption() }
        let kind = Closure.form == .observer ? Vertex.Kind.observer : .fixedObserver
        let attribute = core.createWatchedObserver(kind, in: currentSubgraph(), over: inputs)
        row(for: attribute).install(closure)
        let failures = core.host.pointee.hasFailures ? table.pointee.observerFailures.count : 0
        let mayLeaveUnread = Closure.form == .observerOfMany
        if _fastPath(core.isAtRest) {
            core.runNew(attribute.index, mayLeaveUnread: mayLeaveUnread)
        } else {
            try runWithin(attribute, mayLeaveUnread)
        }
        if _slowPath(core.host.pointee.hasFailures) { try withdraw(attribute, failures) }
        try flush()
        return attribute
    }

    /// Runs an observer that has just been made inside a run or a batch.
    @inlinable @inline(never)
    func runWithin(_ observer: AttributeID, _ mayLeaveUnread: Bool) throws {
        if core.runNewWithin(observer.index, mayLeaveUnread) { return }
        core.destroy(observer)
        throw GraphError.tooDeep
    }

    @inlinable @inline(never)
    func growRows(to index: UInt32) {
        table.pointee.grow(to: index)
        core.host.pointee.rows = table.pointee.rows
    }

    /// Where new attributes belong: to the innermost of the running closure and the open `scope`.
    @inlinable @inline(__always)
    func currentSubgraph() -> SubgraphID {
        core.stackDepth > table.pointee.scopeDepth ? runningScope() : table.pointee.scope
    }

    /// Where the open `scope` has been destroyed, what is created belongs to the graph.
    @inlinable
    func leaveLostScope() {
        if !core.isAlive(table.pointee.scope) { table.pointee.scope = .root }
    }

    /// Where the open `scope` is to be destroyed, what is created from now on belongs to the graph.
    @usableFromInline
    func leave(_ scope: SubgraphID) {
        var around = table.pointee.scope
        while around != .root && around != scope { around = core.parent(of: around) }
        if around == scope { table.pointee.scope = .root }
    }

    /// The subgraph of what the running closure creates.
    @usableFromInline
    func runningScope() -> SubgraphID {
        guard let running = core.runningAttribute else { return table.pointee.scope }
        let extras = table.pointee.makeExtras(of: running.index)
        if let scope = extras.scope, core.isAlive(scope) { return scope }
        let scope = core.createSubgraph(in: core.subgraph(of: running))
        extras.scope = scope
        core.host.pointee.hasOwners = true
        table.pointee.setOwner(of: scope, to: running.index)
        return scope
    }

    func addCleanup(_ body: @escaping () -> Void) {
        guard let running = core.runningAttribute else { return }
        table.pointee.makeExtras(of: running.index).cleanups.append(body)
        table.pointee.cleanupCount += 1
    }
}

/// Two attributes, as a collection that needs no memory of its own.
@usableFromInline
struct Pair: RandomAccessCollection {
    @usableFromInline let one: AttributeID
    @usableFromInline let two: AttributeID

    @inlinable
    init(_ one: AttributeID, _ two: AttributeID) {
        self.one = one
        self.two = two
    }

    @inlinable var startIndex: Int { 0 }
    @inlinable var endIndex: Int { 2 }
    @inlinable subscript(position: Int) -> AttributeID { position == 0 ? one : two }
}
