import AttributeGraph
import AttributeValues
import SceneModel

/// The changes of a committed transaction. An object, because it is passed on with every write.
public final class Commit {
    /// States whose values have changed.
    public var states: [AttributeID] = []
    /// True if a state was reported whose reports somebody reads, also if its value has stayed.
    public var hasReports = false
    public var bindingAnimations: [AttributeID: String] = [:]
    /// True if `equal` is wanted.
    public var notesEqual = false
    /// States that were written with the values that they had.
    public var equal: [AttributeID] = []
    /// The paths of the actions that wrote states because of the change.
    public var causes: [AttributeID: String] = [:]

    public init(states: [AttributeID] = [], bindingAnimations: [AttributeID: String] = [:]) {
        self.states = states
        self.bindingAnimations = bindingAnimations
    }
}

/// How a new value depends on the present one.
public enum WriteBasis: Equatable {
    /// It replaces the present value, whatever that is.
    case nothing
    /// It merges this into the present value, or into the last one of a stale state.
    case lastValue(merging: Value)
    /// It follows from the present value, so there has to be one.
    case presentValue
}

/// A wiring whose states are written in transactions: all writes become visible at once, or none. Rules and actions in
/// a transaction see its writes so far.
public class TransactedWiring: Wiring {
    /// States with long values: the bytes that their values may still grow by.
    private final var sizesLeft: [AttributeID: Int] = [:]
    private final let reused = OpenTransaction()
    /// Asked about writes where they reach their states; nil: every write is allowed.
    public final var writeGuard: WriteGuard? { didSet { asksAlways = writeGuard?.isForAll == true } }
    private final var asksAlways = false
    /// The reports of transactions since the last `takeReports`, if an archive wants them.
    final var keptReports = KeptReports()
    /// The actions, and the bindings with rules, that lead the present writes. Without those of the daemon.
    final var writers: [WriteStep] = []
}

extension TransactedWiring {
    /// Forgets what is known of a state's value, which changes outside a transaction or goes.
    func forgetSize(of state: AttributeID) { if !sizesLeft.isEmpty { sizesLeft[state] = nil } }

    func giveBackSizes() { sizesLeft.giveBack() }

    /// Opens a transaction: all writes up to `ViewGraph.commit` are one change; after `rollBack` there is none.
    public func begin() {
        precondition(transaction == nil, "transactions do not nest")
        // Notes of a transaction that has changed nothing.
        if detours.isWanted, !detours.notesAll { _ = detours.end() }
        reused.begin(at: engine.revision)
        transaction = reused
    }

    /// Makes the writes visible: the part of `ViewGraph.commit` that changes no tree.
    func closeTransaction(into made: Commit) {
        let done = takeOpen()
        defer { done.end() }
        if detours.isWanted { for touched in done.touched { detours.note(touched) } }
        done.takeWrites { state, value in
            if detours.isWanted, !detours.notesAll { detours.note(touched(state)) }
            setInput(state, .value(value))
        }
        var same: Set<AttributeID>?
        if done.isAhead {
            engine.endBatch()
            same = forgetDetours(of: done)
        }
        made.states.removeEach()
        if !made.equal.isEmpty { made.equal = [] }
        for state in done.states {
            if engine.changedAt(state) > done.stamp {
                made.states.append(state)
            } else if made.notesEqual {
                made.equal.append(state)
            }
        }
        if let same { withdrawReports { made.states.isEmpty || same.contains($0) } }
        if !made.bindingAnimations.isEmpty || !done.bindingAnimations.isEmpty {
            made.bindingAnimations = done.bindingAnimations
        }
        for (state, written) in done.entries { entryReports(of: state)?.note(written) }
        if keepsTransient, !done.reports.isEmpty || !done.entries.isEmpty { keptReports.note(done) }
        made.hasReports = !done.reports.isEmpty && setReports(done.reports)
    }

    /// False for a state with an error.
    private func hasValue(_ state: AttributeID) -> Bool {
        (try? engine.withRead(state) { if case .value = $0 { true } else { false } }) ?? false
    }

    /// Takes all writes back. Nothing counts as changed.
    public func rollBack() {
        let done = takeOpen()
        defer { done.end() }
        for state in done.states { forgetSize(of: state) }
        guard done.isAhead else { return }
        let written = Set(done.states)
        for touched in done.touched where written.contains(touched.attribute) {
            if let content = touched.content { setInput(touched.attribute, content) }
        }
        engine.endBatch()
        _ = forgetDetours(of: done)
        withdrawReports { _ in true }
    }

    private func takeOpen() -> OpenTransaction {
        guard let open = transaction else { preconditionFailure("no open transaction") }
        transaction = nil
        return open
    }

    /// The content of a place, with the writes of the open transaction.
    public func contentInTransaction(at place: Place) -> Content {
        let place = follow(place)
        if let value = transaction?.value(of: place.attribute) { return value.select(place.steps) }
        // A rule may depend on what was written; a state that was not written cannot.
        if !isInput(record(place.attribute).source) { handOverWrites() }
        return content(of: place)
    }

    // MARK: Reading ahead of the commit

    /// Passes the writes so far to the engine, so that rules see them. Vertices that change are noted: see
    /// `forgetDetours`.
    private func handOverWrites() {
        guard let open = transaction, open.hasWrites else { return }
        // Earlier reports do not belong to this transaction.
        if !open.isAhead {
            collectReports()
            // A state that has its old value again at the commit counts as not written.
            engine.beginBatch()
        }
        open.isAhead = true
        open.takeWrites { state, value in setInput(state, .value(value)) }
    }

    /// A vertex that was touched ahead of the commit and has its old content in the end counts as never changed. All
    /// touched vertices are brought up to date first, because some may depend on values that were not committed.
    /// - Returns: the vertices with their old content.
    private func forgetDetours(of done: OpenTransaction) -> Set<AttributeID> { forgetDetours(in: done.touched) }

    /// The same for a change of several commits: what the last ones have taken back counts as not changed. Call it at
    /// the end of the change.
    public func endDetours() {
        let noted = detours.end()
        if noted.isEmpty { return }
        var known: Set<AttributeID> = []
        let same = forgetDetours(
            in: noted.filter { engine.isAlive($0.attribute) && known.insert($0.attribute).inserted })
        if !same.isEmpty { withdrawReports(since: 0) { same.contains($0) } }
    }

    private func forgetDetours(in all: [OpenTransaction.Touched]) -> Set<AttributeID> {
        for touched in all where engine.isAlive(touched.attribute) { _ = content(of: touched.attribute) }
        var same: Set<AttributeID> = []
        for touched in all {
            guard let before = touched.content, engine.isAlive(touched.attribute),
                content(of: touched.attribute) == before
            else { continue }
            engine.redate(touched.attribute, to: touched.changedAt)
            same.insert(touched.attribute)
        }
        return same
    }

    /// Withdraws the reports of attributes that have not changed after all since writes were passed to the engine.
    /// These attributes are read, which runs no rule, so that the engine reports their next change.
    /// - Parameter first: reports before this position stay.
    private func withdrawReports(since first: Int? = nil, _ isOver: (AttributeID) -> Bool) {
        let old = first ?? watches.invalidated.count
        collectReports()
        let over = Set(watches.invalidated[old...].filter(isOver))
        for attribute in over { _ = content(of: attribute) }
        watches.withdraw(over)
    }

    /// Writes a whole state in the open transaction: the common case of `write`, which follows no bindings and needs no
    /// path. Without it, a `set` takes a third more instructions (decision 162).
    /// - Parameter path: used for errors only.
    /// - Returns: false if the place is no whole state, has an error, or was written before in this transaction. Then
    ///   nothing was done.
    public func write(
        _ value: Value, toStateAt place: Place, _ path: @autoclosure () -> AttributePath
    ) throws(Failure) -> Bool {
        let state = place.attribute
        guard place.steps.isEmpty, let type = attributes.stateType(state), !asksAlways,
            attributes.statesWithEntries == 0 || attributes[state]?.definition?.entries == nil,
            transaction?.isStaged(state) == false, hasValue(state)
        else { return false }
        try charge(Budget.stepsPerBinding)
        // A short value is within the limit, whatever it replaces.
        let isShort = value.isShort
        let old = isShort ? .null : content(of: state).value ?? .null
        var bytesLeft = isShort || sizesLeft.isEmpty ? nil : sizesLeft[state]
        let mayGrow = !isShort && value.mayOutgrow(old)
        let accepted = try acceptWrite(
            value, after: old, as: type, at: path(), mayGrow: mayGrow, bytesLeft: &bytesLeft)
        guard let accepted else { throw mismatch(type, value, place, place, path()) }
        stage(accepted, for: place, nil)
        if let bytesLeft { sizesLeft[state] = bytesLeft }
        return true
    }

    /// Changes the value at a place, through any bindings, in the open transaction.
    /// - Parameters:
    ///   - isKept: the value was accepted once, and comes from a store or a document: the limit of its size does not
    ///     apply.
    ///   - wanted: the animation of the write, unless a binding on the way has one.
    ///   - change: makes the new value (nil: remove it) from the present one (nil: the key is missing).
    /// - Throws: `readOnly`, `typeMismatch`, `notFound`, `dangling`, `limit` or what `change` throws; then nothing was
    ///   written.
    public func write(
        _ place: Place, through path: AttributePath, isKept: Bool = false, on basis: WriteBasis = .nothing,
        animation wanted: String? = nil, _ change: (Value?) throws(Failure) -> Value?
    ) throws(Failure) {
        let way = try writable(place, path)
        let (state, animation) = (way.state, way.animation ?? wanted)
        if case .binding(.rules(_, let set)?, _)? = record(state.attribute).definition?.role {
            // No closure: bindings nest, and each level takes memory on the stack.
            let count = enterWay(way.steps, state.attribute)
            defer { writers.removeLast(writers.count - count) }
            return try write(
                set, of: state.attribute, at: state.steps, path, isKept: isKept, on: basis, animation, change)
        }
        try askGuard(state, way.steps)
        if case .object(let object) = record(state.attribute).source {
            return try write(object: object, in: state.attribute, animation, path, isKept: isKept, change)
        }
        let whole: Value
        if let written = transaction?.value(of: state.attribute) {
            whole = written
        } else {
            whole = try value(of: state, on: basis, path)
        }
        let bounds = attributes.statesWithEntries == 0 ? nil : record(state.attribute).definition?.entries
        let steps = stepsByPosition(state, in: whole)
        if !isKept { try charge(Budget.cost(ofWriteInto: whole, at: steps, through: way.bindings)) }
        let type = record(state.attribute).type
        var changed: Value
        var mayGrow = false
        do throws(Failure) {
            let present = bounds == nil ? whole : whole.withEntry(at: steps)
            changed = try present.changing(steps) { old throws(Failure) in
                let new = try change(old)
                mayGrow = new?.mayOutgrow(old) ?? false
                return new
            }
        } catch {
            throw error.located(at: path.description)
        }
        for bound in way.conversions {
            let steps = Array(state.steps.dropLast(bound.inside))
            // A part that was removed has no type.
            guard case .value(let part) = changed.select(steps) else { continue }
            guard let fitting = declarations.accept(part, as: bound.type) else {
                throw mismatch(
                    bound.type, part, Place(bound.binding),
                    Place(bound.binding, Array(state.steps.suffix(bound.inside))), path)
            }
            do { changed = try changed.changing(steps) { _ in fitting } } catch {
                throw error.located(at: path.description)
            }
        }
        var bytesLeft = sizesLeft.isEmpty || isKept ? nil : sizesLeft[state.attribute]
        let accepted =
            isKept
            ? declarations.accept(changed, as: type)
            : try acceptWrite(changed, after: whole, as: type, at: path, mayGrow: mayGrow, bytesLeft: &bytesLeft)
        guard let accepted else { throw mismatch(type, changed, Place(state.attribute), state, path) }
        if let bounds { try take(accepted, after: whole, at: steps, on: basis, bounds, isKept, of: state, path) }
        stage(accepted, for: state, animation)
        if let bytesLeft { sizesLeft[state.attribute] = bytesLeft }
    }

    /// Notes the entries that a write of a map with `entries` names.
    /// - Throws: `limit` if the map would get too many.
    private func take(
        _ value: Value, after old: Value, at steps: [AttributePath.Step], on basis: WriteBasis, _ bounds: EntryBounds,
        _ isKept: Bool, of state: Place, _ path: AttributePath
    ) throws(Failure) {
        let count = value.map?.count ?? 0
        guard isKept || count <= bounds.limit || count <= old.map?.count ?? 0 else {
            throw Failure(
                .limit, "\(path) would have more than \(bounds.limit) entries", path: path.description,
                hint: "the limit is in 'entries' of the state")
        }
        guard bounds.expires != nil else { return }
        if let key = steps.first?.entryKey {
            transaction?.noteEntries(.keys([key]), of: state.attribute)
        } else if case .lastValue(.map(let patch)) = basis {
            transaction?.noteEntries(.keys(patch.keys), of: state.attribute)
        } else {
            transaction?.noteEntries(.all, of: state.attribute)
        }
    }

    /// The value of the state that is about to be written. Of a stale one, it is the last value, unless the new value
    /// would follow from it.
    private func value(of place: Place, on basis: WriteBasis, _ path: AttributePath) throws(Failure) -> Value {
        let content = content(of: place.attribute)
        guard case .failure(let failure) = content else { return try content.get() }
        if basis == .presentValue { throw shown(failure, of: place.attribute).located(at: path.description) }
        if failure.code == .stale { return try self.content(ofStored: place.attribute).get() }
        // The rule for the state's first value has failed.
        return try place.steps.isEmpty ? .null : content.get()
    }

    /// - Parameters:
    ///   - value: the new value of the whole state.
    ///   - written: the place in the state that was written.
    func stage(_ value: consuming Value, for written: Place, _ animation: String?) {
        guard transaction != nil else { preconditionFailure("writes belong to a transaction") }
        let state = written.attribute
        forgetSize(of: state)
        if attributes.reportedStates > 0, attributes.reports(state) != nil {
            transaction?.noteReport(of: written)
        }
        transaction?.stage(consume value, for: state, animation)
    }

    /// The error for a value that does not fit.
    /// - Parameters:
    ///   - whole: the place that has the type and would get the value.
    ///   - written: the place in it that was written, which `path` names.
    func mismatch(_ type: ValueType, _ value: Value, _ whole: Place, _ written: Place, _ path: AttributePath) -> Failure
    {
        var misfit = Misfit(of: value, in: type, declarations)
        // The faulty part is named from the path as it was written, if that path leads to it.
        let isInside = misfit.steps.starts(with: written.steps)
        if isInside { misfit.steps.removeFirst(written.steps.count) }
        let isNamed = !isInside && isVisible(whole.attribute)
        return misfit.refusal(at: isNamed ? self.path(of: whole.attribute) : path.description, path: path.description)
    }

    /// The way of a write from a place to a state.
    struct WriteWay {
        /// The place in a state where the way ends.
        var state: Place
        /// The animation of the outermost binding that has one.
        var animation: String?
        /// Number of bindings and references that were followed.
        var bindings = 0
        /// The parts that led there, without those of the daemon.
        var steps: [WriteStep] = []
        /// The bindings on the way that convert what is written to a type of their own, outermost first. `inside` is
        /// the number of steps from their values to the written place.
        var conversions: [(binding: AttributeID, type: ValueType, inside: Int)] = []
    }

    func writable(_ place: Place, _ path: AttributePath) throws(Failure) -> WriteWay {
        var way = WriteWay(state: place)
        for _ in 0...limits.depth {
            let place = way.state
            let record = record(place.attribute)
            way.bindings += 1
            if way.animation == nil { way.animation = record.animation }
            if case .state = record.source { return way }
            switch (record.kind, record.source) {
            case (.state, .object) where place.steps.isEmpty: return way
            case (.binding, .rule): return way
            default: break
            }
            if let step = step(at: place.attribute) { way.steps.append(step) }
            if record.kind == .inherit, !place.steps.isEmpty, let provided = provided(to: record, &way) {
                way.state = Place(provided.attribute, provided.steps + place.steps)
                continue
            }
            switch (record.kind, record.source) {
            case (_, .object(let node)):
                guard nodes.isAlive(node) else { throw RuleHost.removed.located(at: path.description) }
                guard case .key(let property)? = place.steps.first else {
                    throw Failure(
                        .readOnly, "\(path) is an object; write one of its properties", path: path.description,
                        hint: "one of \(nodes[node].attributes.map(\.name).joined(separator: ", "))")
                }
                guard let attribute = ownAttribute(property, of: node) else {
                    throw noProperty(property, of: node, path)
                }
                way.state = Place(attribute, Array(place.steps.dropFirst()))
            case (.binding, .alias(let target, _)):
                if record.convertsToType { way.conversions.append((place.attribute, record.type, place.steps.count)) }
                way.state = Place(target.attribute, target.steps + place.steps)
            case (_, .rooted(let reference)):
                let target = try self.place(reference)
                way.state = Place(target.attribute, target.steps + place.steps)
            case (.binding, .selected(let selection)):
                if record.convertsToType { way.conversions.append((place.attribute, record.type, place.steps.count)) }
                let target = try self.place(selection)
                way.state = Place(target.attribute, target.steps + place.steps)
            case (.let, .alias(let target, _)), (.inherit, .alias(let target, _)):
                // Values that are given or inherited cannot be written, but the properties of an object can.
                guard !place.steps.isEmpty, isObject(at: target) else { throw readOnly(place.attribute, path) }
                way.state = Place(target.attribute, target.steps + place.steps)
            case (.let, .selected(let selection)):
                let target = try self.place(selection)
                guard !place.steps.isEmpty, isObject(at: target) else { throw readOnly(place.attribute, path) }
                way.state = Place(target.attribute, target.steps + place.steps)
            case (.binding, .literal(.failure(let failure))):
                throw shown(failure, of: place.attribute).located(at: path.description)
            default: throw readOnly(place.attribute, path)
            }
        }
        throw Failure(.limit, "\(path) goes through too many bindings", path: path.description)
    }

    /// The place of the object that an attribute inherits, by the reference that provides it, which may lead through
    /// others. That reference becomes a step on the way.
    private func provided(to record: AttributeRecord, _ way: inout WriteWay) -> Place? {
        guard case .inheritObject(let type, _)? = record.definition?.role,
            let provider = nodes.nearestProvider(ofType: type, at: record.node),
            let place = providedPlace(provider.position, of: provider.row), isObject(at: place)
        else { return nil }
        let author = nodes[provider.row].definition.environmentObjects[provider.position].author
        if author != .daemon { way.steps.append(WriteStep(attribute: place.attribute, author: author)) }
        return place
    }

    /// True if there is an object at a place, in a state or as a value.
    private func isObject(at place: Place) -> Bool {
        if case .object = record(follow(place).attribute).source { return true }
        return declaredType(of: place).objectName != nil
    }

    private func readOnly(_ attribute: AttributeID, _ path: AttributePath) -> Failure {
        guard isVisible(attribute) else {
            return Failure(.readOnly, "\(path) refers to an attribute that cannot be written", path: path.description)
        }
        let record = record(attribute)
        let hint: String
        switch (record.kind, record.source) {
        case (.let, .alias(let source, _)):
            let target = follow(source, isWritten: true).attribute
            if !isVisible(target) {
                hint = "write what it depends on"
            } else if case .state = self.record(target).source {
                hint = "write \(self.path(of: target)), where its value comes from"
            } else {
                hint = "its value comes from \(self.path(of: target))"
            }
        case (.let, .rule(let rule)): hint = "its value comes from the rule \(rule.program.text)"
        case (.let, _): hint = "a let is given by whoever uses the component; make it a state or a binding"
        case (.computed, .rule(let rule)): hint = "it is computed as \(rule.program.text)"
        case (.inherit, _): hint = "override it with environment: on a node above"
        case (.binding, _): hint = "it is bound to a constant"
        case (.action, _): hint = "call it with do"
        default: hint = "write what it depends on"
        }
        let what =
            switch record.kind {
            case .inherit: "an inherited value"
            case .action: "an action"
            default: "a \(record.kind.rawValue)"
            }
        return Failure(.readOnly, "\(path) is \(what), which cannot be written", path: path.description, hint: hint)
    }
}

extension AttributePath.Step {
    /// The key of the entry of a map to which the step leads; nil for an element of a list.
    var entryKey: Value? {
        switch self {
        case .key(let name): .string(name)
        case .index(let index): .int(Int64(index))
        case .element: nil
        }
    }
}

extension Value {
    /// This map with an entry for the first of several steps. A missing one is an empty map.
    fileprivate func withEntry(at steps: [AttributePath.Step]) -> Value {
        guard steps.count > 1, case .map(var map) = self, let key = steps[0].entryKey, map[key] == nil else {
            return self
        }
        map[key] = .map(ValueMap())
        return .map(map)
    }
}
