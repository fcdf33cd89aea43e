import AttributeGraph

extension GraphAccess {
    /// Creates an input.
    @inlinable
    public func input(_ value: Value) -> AttributeID {
        let context = context
        let attribute = context.core.createInput(value)
        context.row(for: attribute).initialize(to: ClosureRow())
        context.enlist(attribute)
        return attribute
    }

    /// Creates a rule. It first runs when it is first read.
    @inlinable
    public func rule(_ body: consuming @escaping (GraphContext<Value>) throws -> Value) -> AttributeID {
        let context = context
        let attribute = context.core.createRule()
        context.row(for: attribute).install(RuleClosure(body))
        context.enlist(attribute)
        return attribute
    }

    /// Creates an observer and runs it immediately, even inside a batch.
    ///
    /// - Throws: the error of its first run, or `GraphError.tooDeep`. The observer is then destroyed.
    @inlinable
    @discardableResult
    public func observe(_ body: consuming @escaping (GraphContext<Value>) throws -> Void) throws -> AttributeID {
        try context.makeObserver(ObserverClosure(body), over: EmptyCollection())
    }

    // MARK: Over fixed inputs

    /// Creates a rule that computes its value from that of one attribute, and reads nothing else.
    ///
    /// Its reads are not tracked, so it costs less than a rule that reads through a context. If the input has failed,
    /// the rule fails with the same error and does not run.
    @inlinable
    public func rule(_ input: AttributeID, _ body: consuming @escaping (Value) throws -> Value) -> AttributeID {
        context.makeRule(RuleOfOne(body), over: CollectionOfOne(input))
    }

    /// Creates a rule that computes its value from those of two attributes, and reads nothing else. Both are brought up
    /// to date before it runs. If one has failed, the rule fails with its error and does not run.
    @inlinable
    public func rule(_ one: AttributeID, _ two: AttributeID, _ body: consuming @escaping (Value, Value) throws -> Value)
        -> AttributeID
    {
        context.makeRule(RuleOfTwo(body), over: Pair(one, two))
    }

    /// Creates a rule that computes its value from those of any number of attributes, and reads nothing else. All are
    /// brought up to date before it runs, including those that have failed; reading a failed one throws.
    @inlinable
    public func rule(
        over inputs: some Collection<AttributeID>, _ body: consuming @escaping (GraphInputs<Value>) throws -> Value
    ) -> AttributeID {
        context.makeRule(RuleOfMany(body), over: inputs)
    }

    /// Creates an observer of one attribute, and runs it. It depends on this attribute alone, whatever it reads.
    ///
    /// - Throws: the error of its first run, or of the attribute. The observer is then destroyed.
    @inlinable
    @discardableResult
    public func observe(_ input: AttributeID, _ body: consuming @escaping (Value) throws -> Void) throws -> AttributeID
    {
        try context.makeObserver(ObserverOfOne(body), over: CollectionOfOne(input))
    }

    /// As the observer of one attribute, for two: it runs when either has changed.
    @inlinable
    @discardableResult
    public func observe(
        _ one: AttributeID, _ two: AttributeID, _ body: consuming @escaping (Value, Value) throws -> Void
    ) throws -> AttributeID {
        try context.makeObserver(ObserverOfTwo(body), over: Pair(one, two))
    }

    /// As the observer of one attribute, for any number: it runs when one of them has changed.
    @inlinable
    @discardableResult
    public func observe(
        over inputs: some Collection<AttributeID>, _ body: consuming @escaping (GraphInputs<Value>) throws -> Void
    ) throws -> AttributeID {
        try context.makeObserver(ObserverOfMany(body), over: inputs)
    }

    /// Registers a cleanup for the running rule or observer. It is called before that runs again or is destroyed, after
    /// everything that the run created has been cleaned up. The cleanup registered last is called first. Its reads are
    /// not tracked. Outside a closure this has no effect.
    public func onCleanup(_ body: @escaping () -> Void) { context.addCleanup(body) }

    /// Runs the body in a new scope. Attributes that it creates belong to the scope and are destroyed with it. A scope
    /// made by a rule or observer belongs to the run that made it. If the body throws, the scope is destroyed at once.
    @inlinable
    public func scope<Result>(_ body: () throws -> Result) throws -> (scope: ScopeID, result: Result) {
        let context = context
        let around = context.currentScope()
        let scope = context.table.pointee.makeScope(in: around, maker: context.core.runningAttribute?.index ?? 0)
        let (outer, depth) = (context.table.pointee.openScope, context.table.pointee.openScopeDepth)
        context.table.pointee.openScope = scope
        context.table.pointee.openScopeDepth = context.core.stackDepth
        defer {
            context.table.pointee.openScope = outer
            context.table.pointee.openScopeDepth = depth
            context.leaveLostScope()
        }
        do { return (scope, try body()) } catch {
            try? context.dispose(scope)
            throw error
        }
    }

    /// Destroys an attribute with everything that its runs created. Its readers run again and get `GraphError.removed`.
    /// An observer may dispose of itself: its present run continues and is its last. During a run, the attribute reads
    /// as removed at once; its readers run again, and its closure is freed, after the run.
    ///
    /// - Throws: errors of observers that run because of it.
    public func dispose(_ attribute: AttributeID) throws {
        guard context.core.isAlive(attribute) else { return }
        context.core.beginBatch()
        context.cleanUpForGood(attribute)
        context.destroy(attribute)
        context.core.endBatch()
        try context.flush()
    }

    /// Destroys a scope with everything that was created in it, the youngest first.
    ///
    /// - Throws: errors of observers outside the scope that run because of it.
    @inlinable
    public func dispose(_ scope: ScopeID) throws {
        let context = context
        guard context.isAlive(scope) else { return }
        context.core.beginBatch()
        if context.table.pointee.cleanupCount != 0 { context.runCleanups(in: scope) }
        context.leave(scope)
        context.destroy(scope)
        context.core.endBatch()
        try context.flush()
    }

    /// The error of the last run of a rule or observer, if it failed.
    public func failure(of attribute: AttributeID) -> (any Error)? {
        context.core.isAlive(attribute) ? context.table.pointee.failure(of: attribute.index) : nil
    }
}

extension GraphContext {
    /// The row for the closure of a new attribute.
    @inlinable @inline(__always)
    func row(for attribute: AttributeID) -> UnsafeMutablePointer<ClosureRow> {
        if _slowPath(Int(attribute.index) >= table.pointee.capacity) { growRows(to: attribute.index) }
        return table.pointee.row(attribute.index)
    }

    @inlinable @inline(__always)
    func makeRule<Closure: RowClosure & ~Copyable>(
        _ closure: consuming Closure, over inputs: some Collection<AttributeID>
    ) -> AttributeID {
        let attribute = core.create(.fixedRule, over: inputs)
        row(for: attribute).install(closure)
        enlist(attribute)
        return attribute
    }

    /// Makes an observer and runs it, in one call. If the run fails, the observer is removed again.
    @inlinable @inline(never)
    func makeObserver<Closure: RowClosure & ~Copyable>(
        _ closure: consuming Closure, over inputs: some Collection<AttributeID>
    ) throws -> AttributeID {
        // The run that makes the observer is being abandoned.
        if _slowPath(core.isInterrupted) { throw Interruption() }
        let attribute = core.create(
            Closure.form == .observer ? .observer : .fixedObserver, Vertex.Flags.new.union(.watched), over: inputs)
        row(for: attribute).install(closure)
        enlist(attribute)
        let failures = core.host.pointee.hasFailures ? table.pointee.observerFailures.count : 0
        let mayLeaveUnread = Closure.form == .observerOfMany
        if _fastPath(core.isAtRest) {
            let runsObservers = core.host.pointee.runsObservers
            core.host.pointee.runsObservers = true
            core.runNew(attribute.index, mayLeaveUnread: mayLeaveUnread)
            core.host.pointee.runsObservers = runsObservers
        } else {
            try runWithin(attribute, mayLeaveUnread)
        }
        if _slowPath(core.host.pointee.hasFailures) { try withdraw(attribute, failures) }
        try flush()
        return attribute
    }

    /// How many bytes of the machine's stack nested observers may use if they are made inside runs, counted from where
    /// the outermost of them began. Enough for a few hundred levels in a release build.
    @inlinable static var observerStackBudget: UInt { 1 << 20 }

    /// Runs an observer that has just been made inside a run or a batch.
    @inlinable @inline(never)
    func runWithin(_ observer: AttributeID, _ mayLeaveUnread: Bool) throws {
        let here = GraphStorage<ClosureHost<Value>>.stackAddress
        let outermost = table.pointee.outermostNewObserver
        if outermost == 0 {
            table.pointee.outermostNewObserver = here
        } else if here &+ GraphContext.observerStackBudget < outermost {
            destroy(observer)
            throw GraphError.tooDeep
        }
        defer { table.pointee.outermostNewObserver = outermost }
        core.runNewWithin(observer.index, mayLeaveUnread)
    }

    @inlinable @inline(never)
    func growRows(to index: UInt32) {
        table.pointee.grow(to: index)
        core.host.pointee.rows = table.pointee.rows
    }

    /// Adds a new attribute to the current scope.
    @inlinable @inline(__always)
    func enlist(_ attribute: AttributeID) {
        let scope = currentScope()
        if scope.index != 0 { table.pointee.enlist(attribute.index, in: scope.index) }
    }

    /// The scope for new attributes: that of the running closure or the open `scope`, whichever is inner.
    @inlinable @inline(__always)
    func currentScope() -> ScopeID {
        core.stackDepth > table.pointee.openScopeDepth ? runningScope() : table.pointee.openScope
    }

    /// If the open `scope` has been destroyed, new attributes belong to the graph from now on.
    @inlinable
    func leaveLostScope() {
        if !isAlive(table.pointee.openScope) { table.pointee.openScope = .root }
    }

    /// Called before a scope is destroyed: if it is open, or contains the open one, new attributes belong to the graph
    /// from now on.
    @usableFromInline
    func leave(_ scope: ScopeID) {
        var around = table.pointee.openScope
        while around != .root && around != scope { around = parent(of: around) }
        if around == scope { table.pointee.openScope = .root }
    }

    /// The scope of everything that the running closure creates.
    @usableFromInline
    func runningScope() -> ScopeID {
        guard let running = core.runningAttribute else { return table.pointee.openScope }
        let extras = table.pointee.makeExtras(of: running.index)
        if let scope = extras.scope, isAlive(scope) { return scope }
        let made = table.pointee.makeScope(in: scope(of: running), maker: running.index)
        extras.scope = made
        core.host.pointee.hasOwners = true
        table.pointee.scopes.base[Int(made.index)].owner = running.index
        return made
    }

    func addCleanup(_ body: @escaping () -> Void) {
        guard let running = core.runningAttribute else { return }
        table.pointee.makeExtras(of: running.index).cleanups.append(body)
        table.pointee.cleanupCount += 1
    }
}

/// Two attributes as a collection, without allocation.
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
