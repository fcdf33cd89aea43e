import AttributeGraph

/// Observers run in rounds: the observers that one round's writes invalidate are the next round.
@usableFromInline let roundLimit = 100

extension GraphContext {
    /// Runs the observers that are due, unless a batch is open or they are already being run.
    @inlinable @inline(__always)
    func flush() throws {
        if core.batchIsClosed && core.hasInvalidated && runObservers() { try reportObservers() }
    }

    /// Closes a batch. After the outermost one, runs the observers that are due.
    @inlinable @inline(__always)
    func closeBatch() throws {
        if core.closeBatch() && settleBatch() { try reportObservers() }
    }

    /// As `runObservers`. A batch of one write is handled like a write outside a batch.
    @inlinable @inline(never)
    func settleBatch() -> Bool {
        guard core.unsettledCount == 1 && core.stackDepth == 0 else { return runObservers() }
        guard let input = core.settleOne() else { return core.hasInvalidated && runObservers() }
        return commitAlone(input)
    }

    /// Completes a write outside a batch.
    @inlinable @inline(never)
    func commit(_ input: UInt32) throws {
        core.advanceRevision()
        if commitAlone(input) { try reportObservers() }
    }

    /// As `set`, if something may be running or wrong.
    @inlinable @inline(never)
    func setWithCare(_ input: AttributeID, _ value: Value) throws {
        if try core.setWithCare(input, value) { try flush() }
    }

    /// Settles the batch that has been closed, and runs the observers that are due, unless they are already being run.
    /// Returns true if there are errors, or observers that are still due.
    @inlinable @inline(never)
    func runObservers() -> Bool {
        if core.hasUnsettled { core.settleHere() }
        guard core.hasInvalidated && core.stackDepth == 0 && !core.host.pointee.runsObservers else { return false }
        core.host.pointee.runsObservers = true
        defer { core.host.pointee.runsObservers = false }
        var rounds = 0
        var areMoreDue: Bool
        repeat {
            areMoreDue = _fastPath(!core.host.pointee.hasOwners) ? core.updateInvalidated() : runOwnedObservers()
            rounds &+= 1
        } while areMoreDue && rounds < roundLimit
        return areMoreDue || core.host.pointee.hasFailures
    }

    /// Runs a round in which one due observer may have made another. Returns true if more observers have become due.
    @inlinable @inline(never)
    func runOwnedObservers() -> Bool {
        let count = core.invalidatedCount
        for position in 0..<count {
            let observer = core.invalidatedAttribute(position)
            runOwners(of: observer)
            core.update(observer)
        }
        core.removeInvalidated(count)
        return core.hasInvalidated
    }

    /// Throws the first error of an observer, or that the observers do not settle. Observers that are still due run at
    /// the next flush.
    @usableFromInline
    func reportObservers() throws {
        let failures = table.pointee.observerFailures
        table.pointee.observerFailures.removeAll()
        core.host.pointee.hasFailures = false
        if let first = failures.first { throw first }
        let observers = (0..<core.invalidatedCount).map { core.invalidatedAttribute($0) }.filter { core.isAlive($0) }
        throw GraphError.unsettled(observers)
    }

    /// Updates the due observers that have made this one, the outermost first: their runs destroy this one.
    @usableFromInline
    func runOwners(of observer: AttributeID) {
        while core.isAlive(observer) {
            var due: AttributeID?
            var scope = self.scope(of: observer)
            while scope != .root {
                let owner = table.pointee.owner(of: scope)
                if owner != 0, table.pointee.row(owner).pointee.form.isObserver {
                    let attribute = core.attribute(at: owner)
                    if core.isInvalidated(attribute) { due = attribute }
                }
                scope = parent(of: scope)
            }
            guard let due else { return }
            core.update(due)
            if core.isInvalidated(due) { return }
        }
    }

    /// If an observer's first run has failed (there are more failures than before), removes it and throws the error.
    @usableFromInline
    func withdraw(_ attribute: AttributeID, _ failures: Int) throws {
        guard table.pointee.observerFailures.count > failures else { return }
        let error = table.pointee.observerFailures[failures]
        table.pointee.observerFailures.removeSubrange(failures...)
        core.host.pointee.hasFailures = failures > 0
        try? dispose(attribute)
        throw error
    }

    // MARK: Cleaning up

    /// Undoes everything that the last run of an attribute has made: first inner things, then its own cleanups.
    @usableFromInline
    func cleanUp(_ attribute: AttributeID) {
        guard let extras = table.pointee.extras(of: attribute.index) else { return }
        extras.failure = nil
        if let scope = extras.scope {
            extras.scope = nil
            if isAlive(scope) {
                if table.pointee.cleanupCount != 0 { runCleanups(in: scope) }
                leave(scope)
                destroy(scope)
            }
        }
        runCleanups(of: extras)
    }

    /// As `cleanUp`, before an attribute is destroyed. Repeats it, because cleanups may make things that belong to the
    /// attribute, or let it run once more.
    @usableFromInline
    func cleanUpForGood(_ attribute: AttributeID) {
        for _ in 0..<roundLimit {
            guard let extras = table.pointee.extras(of: attribute.index),
                extras.scope != nil || !extras.cleanups.isEmpty
            else { return }
            cleanUp(attribute)
            if !core.isAlive(attribute) { return }
        }
    }

    @usableFromInline
    func runCleanups(of extras: Extras) {
        while let cleanup = extras.cleanups.popLast() {
            table.pointee.cleanupCount -= 1
            core.withoutTracking(cleanup)
        }
    }

    /// Runs the cleanups of everything in a scope: inner before outer, the youngest first. Then runs the cleanups that
    /// these have registered.
    @usableFromInline
    func runCleanups(in scope: ScopeID) {
        for _ in 0..<roundLimit where table.pointee.cleanupCount != 0 {
            if !runPresentCleanups(in: scope) { return }
        }
    }

    /// Returns false if there are none.
    private func runPresentCleanups(in scope: ScopeID) -> Bool {
        // Outer before inner and the oldest first; processed backwards.
        var order: [Extras] = []
        var pending: [Owned] = [.scope(scope)]
        while let next = pending.popLast() {
            switch next {
            case .scope(let scope):
                for child in children(of: scope) where !isOwned(child) { pending.append(.scope(child)) }
                for attribute in attributes(of: scope).reversed() {
                    if let extras = table.pointee.extras(of: attribute.index) { pending.append(.extras(extras)) }
                }
            case .extras(let extras):
                order.append(extras)
                if let scope = extras.scope { pending.append(.scope(scope)) }
            }
        }
        let count = order.reduce(0) { $0 + $1.cleanups.count }
        for extras in order.reversed() { runCleanups(of: extras) }
        return count != 0
    }

    private func isOwned(_ scope: ScopeID) -> Bool { table.pointee.owner(of: scope) != 0 }
}

/// An element of a scope: the extras of an attribute, or an inner scope.
private enum Owned {
    case scope(ScopeID)
    case extras(Extras)
}
