import AttributeGraph
import AttributeValues
import RuleLanguage

// A report is a write of a state, also of an equal value. It marks nothing, because the engine stops at equal values.
// So the time of the last report is a vertex of its own beside the state, made when somebody first asks for it: rules
// and operators that read it run again. A write of a state whose reports nobody reads costs one branch.
//
// A write of a place is a report of that place, of the values around it, and of what is in it.

extension Wiring {
    /// The vertex with the time of the last report of a place in a state, on the clock of `TimedValues`. Before the
    /// first report that it has seen, it has the time at which it was made.
    func reportVertex(of state: AttributeID, at steps: [AttributePath.Step]) -> AttributeID {
        let owner = record(state)
        let tree = owner.reports ?? ProjectionTree(of: state, name: owner.name)
        if owner.reports == nil { attributes.setReports(tree, at: state) }
        let entry = tree.entry(at: steps)
        if let existing = entry.attribute { return existing }
        let made = createInput(
            .value(.instant(timedValues.now)),
            AttributeRecord(entry, node: owner.node, kind: owner.kind, source: .system))
        entry.attribute = made
        sharing.noteIdle(made)
        return made
    }

    /// The time of the last report of what a vertex shows: a state, or a place in one, also through references. The
    /// reader depends on it. nil for a vertex with a rule: only its changes are reports.
    /// - Parameter reader: the vertex that is being evaluated.
    func lastReport(of vertex: AttributeID, for reader: AttributeID) throws -> Content? {
        var place = Place(vertex)
        if let part = attributes.place(vertex) { place = Place(part.tree.whole, part.steps) }
        for _ in 0...limits.depth {
            place = follow(place, isWritten: true)
            let target: Place?
            switch attributes.source(place.attribute) {
            case .state?: return try engine.read(reportVertex(of: place.attribute, at: place.steps))
            case .rooted(let reference)?:
                _ = try engine.read(reference.version)
                target = try? self.place(reference)
            case .selected(let selection)?:
                let result = try evaluate(selection.rule, for: reader)
                target = result.value.flatMap { try? selection.place($0) }
            default: return nil
            }
            guard let target else { return nil }
            place = Place(target.attribute, target.steps + place.steps)
        }
        return nil
    }

    /// Sets the times of reports of places that were written to the present time.
    /// - Returns: whether one of them has changed.
    func setReports(_ written: [Place]) -> Bool {
        let stamp = engine.revision
        let now = Content.value(.instant(timedValues.now))
        for place in written {
            guard let tree = attributes.reports(place.attribute) else { continue }
            tree.forEachAttribute(touching: place.steps, in: content(of: place.attribute).value) { setInput($0, now) }
        }
        return engine.revision > stamp
    }
}

// MARK: For watchers

// A watcher that wants to know how old a value is watches a vertex beside the value. Its content is the time of the
// newest report of a state that the value comes from. So a value is as old as what it was computed from, also if it
// has stayed.

extension Wiring {
    /// The vertex with the time at which a watched vertex was last reported. The caller watches it; a sweep frees it
    /// after the end of the watch.
    public func makeReportTime(of vertex: AttributeID) -> AttributeID {
        let made = createRule(
            node: .root, name: "report of \(record(vertex).name)", kind: .clock, source: .reportTime(vertex))
        sharing.noteIdle(made)
        return made
    }

    /// The time of such a vertex, in nanoseconds on `reportClock`; nil if it is gone.
    public func lastReport(in vertex: AttributeID) -> Int64? {
        guard case .value(.timestamp(let time)) = content(of: vertex) else { return nil }
        return time.since(.epoch)?.nanoseconds
    }

    /// The present time on the clock of reports, in nanoseconds.
    public var reportClock: Int64 { timedValues.now }

    /// Vertices above a value in which its states are looked for.
    private static let mostSources = 256

    func evaluate(reportTimeOf vertex: AttributeID) throws -> Content {
        _ = try engine.read(vertex)
        var newest: Int64?
        var pending = [vertex]
        var seen: Set<AttributeID> = [vertex]
        while let next = pending.popLast() {
            guard let source = attributes.source(next) else { continue }
            if case .state = source {
                newest = max(newest ?? .min, try lastReport(ofState: next, at: []))
            } else if let place = attributes.place(next), isInput(record(place.tree.whole).source) {
                newest = max(newest ?? .min, try lastReport(ofState: place.tree.whole, at: place.steps))
            } else if case .system = source {
                // A clock, an index or an element is as new as its last change.
                newest = max(newest ?? .min, timedValues.now)
            } else {
                for input in engine.inputs(of: next)
                where seen.count < Wiring.mostSources && seen.insert(input).inserted {
                    pending.append(input)
                }
            }
        }
        budget.steps &-= seen.count
        return .value(.instant(newest ?? timedValues.now))
    }

    private func lastReport(ofState state: AttributeID, at steps: [AttributePath.Step]) throws -> Int64 {
        let vertex = reportVertex(of: state, at: steps)
        let content = try engine.read(vertex)
        // An operator may remember reports from before the vertex was made, and from an earlier life.
        if steps.isEmpty, let past = timedValues.value(TimeOperator(.reported), of: state)?.past, past.current != nil {
            return past.since
        }
        guard case .value(.timestamp(let time)) = content else { return timedValues.now }
        return time.since(.epoch)?.nanoseconds ?? timedValues.now
    }
}
