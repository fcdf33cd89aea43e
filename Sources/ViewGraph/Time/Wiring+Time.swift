import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// Operators over time are vertices that rules name as inputs. A vertex reads its operand as any
// rule does, so the engine brings it up to date before whoever reads it. It is watched, so a commit
// that changes the operand reports it. At the end of the commit the change is added to its past.

extension Wiring {
    /// True if anything changes with time alone.
    public var hasClocks: Bool { !clocks.isEmpty || !timedValues.isEmpty }

    /// True if a value depends on what other values were before.
    public var hasOperators: Bool { !timedValues.isEmpty }

    func clockVertex(of schedule: ClockSchedule) -> AttributeID {
        if let existing = clocks.vertex(of: schedule) { return existing }
        let made = createInput(
            .value(.timestamp(clocks.reading(of: schedule))), node: .root, name: "clock \(schedule.text)",
            kind: .clock, type: .timestamp, source: .system)
        clocks.add(made, of: schedule)
        sharing.noteIdle(made)
        return made
    }

    /// The source of a clock whose schedule is complete only with a value: the time zone of the environment, or the
    /// period. nil for other schedules, and while there is no such value.
    func scheduledSource(_ schedule: ClockSchedule, at row: NodeRow) -> Source? {
        switch schedule {
        case .daily(let daily) where daily.timeZone == nil:
            let before = nodes[row].definition.modifiersAroundBody
            return environmentSource("timeZone", at: row, before: before).map { .scheduled(schedule, by: $0) }
        case .everyValue(let reference):
            guard let target = resolveName(reference.name.text, from: row, .modifier) else { return nil }
            return .scheduled(schedule, by: vertex(for: Place(target, reference.steps)))
        default: return nil
        }
    }

    /// The last tick of a schedule that is completed with a value.
    func evaluate(_ schedule: ClockSchedule, by attribute: AttributeID) throws -> Content {
        let content = try engine.read(attribute)
        guard case .value(let value) = content else { return content }
        switch (schedule, value) {
        case (.daily(var daily), .string(let zone)):
            guard LocalClock(zone) != nil else {
                return .failure(Failure(.ruleFailed, "unknown time zone \(zone)", path: path(of: attribute)))
            }
            daily.timeZone = zone
            return try engine.read(clockVertex(of: .daily(daily)))
        case (.everyValue, .duration(let span)): return try reading(every: span, from: attribute)
        case (.everyValue, .string(let text)):
            if let span = TimeSpan(text) { return try reading(every: span, from: attribute) }
        default: break
        }
        return .failure(
            Failure(
                .typeMismatch, "the period of a clock is a duration, not \(value)", path: path(of: attribute),
                hint: "such as 1s, 500ms, 1m30s"))
    }

    private func reading(every span: TimeSpan, from attribute: AttributeID) throws -> Content {
        guard span.nanoseconds >= SceneLimits.shortestTick else {
            let shortest = TimeSpan(nanoseconds: SceneLimits.shortestTick)
            return .failure(
                Failure(
                    .limit, "the shortest time between ticks is \(shortest), not \(span)", path: path(of: attribute)))
        }
        return try engine.read(clockVertex(of: .every(span, start: nil)))
    }

    /// How long it takes, from a moment on, until the next clock that is observed ticks, or the next operator over time
    /// changes its result; nil: forever. Cost: O(clocks), and O(everything downstream of a clock) if a watch or an edge
    /// has come or gone that may matter to it.
    /// - Parameter elapsed: the time since the machine was booted.
    public func nextWait(from wall: Timestamp, elapsed: TimeSpan) -> TimeSpan? {
        // A wall clock that was set changes what clocks and dates show.
        if timedValues.time.isSet(wall, elapsed: elapsed) { return TimeSpan(nanoseconds: 0) }
        let tick = clocks.nextTick(uses) { engine.isWatchedDownstream(of: $0) }?.since(wall)
        guard let wait = timedValues.wait(from: elapsed).map({ TimeSpan(nanoseconds: $0) }) else { return tick }
        return tick.map { min($0, wait) } ?? wait
    }

    // MARK: Operators

    /// The vertex of an operator, made at its first use; nil if there are too many.
    /// - Parameter span: the attribute that gives the window; nil for a constant one.
    func timedVertex(_ operation: TimeOperator, of operand: AttributeID, over span: AttributeID? = nil) -> AttributeID?
    {
        if let existing = timedValues.value(operation, of: operand, over: span) { return existing.vertex }
        return timedValues.count < most(of: limits.timedValues)
            ? makeTimedVertex(operation, of: operand, over: span) : nil
    }

    private func makeTimedVertex(
        _ operation: TimeOperator, of operand: AttributeID, over span: AttributeID? = nil
    ) -> AttributeID {
        let value = TimedValue(operation, of: operand, over: span, at: timedValues.now)
        let name = operation.text(of: attributes[operand].map { $0.name + text(of: $0.steps) } ?? "")
        let made = createRule(node: .root, name: name, kind: .clock, source: .timed(value))
        timedValues.add(value, at: made)
        unsettled.note(value)
        watches.begin(made, in: engine)
        sharing.noteIdle(made)
        return made
    }

    /// The input of a rule that uses an operator.
    func timedInput(
        _ operation: TimeOperator, of operand: AttributeID, over span: AttributeID? = nil
    ) -> BoundInput {
        if let vertex = timedVertex(operation, of: operand, over: span) { return .attribute(vertex) }
        return .failure(
            Failure(
                .limit, "there are \(limits.timedValues) operators over time already (time-operators)",
                hint: "remove some, or raise time-operators in the configuration"))
    }

    private func text(of steps: [AttributePath.Step]) -> String { steps.map(\.description).joined() }

    /// The operator's result. Its past does not change yet: the transaction may be rolled back.
    func evaluate(_ value: TimedValue) throws -> Content {
        let content = try engine.read(value.operand)
        guard case .value(let operand) = content else { return lastReport(value) ?? content }
        budget.steps &-= value.past.cost
        if let fault = value.past.fault(operand) { return .failure(fault) }
        if let span = value.span, let fault = try takeSpan(from: span, value) { return .failure(fault) }
        if value.operation.period != nil, let fault = try placeInCalendar(value) { return .failure(fault) }
        let isReport = try isReported(value)
        let now = timedValues.now
        let result = isReport ? value.past.result(ofReport: operand, now) : value.past.result(operand, now)
        return .value(dated(result, value))
    }

    /// Tells an operator how long its window is now.
    private func takeSpan(from attribute: AttributeID, _ value: TimedValue) throws -> Failure? {
        // A part of the tree that is being removed keeps the last one.
        guard engine.isAlive(attribute) else { return nil }
        let given: Value
        switch try engine.read(attribute) {
        case .value(let value): given = value
        case .failure(let failure): return failure
        }
        let name = value.operation.kind.rawValue
        let span: TimeSpan? =
            switch given {
            case .duration(let span): span
            case .string(let text): TimeSpan(text)
            default: nil
            }
        guard let span else {
            return Failure(
                .typeMismatch, "the window of \(name)() is a duration, not \(given)", path: path(of: attribute),
                hint: "such as 30s, 5m, 1h30m")
        }
        if let fault = TimeOperator.fault(of: span) { return Failure(.limit, fault, path: path(of: attribute)) }
        if span.nanoseconds != value.past.span { value.past.change(span: span.nanoseconds, timedValues.now) }
        return nil
    }

    /// Tells an operator over periods where the clock on the wall stands, in the time zone of `/`.
    private func placeInCalendar(_ value: TimedValue) throws -> Failure? {
        guard let zone = ownAttribute("timeZone", of: .root) else { return nil }
        switch try engine.read(zone) {
        case .value(.string(let name)):
            guard let clock = clocks.localClock(name) else {
                return Failure(.ruleFailed, "unknown time zone \(name)", path: path(of: zone))
            }
            value.past.place(in: CalendarFrame(lead: timedValues.time.lead, timeZone: name, clock: clock))
            return nil
        case .value(let other): return Failure(.typeMismatch, "\(other) is no time zone", path: path(of: zone))
        case .failure(let failure): return failure
        }
    }

    /// Converts a result that is a date to wall time.
    private func dated(_ result: Value, _ value: TimedValue) -> Value {
        guard value.operation.isDate, case .timestamp(let time) = result else { return result }
        return .timestamp(timedValues.time.wallTime(of: time))
    }

    /// When a state was last reported that is stale now.
    private func lastReport(_ value: TimedValue) -> Content? {
        guard let past = value.past as? LastReport, past.isStale else { return nil }
        return .value(dated(.instant(past.since), value))
    }

    /// True if the operand was reported in this commit, and that matters.
    private func isReported(_ value: TimedValue) throws -> Bool {
        guard value.past.hearsReports else { return false }
        return timedValues.isReport(try lastReport(of: value.operand, for: value.vertex), of: value)
    }

    /// Adds the operand's value to the past of an operator that is due. An error of the operand adds nothing: the value
    /// before it counts on.
    /// - Returns: whether something was added.
    func feed(_ value: TimedValue) -> Bool {
        // The read makes the engine report the next change.
        _ = content(of: value.vertex)
        guard case .value(let operand) = content(of: value.operand), value.past.fault(operand) == nil else {
            return false
        }
        if (try? isReported(value)) == true {
            value.past.absorb(report: operand, timedValues.now)
        } else {
            value.past.absorb(operand, timedValues.now)
        }
        return true
    }

    /// - Parameter sleep: seconds before `time` in which the machine was asleep.
    /// - Returns: whether an operator was due.
    func advanceTimedValues(to wall: Timestamp, elapsed: TimeSpan, after sleep: Double) -> Bool {
        let reached = timedValues.advance(to: wall, elapsed: elapsed)
        if sleep > 0 {
            let now = timedValues.now
            for value in timedValues.all { value.past.interrupt(from: now - Int64(sleep * 1e9), to: now) }
        }
        for value in reached where engine.isAlive(value.vertex) {
            expire(value)
            removeExpiredEntries(value)
            do { try engine.invalidate(value.vertex) } catch {
                preconditionFailure("a removed operator had a deadline")
            }
            unsettled.note(value)
        }
        return !reached.isEmpty
    }

    /// Forgets the operator of a vertex that is about to be freed, if the vertex has one.
    func forgetTimedValue(_ vertex: AttributeID, _ source: Source) {
        guard case .timed(let value) = source else { return }
        timedValues.remove(value)
        noteIdle(watches.end(vertex, in: engine))
        guard value.storedRow != nil, let (row, name) = storedPlace(of: value) else { return }
        timedValues.noteForgotten(nodes.nodeID(row), name)
    }

    /// The node and the name under which the store has an operator's past. The name begins with that of the operand.
    func storedPlace(of value: TimedValue) -> (row: NodeRow, name: String)? {
        guard engine.isAlive(value.operand), let record = attributes[value.operand],
            record.node != .root, nodes.isAlive(record.node)
        else { return nil }
        let (row, name) = nodes.storePlace(of: record.name, at: record.node)
        guard nodes.isLinked(row) else { return nil }
        return (row, name + text(of: record.steps) + " " + value.operation.description)
    }

    // MARK: Expiry

    // A state with `expires` uses the operator `reported` over itself. When nobody has written it for so long, its
    // content becomes an error. The operator remembers the last value.

    private func expiry(of state: AttributeID) -> TimedValue? {
        guard let vertex = attributes[state]?.expiry,
            case .timed(let value)? = attributes[vertex]?.source
        else { return nil }
        return value
    }

    /// Begins or ends the expiry of a state, as its definition says.
    func connectExpiry(of state: AttributeID, _ record: AttributeRecord) {
        let span = record.definition?.expires
        guard span != nil || record.expiry != nil, case .state = record.source else { return }
        let operation = TimeOperator(.reported)
        let vertex =
            record.expiry ?? timedValues.value(operation, of: state)?.vertex ?? makeTimedVertex(operation, of: state)
        if record.expiry == nil { retainShared(vertex) }
        attributes[state]?.expiry = vertex
        guard let value = expiry(of: state), let past = value.past as? LastReport else { return }
        past.expiry = span?.nanoseconds
        let wasStale = past.isStale
        expire(value)
        if wasStale, !past.isStale, let last = past.current { setInput(state, .value(last)) }
        unsettled.note(value)
        if span == nil { releaseExpiry(of: state) }
    }

    func releaseExpiry(of state: AttributeID) {
        guard let vertex = attributes[state]?.expiry else { return }
        attributes[state]?.expiry = nil
        releaseShared(vertex)
    }

    /// Makes a state stale if its time is over. The error names the last report, so it is new after the wall clock was
    /// set.
    private func expire(_ value: TimedValue) {
        guard let past = value.past as? LastReport, past.expire(timedValues.now), let expiry = past.expiry else {
            return
        }
        let since = timedValues.time.wallTime(of: past.since)
        setInput(
            value.operand,
            .failure(
                Failure(
                    .stale, "nobody has written it since \(since) (expires: \(TimeSpan(nanoseconds: expiry)))",
                    path: path(of: value.operand))))
    }

    /// The content of a state, with its last value if it is stale.
    func content(ofStored state: AttributeID) -> Content {
        let content = content(of: state)
        guard case .failure(let failure) = content, failure.code == .stale,
            let past = expiry(of: state)?.past as? LastReport, past.isStale, let last = past.current
        else { return content }
        return .value(last)
    }

    // MARK: Entries

    // A map with `entries` uses an operator that knows when each entry was written. At its deadline, entries that
    // nobody has written are removed.

    /// The times of the last reports of a state's `entries`.
    func entryReports(of state: AttributeID) -> EntryReports? {
        guard let vertex = attributes[state]?.entries,
            case .timed(let value)? = attributes[vertex]?.source
        else { return nil }
        return value.past as? EntryReports
    }

    /// Begins or ends the expiry of a state's entries, as its definition says.
    func connectEntries(of state: AttributeID, _ record: AttributeRecord) {
        let bounds = record.definition?.entries
        guard bounds != nil || record.entries != nil, case .state = record.source else { return }
        let operation = TimeOperator(.entries)
        let vertex =
            record.entries ?? timedValues.value(operation, of: state)?.vertex ?? makeTimedVertex(operation, of: state)
        if record.entries == nil {
            retainShared(vertex)
            attributes.setEntries(vertex, at: state)
        }
        guard case .timed(let value)? = attributes[vertex]?.source, let past = value.past as? EntryReports
        else { return }
        past.expiry = bounds?.expires?.nanoseconds
        unsettled.note(value)
        if bounds == nil { releaseEntries(of: state) }
    }

    func releaseEntries(of state: AttributeID) {
        guard let vertex = attributes[state]?.entries else { return }
        attributes.setEntries(nil, at: state)
        releaseShared(vertex)
    }

    /// Removes the entries of a map whose time is over.
    private func removeExpiredEntries(_ value: TimedValue) {
        guard let past = value.past as? EntryReports else { return }
        let gone = Set(past.takeExpired(timedValues.now))
        guard !gone.isEmpty, case .value(.map(let map)) = content(ofStored: value.operand) else { return }
        let left = Value.map(ValueMap(map.lazy.filter { !gone.contains($0.key) }.map { ($0.key, $0.value) }))
        // A stale state keeps its error.
        if case .value = content(of: value.operand) {
            setInput(value.operand, .value(left))
        } else {
            expiry(of: value.operand)?.past.current = left
        }
        timedValues.noteExpired(value.operand)
    }

    /// States of which entries were removed because nobody had written them, since the last call.
    public func takeStatesWithExpiredEntries() -> [AttributeID] {
        timedValues.takeExpired().filter { engine.isAlive($0) }
    }

    // MARK: History

    // An attribute with `history` uses a vertex that records it, as a rule uses the operators that it names.

    /// Begins or ends the record of an attribute's past, as its definition says.
    func connectHistory(of attribute: AttributeID, _ record: AttributeRecord) {
        let operation = record.definition?.history.map { TimeOperator(.history, span: $0) }
        let wanted = operation.flatMap { timedVertex($0, of: attribute) }
        guard wanted != record.history else { return }
        if let wanted, let old = record.history { keepRecord(of: old, for: wanted) }
        releaseHistory(of: record)
        if let wanted { retainShared(wanted) }
        attributes[attribute]?.history = wanted
    }

    /// Another span changes the scale of a record.
    private func keepRecord(of old: AttributeID, for new: AttributeID) {
        guard case .timed(let old)? = attributes.source(old), let before = old.past as? Chart,
            case .timed(let new)? = attributes.source(new), let chart = new.past as? Chart
        else { return }
        chart.take(from: before, timedValues.now)
    }

    func releaseHistory(of record: AttributeRecord) {
        var record = record
        guard let vertex = record.history else { return }
        record.history = nil
        releaseShared(vertex)
    }
}
