import AttributeGraph
import AttributeValues

extension ViewGraph {
    /// From now on the attribute is reported by `takeInvalidated` when it may have changed. Evaluates nothing.
    public func watch(_ attribute: AttributeID) {
        watchesBegun &+= 1
        watchedAsProxies.remove(attribute)
        engine.watch(attribute)
    }

    public func unwatch(_ attribute: AttributeID) {
        // The tree's own watching of its data must go on.
        guard forEachByData[attribute.index] == nil else { return }
        endProxies(of: attribute)
        guard proxies[attribute] == nil else {
            watchedAsProxies.insert(attribute)
            return
        }
        endWatch(of: attribute)
    }

    private func endWatch(of attribute: AttributeID) {
        watchesEnded &+= 1
        engine.unwatch(attribute)
        noteIdle([attribute])
    }

    /// A rule has run, is watched no more, or has gone: no inputs are watched in its place.
    func endProxies(of rule: AttributeID) {
        for input in proxiesOfRules.removeValue(forKey: rule) ?? [] {
            proxies[input]?.remove(rule)
            guard proxies[input]?.isEmpty == true else { continue }
            proxies[input] = nil
            if watchedAsProxies.remove(input) != nil { endWatch(of: input) }
        }
    }

    public func isAlive(_ attribute: AttributeID) -> Bool { engine.isAlive(attribute) }

    /// A point on the engine's own clock, for `hasChanged(_:since:)`.
    public var stamp: UInt64 { engine.revision }

    /// Whether the attribute's content became another one after a stamp; known once it has been read.
    public func hasChanged(_ attribute: AttributeID, since stamp: UInt64) -> Bool { engine.changedAt(attribute) > stamp }

    public func changedAt(_ attribute: AttributeID) -> UInt64 { engine.changedAt(attribute) }

    /// Watched attributes that may have changed since the last call, each once, in the order in which the first change reached them.
    public func takeInvalidated() -> [AttributeID] {
        collectInvalidated()
        let taken = invalidated
        invalidated = []
        if taken.count < 2 { return taken }
        // What was read in between has been reported again.
        reportRound &+= 1
        if reportRound == 0 {
            reportedRounds = []
            reportRound = 1
        }
        reportedRounds += repeatElement(0, count: max(0, attributes.count - reportedRounds.count))
        return taken.filter { attribute in
            guard engine.isAlive(attribute), reportedRounds[Int(attribute.index)] != reportRound else { return false }
            reportedRounds[Int(attribute.index)] = reportRound
            return true
        }
    }

    /// Whether the attribute's content may have become another one after a stamp, as far as that is known without reading it.
    public func mayHaveChanged(_ attribute: AttributeID, since stamp: UInt64) -> Bool {
        engine.changedAt(attribute) > stamp || engine.isInvalidated(attribute)
    }

    func collectInvalidated() {
        let start = invalidated.count
        engine.drainInvalidated(into: &invalidated)
        var position = start
        while position < invalidated.count {
            if let row = forEachByData[invalidated[position].index] {
                staleForEach.insert(row)
                invalidated.swapAt(position, invalidated.count - 1)
                invalidated.removeLast()
            } else {
                position += 1
            }
        }
    }
}
