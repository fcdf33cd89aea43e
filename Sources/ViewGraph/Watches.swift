import AttributeGraph
import AttributeValues

/// Which vertices somebody watches, and what was reported of them and not yet taken.
///
/// A rule that never ran has no inputs the engine knows of. So that its watcher hears of changes
/// all the same, the inputs that it may read are watched in its place, as its proxies, until it
/// runs.
struct Watches {
    /// Watches that ever began and ended.
    private(set) var begun: UInt64 = 0
    private(set) var ended: UInt64 = 0
    /// Watched vertices reported by the engine and not yet taken.
    private(set) var invalidated: [AttributeID] = []
    /// By row of the engine, the round of `take` in which it was last reported.
    private var reportedRounds: [UInt32] = []
    private var round: UInt32 = 0
    /// The rules that an input stands for, and the inputs that stand for a rule.
    private var rulesOfProxies: [AttributeID: Set<AttributeID>] = [:]
    private var proxiesOfRules: [AttributeID: [AttributeID]] = [:]
    /// Proxies that nobody else watches.
    private var watchedAsProxies: Set<AttributeID> = []

    // MARK: Watches

    mutating func begin(_ vertex: AttributeID, in engine: GraphCore<some GraphHost>) {
        begun &+= 1
        watchedAsProxies.remove(vertex)
        engine.watch(vertex)
    }

    /// - Returns: the vertices that nobody watches any more.
    mutating func end(_ vertex: AttributeID, in engine: GraphCore<some GraphHost>) -> [AttributeID] {
        var over = endProxies(of: vertex, in: engine)
        if rulesOfProxies[vertex] != nil {
            watchedAsProxies.insert(vertex)
        } else {
            over.append(stop(vertex, in: engine))
        }
        return over
    }

    private mutating func stop(_ vertex: AttributeID, in engine: GraphCore<some GraphHost>) -> AttributeID {
        ended &+= 1
        engine.unwatch(vertex)
        return vertex
    }

    /// A vertex is destroyed.
    /// - Returns: the vertices that nobody watches any more.
    mutating func forget(_ vertex: AttributeID, in engine: GraphCore<some GraphHost>) -> [AttributeID] {
        rulesOfProxies[vertex] = nil
        watchedAsProxies.remove(vertex)
        return endProxies(of: vertex, in: engine)
    }

    // MARK: Proxies

    var proxyCount: Int { rulesOfProxies.count + proxiesOfRules.count }

    /// The rules that a vertex stands for.
    func rulesBehind(_ vertex: AttributeID) -> Set<AttributeID> { rulesOfProxies[vertex] ?? [] }

    mutating func addProxy(_ input: AttributeID, of rule: AttributeID, in engine: GraphCore<some GraphHost>) {
        if rulesOfProxies[input, default: []].insert(rule).inserted { proxiesOfRules[rule, default: []].append(input) }
        guard !engine.isWatched(input) else { return }
        begin(input, in: engine)
        watchedAsProxies.insert(input)
    }

    /// A rule has run, is watched no more, or has gone: no inputs are watched in its place.
    /// - Returns: the inputs that nobody watches any more.
    mutating func endProxies(of rule: AttributeID, in engine: GraphCore<some GraphHost>) -> [AttributeID] {
        var over: [AttributeID] = []
        for input in proxiesOfRules.removeValue(forKey: rule) ?? [] {
            rulesOfProxies[input]?.remove(rule)
            guard rulesOfProxies[input]?.isEmpty == true else { continue }
            rulesOfProxies[input] = nil
            if watchedAsProxies.remove(input) != nil { over.append(stop(input, in: engine)) }
        }
        return over
    }

    // MARK: Reports

    /// Takes over what the engine has reported.
    /// - Parameter isKept: whether a report is the caller's own, and not for those who watch.
    mutating func collect(from engine: GraphCore<some GraphHost>, except isKept: (AttributeID) -> Bool) {
        var position = invalidated.count
        engine.drainInvalidated(into: &invalidated)
        while position < invalidated.count {
            if isKept(invalidated[position]) {
                invalidated.swapAt(position, invalidated.count - 1)
                invalidated.removeLast()
            } else {
                position += 1
            }
        }
    }

    mutating func withdraw(_ over: Set<AttributeID>) { invalidated.removeAll { over.contains($0) } }

    /// What was collected, each once, in the order in which the first change reached it.
    mutating func take(_ engine: GraphCore<some GraphHost>, into taken: inout [AttributeID]) {
        swap(&taken, &invalidated)
        while invalidated.popLast() != nil {}
        if taken.count < 2 { return }
        // What was read in between has been reported again.
        round &+= 1
        if round == 0 {
            reportedRounds = []
            round = 1
        }
        taken.removeAll { vertex in
            let row = Int(vertex.index)
            if row >= reportedRounds.count { reportedRounds += repeatElement(0, count: row + 1 - reportedRounds.count) }
            guard engine.isAlive(vertex), reportedRounds[row] != round else { return true }
            reportedRounds[row] = round
            return false
        }
    }

    mutating func giveBack() {
        invalidated.giveBack()
        rulesOfProxies.giveBack()
        proxiesOfRules.giveBack()
        watchedAsProxies.giveBack()
    }
}
