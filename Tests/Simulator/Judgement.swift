import AttributeValues
import TestSupport

/// The oracles, each named after the promise that it holds. They judge when every outcome is known: the model performs
/// the changes in the order of their revisions, and everything that anybody was told is compared with it.
final class Judgement {
    let truth = WatchTruth(rules: Model.ruleNames)
    private(set) var model: Model
    private(set) var contents: [String: Value]
    var operations: [Operation] = []
    var reads: [(reader: String, values: Value, revision: Int64)] = []
    var watches: [Watch] = []
    var restarts = 0
    /// What clients believe that accounts have.
    var guess: [String: Int64] = [:]
    var unknownWills: Set<Int> = []
    private(set) var figures = (operations: 0, reads: 0, events: 0, refusals: 0)
    /// The revision of each `once` identifier.
    private var performed: [String: Int64] = [:]

    init(_ model: Model) {
        self.model = model
        contents = model.contents()
        truth.note(0, contents.mapValues { Optional($0) })
    }

    /// An answer has come.
    func note(_ operation: Operation) {
        guard let once = operation.once, let revision = operation.revision else { return }
        if let before = performed[once], before != revision {
            repeated.append("\(once) was performed at \(before) and at \(revision)")
        }
        performed[once] = revision
    }
    private var repeated: [String] = []

    func judge(_ values: Value, _ revision: Int64, wills: [Int64], _ fault: (String) -> Void) {
        for text in repeated { fault("[transact: once] \(text)") }
        perform(fault)
        truth.note(revision, [:])
        judgeRefusals(fault)
        judgeReads(fault)
        judgeWatches(fault)
        judgeEnd(values, revision, wills, fault)
    }

    /// [Order, Durability] Every acknowledged change is in the order of revisions, and is possible there.
    private func perform(_ fault: (String) -> Void) {
        let done = operations.filter { $0.revision != nil }.enumerated()
            .sorted { ($0.element.revision ?? 0, $0.offset) < ($1.element.revision ?? 0, $1.offset) }.map(\.element)
        var start = 0
        while start < done.count {
            let revision = done[start].revision ?? 0
            var end = start
            while end < done.count, done[end].revision == revision { end += 1 }
            perform(Array(done[start..<end]), at: revision, fault)
            start = end
        }
        figures.operations += done.count
    }

    private func perform(_ group: [Operation], at revision: Int64, _ fault: (String) -> Void) {
        var rest: [Operation] = []
        for operation in group {
            switch operation.kind {
            case .restart(let edition): model.restart(edition)
            case .found(let changes):
                _ = model.perform(changes)
                gap(operation, revision, changes.map(\.path))
            case .foundTree(let tree):
                model.become(tree)
                gap(operation, revision, Model.Tree.paths + ["/box1/ball.next", "/box2/ball.next"])
            default: rest.append(operation)
            }
        }
        // A lost change of the tree, of which only the result is known, was before somebody wrote there.
        for operation in rest {
            guard let path = Model.Tree.paths.first(where: operation.concerns), model.states[path] == nil,
                let tree = treeFound(behind: revision)
            else { continue }
            model.become(tree)
        }
        // At most one of them has made the revision. The others have changed nothing at it.
        if rest.count > 1, let first = rest.firstIndex(where: { candidate in isPossible(candidate, before: rest) }) {
            rest.swapAt(0, first)
        }
        var changes = 0
        for operation in rest {
            model.hasChanged = false
            if let refusal = Judgement.perform(operation, on: &model) {
                fault(
                    "[transact] at \(revision) \(operation.author) has done \(Judgement.text(operation)), which the model refuses: \(refusal)"
                )
            }
            if model.hasChanged { changes += 1 }
        }
        if changes > 1 {
            fault("[Order] revision \(revision) has \(changes) transactions: \(rest.map { Judgement.text($0) })")
        }
        if changes == 0, rest.count == group.count { return truth.note(revision, [:]) }
        become(model, at: revision)
    }

    /// The model has changed.
    func become(_ model: Model, at revision: Int64) {
        self.model = model
        var differences: [String: Value?] = [:]
        if let written = self.model.takeWritten() {
            for (path, content) in written where contents[path] != content {
                differences.updateValue(content, forKey: path)
                contents[path] = content
            }
            return truth.note(revision, differences)
        }
        let now = model.contents()
        for (path, content) in now where contents[path] != content { differences.updateValue(content, forKey: path) }
        for path in contents.keys where now[path] == nil { differences.updateValue(nil, forKey: path) }
        contents = now
        truth.note(revision, differences)
    }

    private func gap(_ operation: Operation, _ revision: Int64, _ paths: [String]) {
        guard operation.low < revision else { return }
        for path in paths { truth.noteGap(operation.low + 1...revision, of: path) }
    }

    /// The tree that was found after this revision, and that a lost request had made before it.
    private func treeFound(behind revision: Int64) -> Model.Tree? {
        for operation in operations {
            if case .foundTree(let tree) = operation.kind, let found = operation.revision, operation.low < revision,
                revision <= found
            {
                return tree
            }
        }
        return nil
    }

    private func isPossible(_ first: Operation, before others: [Operation]) -> Bool {
        var model = model
        if Judgement.perform(first, on: &model) != nil { return false }
        let after = model
        return others.allSatisfy { $0 === first || Judgement.perform($0, on: &model) == nil && model.isSame(as: after) }
    }

    private static func perform(_ operation: Operation, on model: inout Model) -> String? {
        switch operation.kind {
        case .change(let changes): return model.perform(changes)
        case .tree(let tree): model.become(tree)
        default: break
        }
        return nil
    }

    private static func text(_ operation: Operation) -> String {
        switch operation.kind {
        case .change(let changes): changes.map(\.text).joined(separator: ",")
        case .tree(let tree): "\(tree)"
        default: "\(operation.kind)"
        }
    }

    /// [Rights, Errors, linearizability] What was refused could not be done at some moment while it was under way.
    private func judgeRefusals(_ fault: (String) -> Void) {
        for operation in operations {
            if let wanted = operation.mustFail, operation.refusal != wanted {
                fault("[Rights] \(operation.author) was not refused with \(wanted): \(Judgement.text(operation))")
            }
            guard let code = operation.refusal, operation.mustFail == nil else { continue }
            figures.refusals += 1
            let during = min(operation.low, operation.high)...operation.high
            let isRight: Bool
            switch operation.kind {
            case .change(let changes):
                isRight = changes.contains { change in
                    switch code {
                    case "conflict":
                        switch change {
                        case .test(let path, let value):
                            return truth.hasHad(path, in: during) { $0 != ["value": value] }
                        case .call("/act.guarded", _):
                            return truth.hasHad("/w.on", in: during) { $0 != ["value": true] }
                        default: return false
                        }
                    case "notFound":
                        return truth.hasHad(change.path, in: during) { $0 == nil }
                            || !truth.isEverKnown(change.path, in: during)
                    case "denied": return operation.mayBeDenied
                    case "readOnly": return change.path == "/w.sum"
                    case "typeMismatch": if case .set(_, .string) = change { return true } else { return false }
                    default: return false
                    }
                }
            case .tree: isRight = code == "notFound"
            case .forwarded: isRight = true
            default: isRight = true
            }
            if !isRight {
                fault("[Errors] \(operation.author) was refused with \(code): \(Judgement.text(operation)), \(during)")
            }
        }
        operations = []
    }

    /// [get] Each answer is of one revision.
    private func judgeReads(_ fault: (String) -> Void) {
        for read in reads {
            figures.reads += 1
            for (path, told) in read.values.map ?? ValueMap() {
                guard let path = path.string, !path.hasPrefix(Model.past) else { continue }
                let (content, wanted) = (WatchTruth.content(told), truth.content(of: path, at: read.revision))
                if content != wanted, truth.isKnown(path, read.revision) {
                    fault(
                        "[get] \(read.reader) reads \(path) at \(read.revision): \(told.jsonText.prefix(100)) and not \(wanted?.jsonText ?? "nothing")"
                    )
                }
            }
        }
        reads = []
    }

    /// [Order, Coming back] Ordered, unique, atomic, reliable, resumable, bookmarkable.
    private func judgeWatches(_ fault: (String) -> Void) {
        for watch in watches {
            for (restarts, record) in watch.records {
                truth.replay(restarts: restarts)
                switch record {
                case .subscribed(let result, let since):
                    watch.validator.subscribed(result, since: since)
                    watch.motion?.begin(result)
                case .event(let event):
                    figures.events += 1
                    watch.validator.receive(event)
                    watch.motion?.receive(event)
                case .barrier(let revision): watch.validator.barrier(at: revision)
                case .answered(let values, let revision): watch.validator.answered(values, at: revision)
                case .interrupted:
                    watch.validator.interrupted()
                    watch.motion?.interrupted()
                }
            }
            watch.records = []
            for text in watch.validator.takeFaults() { fault("[Order] \(text)") }
            watch.motion?.comeToRest()
            for text in watch.motion?.takeFaults() ?? [] { fault("[Animation] \(text)") }
        }
    }

    /// [Durability, onDisconnect] In the end the daemon has what the model has.
    private func judgeEnd(_ values: Value, _ revision: Int64, _ wills: [Int64], _ fault: (String) -> Void) {
        let told = Judgement.contents(values)
        judgePast(values, fault)
        for (number, count) in wills.enumerated() {
            let path = "/wills.k\(number)"
            if !unknownWills.contains(number), told[path] != ["value": .int(count)] {
                fault(
                    "[onDisconnect] \(path) is \(told[path]?.jsonText ?? "nothing"), and connections have ended \(count) times"
                )
            }
        }
        for path in Set(told.keys).union(contents.keys).sorted()
        where !path.hasPrefix("/wills.") && told[path] != contents[path] {
            fault(
                "[Durability] in the end at \(revision) \(path) is \(told[path]?.jsonText ?? "nothing") and not \(contents[path]?.jsonText ?? "nothing")"
            )
        }
    }

    /// [The past] When nothing has changed for longer than any window, the operators have come to rest.
    private func judgePast(_ values: Value, _ fault: (String) -> Void) {
        func told(_ path: String) -> Value? { values.map?[.string(path)].flatMap(WatchTruth.content) }
        for (name, source) in [("a", "/w.a"), ("on", "/w.on"), ("calm", "/w.a"), ("stood", "/w.on"), ("peak", "/w.a")]
        where told(Model.past + name) != contents[source] {
            fault(
                "[The past] \(Model.past)\(name) is \(told(Model.past + name)?.jsonText ?? "nothing") and \(source) \(contents[source]?.jsonText ?? "nothing")"
            )
        }
        if let before = told(Model.past + "before"), !truth.hasHad("/w.a", in: 0...Int64.max, { $0 == before }) {
            fault("[The past] \(Model.past)before is \(before.jsonText), which /w.a has never been")
        }
        if told(Model.past + "fresh") != ["error": "stale"] {
            fault(
                "[state: expires] \(Model.past)fresh is \(told(Model.past + "fresh")?.jsonText ?? "nothing") in the end"
            )
        }
    }
}
