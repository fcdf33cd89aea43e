import AttributeValues
import TestSupport

/// The oracles, each named after the promise that it holds. They judge when every outcome is known: the model performs
/// the changes in the order of their revisions, and everything that anybody was told is compared with it.
final class Judgement {
    let truth = WatchTruth(rules: Model.ruleNames)
    private var model: Model
    private var contents: [String: Value]
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
            case .restart: model.restart()
            case .found(let changes):
                _ = model.perform(changes)
                gap(operation, revision, changes.map(\.path))
            case .foundNode(let isThere):
                model.make(isThere)
                gap(operation, revision, ["/w/m.z"])
            default: rest.append(operation)
            }
        }
        if !model.hasNode, rest.contains(where: { $0.concerns("/w/m.z") }), isMadeBefore(revision) { model.make(true) }
        // At most one of them has made the revision. The others have changed nothing at it.
        if rest.count > 1, let first = rest.firstIndex(where: { candidate in isPossible(candidate, before: rest) }) {
            rest.swapAt(0, first)
        }
        var changes = 0
        for operation in rest {
            let before = model
            if let refusal = Judgement.perform(operation, on: &model) {
                fault(
                    "[transact] at \(revision) \(operation.author) has done \(Judgement.text(operation)), which the model refuses: \(refusal)"
                )
            }
            if !model.isSame(as: before) { changes += 1 }
        }
        if changes > 1 {
            fault("[Order] revision \(revision) has \(changes) transactions: \(rest.map { Judgement.text($0) })")
        }
        if changes == 0, rest.count == group.count { return truth.note(revision, [:]) }
        let now = model.contents()
        var differences: [String: Value?] = [:]
        for (path, content) in now where contents[path] != content { differences.updateValue(content, forKey: path) }
        for path in contents.keys where now[path] == nil { differences.updateValue(nil, forKey: path) }
        contents = now
        truth.note(revision, differences)
    }

    private func gap(_ operation: Operation, _ revision: Int64, _ paths: [String]) {
        guard operation.low < revision else { return }
        for path in paths { truth.noteGap(operation.low + 1...revision, of: path) }
    }

    /// The lost request that made the node was performed at this revision or before.
    private func isMadeBefore(_ revision: Int64) -> Bool {
        operations.contains {
            guard case .foundNode(isThere: true) = $0.kind, let found = $0.revision else { return false }
            return $0.low < revision && revision <= found
        }
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
        case .node(let isThere): model.make(isThere)
        default: break
        }
        return nil
    }

    private static func text(_ operation: Operation) -> String {
        switch operation.kind {
        case .change(let changes): changes.map(\.text).joined(separator: ",")
        case .node(let isThere): isThere ? "apply m" : "remove m"
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
                        if case .test(let path, let value) = change {
                            return truth.hasHad(path, in: during) { $0 != ["value": value] }
                        }
                        return false
                    case "notFound":
                        return truth.hasHad(change.path, in: during) { $0 == nil }
                            || !truth.isEverKnown(change.path, in: during)
                    case "denied": return operation.mayBeDenied
                    case "readOnly": return change.path == "/w.sum"
                    case "typeMismatch": if case .set(_, .string) = change { return true } else { return false }
                    default: return false
                    }
                }
            case .node: isRight = code == "notFound"
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
                guard let path = path.string else { continue }
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
                case .subscribed(let result, let since): watch.validator.subscribed(result, since: since)
                case .event(let event):
                    figures.events += 1
                    watch.validator.receive(event)
                case .barrier(let revision): watch.validator.barrier(at: revision)
                case .answered(let values, let revision): watch.validator.answered(values, at: revision)
                case .interrupted: watch.validator.interrupted()
                }
            }
            watch.records = []
            for text in watch.validator.takeFaults() { fault("[Order] \(text)") }
        }
    }

    /// [Durability, onDisconnect] In the end the daemon has what the model has.
    private func judgeEnd(_ values: Value, _ revision: Int64, _ wills: [Int64], _ fault: (String) -> Void) {
        var told: [String: Value] = [:]
        for (path, content) in values.map ?? ValueMap() {
            // The attributes of the root are the machine's.
            if let path = path.string, !path.hasPrefix("/."), let content = WatchTruth.content(content) {
                told[path] = content
            }
        }
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
}
