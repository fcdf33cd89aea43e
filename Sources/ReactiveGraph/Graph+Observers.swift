import AttributeGraph

/// Observers run in rounds: those that a round's writes invalidate make up the next.
@usableFromInline let roundLimit = 100

extension GraphContext {
    /// Runs the observers that are due, unless a batch is open or they are being run already.
    @inlinable @inline(__always)
    func flush() throws {
        if core.batchIsClosed && core.hasInvalidated && runObservers() { try reportObservers() }
    }

    /// Closes a batch, and after the outermost does as `flush`.
    @inlinable @inline(__always)
    func closeBatch() throws {
        if core.closeBatch() && settleBatch() { try reportObservers() }
    }

    /// As `runObservers`; a batch of one write is like one outside.
    @inlinable @inline(never)
    func settleBatch() -> Bool {
        guard core.unsettledCount == 1 && core.stackDepth == 0 else { return runObservers() }
        guard let input = core.settleOne() else { return core.hasInvalidated && runObservers() }
        return commitAlone(input)
    }

    /// The rest of a write outside a batch.
    @inlinable @inline(never)
    func commit(_ input: UInt32) throws {
        core.advanceRevision()
        if commitAlone(input) { try reportObservers() }
    }

    /// As `set`, while something may be running or is wrong.
    @inlinable @inline(never)
    func setWithCare(_ input: AttributeID, _ value: Value) throws {
        if try core.setWithCare(input, value) { try flush() }
    }

    /// Settles the batch that has been closed and runs the observers that are due, unless they are being run already.
    /// True if they have left something behind.
    @inlinable @inline(never)
    func runObservers() -> Bool {
        if core.hasUnsettled { core.settleHere() }
        guard core.hasInvalidated && core.stackDepth == 0 else { return false }
        var rounds = 0
        var areMoreDue: Bool
        repeat {
            areMoreDue = _fastPath(!core.host.pointee.hasOwners) ? core.updateInvalidated() : runOwnedObservers()
            rounds &+= 1
        } while areMoreDue && rounds < roundLimit
        return areMoreDue || core.host.pointee.hasFailures
    }

    /// A round in which an observer may have been made by another that is due as well. True if more have become due.
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

    /// An observer that made this one may be due itself, and then this one is to go: the outermost runs first.
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

    /// Takes back an observer that has failed, if it has: there are more failures than before its run.
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

    /// Undoes what the last run of an attribute has made: inner things first, then its own cleanups.
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

    /// As `cleanUp`, before an attribute goes: its cleanups may have made something under it, or have let it run once
    /// more.
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

    /// Runs the cleanups of everything in a scope: inner before outer, the youngest first; then those that they have
    /// registered.
    @usableFromInline
    func runCleanups(in scope: ScopeID) {
        for _ in 0..<roundLimit where table.pointee.cleanupCount != 0 {
            if !runPresentCleanups(in: scope) { return }
        }
    }

    /// False if there are none.
    private func runPresentCleanups(in scope: ScopeID) -> Bool {
        // Outer before inner and the oldest first, to be gone through backwards.
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

/// What a scope holds: the things of attributes, and scopes within.
private enum Owned {
    case scope(ScopeID)
    case extras(Extras)
}
