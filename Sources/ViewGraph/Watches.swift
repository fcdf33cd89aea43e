import AttributeGraph
import AttributeValues

/// The watched vertices, and reports about them that were not taken yet.
///
/// The engine knows no inputs of a rule that never ran. Until the rule runs, the inputs that it may read are watched in
/// its place: they are its *proxies*. So its watcher hears of changes all the same.
struct Watches {
    /// Numbers of watches that ever began and ended.
    private(set) var begun: UInt64 = 0
    private(set) var ended: UInt64 = 0
    /// Watched vertices reported by the engine and not yet taken.
    private(set) var invalidated: [AttributeID] = []
    /// The round of `take` in which a vertex was last reported, by the engine's row.
    private var reportedRounds: [UInt32] = []
    private var round: UInt32 = 0
    /// The rules that an input stands for; and the inputs that stand for a rule.
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

    /// Notes that a vertex is destroyed.
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

    /// Stops watching inputs in the place of a rule, which has run, is no longer watched, or has gone.
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

    /// Takes the reports of the engine.
    /// - Parameter isKept: whether a report is for the caller, and not for watchers.
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

    /// The collected reports: each vertex once, in the order in which the first change reached it.
    mutating func take(_ engine: GraphCore<some GraphHost>, into taken: inout [AttributeID]) {
        swap(&taken, &invalidated)
        invalidated.removeEach()
        if taken.count < 2 { return }
        // A vertex that was read in between may have been reported again.
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

/// The values that `onChange` actions watch, as the wiring meets them in reports.
struct Triggers {
    /// Actions by the engine's row of the value.
    var byValue: [AttributeID: AttributeID] = [:]
    /// Actions whose values may have changed.
    var stale: Set<AttributeID> = []
}
