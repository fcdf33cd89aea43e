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
        if _slowPath(Int(attribute.index) >= context.table.pointee.capacity) { context.growRows(to: attribute.index) }
        let row = context.table.pointee.row(attribute.index)
        row.initialize(to: ClosureRow())
        row.pointee.isRule = true
        ClosureTable<Value>.rule(row).initialize(to: RuleClosure(body))
        return attribute
    }

    /// Creates an observer and runs it, now also inside a batch.
    ///
    /// - Throws: what its first run throws; the observer is gone then.
    @inlinable
    @discardableResult
    public func observe(_ body: consuming @escaping (GraphContext<Value>) throws -> Void) throws -> AttributeID {
        let context = context
        let attribute = context.core.createWatchedObserver(in: context.currentSubgraph())
        if _slowPath(Int(attribute.index) >= context.table.pointee.capacity) { context.growRows(to: attribute.index) }
        let row = context.table.pointee.row(attribute.index)
        row.initialize(to: ClosureRow())
        row.pointee.isObserver = true
        ClosureTable<Value>.observer(row).initialize(to: ObserverClosure(body))
        try context.runFirst(attribute)
        return attribute
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
        }
        do { return (scope, try body()) } catch {
            try? context.dispose(scope)
            throw error
        }
    }

    /// Destroys an attribute with all that its runs created. Readers run again and get `GraphError.removed`. An observer
    /// may dispose of itself: its run goes on, untracked, and is its last.
    ///
    /// - Throws: errors of observers that run because of it.
    public func dispose(_ attribute: AttributeID) throws {
        guard context.core.isAlive(attribute) else { return }
        context.core.beginBatch()
        context.cleanUp(attribute)
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
        context.core.destroy(scope)
        context.core.endBatch()
        try context.flush()
    }

    /// The error that the last run of a rule or observer ended with.
    public func failure(of attribute: AttributeID) -> (any Error)? {
        context.core.isAlive(attribute) ? context.table.pointee.failure(of: attribute.index) : nil
    }
}

extension GraphContext {
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

    /// The subgraph of what the running closure creates.
    @usableFromInline
    func runningScope() -> SubgraphID {
        guard let running = core.runningAttribute else { return table.pointee.scope }
        let extras = table.pointee.makeExtras(of: running.index)
        if let scope = extras.scope, core.isAlive(scope) { return scope }
        let scope = core.createSubgraph(in: core.subgraph(of: running))
        extras.scope = scope
        while table.pointee.owners.count <= Int(scope.index) { table.pointee.owners.append(0) }
        table.pointee.owners[Int(scope.index)] = running.index
        return scope
    }

    func addCleanup(_ body: @escaping () -> Void) {
        guard let running = core.runningAttribute else { return }
        table.pointee.makeExtras(of: running.index).cleanups.append(body)
        table.pointee.cleanupCount += 1
    }
}
