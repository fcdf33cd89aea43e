import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

/// What differs in a part of the tree between two moments, and which transactions made it differ.
///
/// agd-past shows both moments. It explains each value that differs; if it does not know the cause, the newest write
/// of a state behind the value counts.
struct MomentDifferences {
    struct Difference {
        enum Kind {
            case came, went, value
            /// A fact of the definition, as `rule`.
            case definition(String)
        }

        var path: String
        var kind: Kind
        var before: Content?
        var after: Content?
        /// The state whose write changed a computed value.
        var cause: String?
        /// The position of its transaction in `transactions`; nil: no transaction is known.
        var transaction: Int?
    }

    private let past: Connection
    private var begin: Moment
    private var end: Moment
    private(set) var differences: [Difference] = []
    /// The transactions that made the differences, newest first.
    private(set) var transactions: [ValueMap] = []
    /// Their positions, by epoch and revision.
    private var known: [String: Int] = [:]

    /// At most so many attributes behind a value are looked at.
    private static let mostInputs = 1000
    /// So many states are asked for at once.
    private static let mostPaths = 500
    /// The most transactions of an answer of `log`.
    private static let longestLog = 10_000

    /// - Throws: a complaint if the path is there at neither moment.
    init(_ path: String, from: PastTime, to: PastTime, _ session: Session) throws {
        past = try session.past()
        begin = try Moment(from, path, past, session)
        end = try Moment(to, path, past, session)
        if let missing = begin.missing, end.missing != nil { throw missing }
        guard begin.time <= end.time else {
            throw Complaint(.usage, "--from is after --to", hint: "exchange the two")
        }
        compare()
        try findStructure(below: path)
        try findWrites()
        sort()
    }

    // MARK: Comparing

    private mutating func compare() {
        for (path, node) in end.nodes.pairs {
            guard let old = begin.nodes[path] else {
                if end.isTop(path, without: begin) { differences.append(Difference(path: path, kind: .came)) }
                continue
            }
            for fact in ["kind", "component"] { compare(old, node, fact, path) }
        }
        for (path, _) in begin.nodes.pairs where end.nodes[path] == nil {
            if begin.isTop(path, without: end) { differences.append(Difference(path: path, kind: .went)) }
        }
        for (path, attribute) in end.attributes.pairs {
            guard let old = begin.attributes[path] else {
                if begin.has(nodeOf: path) { differences.append(Difference(path: path, kind: .came)) }
                continue
            }
            let (before, after) = (ContentRow.content(of: .map(old)), ContentRow.content(of: .map(attribute)))
            if before != after {
                differences.append(Difference(path: path, kind: .value, before: before, after: after))
            }
            for fact in ["kind", "type", "rule", "target", "action", "animation", "expires", "history", "entries"] {
                compare(old, attribute, fact, path)
            }
        }
        for (path, _) in begin.attributes.pairs where end.attributes[path] == nil {
            if end.has(nodeOf: path) { differences.append(Difference(path: path, kind: .went)) }
        }
        for (name, declaration) in end.declarations.pairs {
            compare(begin.declarations[name], declaration, name)
        }
        for (name, declaration) in begin.declarations.pairs where end.declarations[name] == nil {
            compare(declaration, nil, name)
        }
    }

    private mutating func compare(_ old: ValueMap, _ new: ValueMap, _ fact: String, _ path: String) {
        guard old[fact] != new[fact] else { return }
        differences.append(
            Difference(
                path: path, kind: .definition(fact), before: old[fact].map { .value($0) },
                after: new[fact].map { .value($0) }))
    }

    private mutating func compare(_ old: Value?, _ new: Value?, _ name: String) {
        guard old != new else { return }
        let kind: Difference.Kind = old == nil ? .came : new == nil ? .went : .definition("declaration")
        differences.append(
            Difference(path: name, kind: kind, before: old.map { .value($0) }, after: new.map { .value($0) }))
    }

    // MARK: Transactions

    private var logFrom: PastTime { begin.next }
    private var logTo: PastTime { end.here }

    /// The position of a transaction.
    private mutating func note(_ transaction: ValueMap) -> Int {
        let key = "\(transaction["epoch"]?.string ?? end.epoch):\(transaction["revision"]?.jsonText ?? "")"
        if let position = known[key] { return position }
        var transaction = transaction
        transaction["epoch"] = transaction["epoch"] ?? .string(end.epoch)
        known[key] = transactions.count
        transactions.append(transaction)
        return transactions.count - 1
    }

    /// Finds the transactions that changed the tree and the declarations.
    private mutating func findStructure(below path: String) throws {
        let wanted = differences.indices.filter { if case .value = differences[$0].kind { false } else { true } }
        guard !wanted.isEmpty else { return }
        let node = end.nodes.isEmpty && begin.nodes.isEmpty ? Moment.node(of: path) : path
        let log = Request.Log(
            patterns: node == "/" ? [] : [node], from: logFrom, to: logTo, count: Self.longestLog, structure: true)
        var newest: [String: ValueMap] = [:]
        for transaction in try transactions(of: log) {
            for case .map(let row) in transaction["structure"]?.list ?? [] {
                guard let name = row["row"]?.string else { continue }
                if newest[name] == nil { newest[name] = transaction }
            }
        }
        for position in wanted {
            let path = differences[position].path
            var rows = path.hasPrefix("@") ? [path] : [path, Moment.node(of: path)]
            let component = (end.nodes[Moment.node(of: path)] ?? begin.nodes[Moment.node(of: path)])?["component"]
            if let component = component?.string { rows.append("@components.\(component)") }
            if let transaction = rows.compactMap({ newest[$0] }).first {
                differences[position].transaction = note(transaction)
            }
        }
    }

    /// Finds the transactions that changed values.
    private mutating func findWrites() throws {
        /// The states behind the values whose cause is not known.
        var waiting: [(difference: Int, states: [String])] = []
        for position in differences.indices {
            guard case .value = differences[position].kind else { continue }
            let path = differences[position].path
            guard let explained = try explain(path) else { continue }
            if let changed = explained["changed"]?.map, case .int(let revision)? = changed["revision"] {
                // A value may change later than what it follows from, because time passes.
                if begin.epoch == end.epoch, revision <= begin.revision { continue }
                differences[position].transaction = note(changed)
                if let cause = explained["chain"]?.list?.last?.string, cause != path {
                    differences[position].cause = cause
                }
            } else {
                waiting.append((position, try states(behind: path, explained)))
            }
        }
        try findWrites(&waiting)
        // A list makes and removes nodes with its elements.
        for position in differences.indices where differences[position].transaction == nil {
            guard let parent = Moment.parent(of: differences[position].path) else { continue }
            let elements = differences.first { $0.path == parent + ".elements" }
            switch differences[position].kind {
            case .came, .went: differences[position].transaction = elements?.transaction
            case .value, .definition: break
            }
        }
    }

    /// Finds the newest write of a state behind each value.
    private mutating func findWrites(_ waiting: inout [(difference: Int, states: [String])]) throws {
        waiting.removeAll { $0.states.isEmpty }
        while !waiting.isEmpty {
            // The first ones, as many as one request takes. Each answer settles one, or nobody knows them.
            var asked: Set<String> = []
            let count =
                waiting.firstIndex {
                    asked.formUnion($0.states)
                    return asked.count >= Self.mostPaths
                }.map { $0 + 1 } ?? waiting.count
            let log = Request.Log(patterns: asked.sorted(), from: logFrom, to: logTo, count: Self.longestLog)
            var part = Array(waiting[..<count])
            for transaction in try transactions(of: log) {
                let written = Set(
                    (transaction["writes"]?.list ?? []).compactMap { $0.map?["path"]?.string }
                        + (transaction["structure"]?.list ?? []).compactMap { $0.map?["row"]?.string })
                part.removeAll { waiting in
                    guard let state = waiting.states.first(where: written.contains) else { return false }
                    differences[waiting.difference].transaction = note(transaction)
                    if state != differences[waiting.difference].path { differences[waiting.difference].cause = state }
                    return true
                }
                if part.isEmpty { break }
            }
            waiting = (part.count < count ? part : []) + waiting[count...]
        }
    }

    private func transactions(of log: Request.Log) throws -> [ValueMap] {
        (try past.call(.log(log)).map?["transactions"]?.list ?? []).compactMap(\.map)
    }

    /// - Returns: nil if there is no such attribute.
    private func explain(_ path: String) throws -> ValueMap? {
        do throws(ClientError) { return try past.call(.explain(path: path, revision: nil)).map } catch {
            guard error.failure != nil else { throw error }
            return nil
        }
    }

    /// The states that an attribute depends on.
    private func states(behind path: String, _ explained: ValueMap) throws -> [String] {
        var states: [String] = []
        var seen: Set<String> = [path]
        var pending: [(String, ValueMap)] = [(path, explained)]
        while let (path, explained) = pending.popLast(), seen.count < Self.mostInputs {
            if explained["kind"] == "state" {
                states.append(path)
                continue
            }
            let inputs = (explained["dependencies"]?.list ?? []).compactMap(\.string)
            for input in inputs where seen.insert(input).inserted {
                if let explained = try explain(input) { pending.append((input, explained)) }
            }
        }
        return states
    }

    /// Orders the transactions, newest first.
    private mutating func sort() {
        func time(_ map: ValueMap) -> (Timestamp, Int64) {
            let revision: Int64 = if case .int(let number)? = map["revision"] { number } else { 0 }
            return (map["time"]?.string.flatMap { Timestamp($0) } ?? .epoch, revision)
        }
        let order = transactions.indices.sorted { time(transactions[$0]) > time(transactions[$1]) }
        var place = order
        for (new, old) in order.enumerated() { place[old] = new }
        transactions = order.map { transactions[$0] }
        for position in differences.indices {
            differences[position].transaction = differences[position].transaction.map { place[$0] }
        }
    }
}

extension MomentDifferences {
    /// A part of the tree as it was.
    private struct Moment {
        var epoch: String
        var revision: Int64
        var time: Timestamp
        /// In the order of the tree.
        var nodes = Index<ValueMap>()
        var attributes = Index<ValueMap>()
        /// As `@components.Sensor`.
        var declarations = Index<Value>()
        /// Why nothing is there.
        var missing: ClientError?

        init(_ time: PastTime, _ path: String, _ past: Connection, _ session: Session) throws(ClientError) {
            let here = try past.call(.seek(time)).map ?? ValueMap()
            session.tellRelease(in: here)
            epoch = here["epoch"]?.string ?? ""
            revision = if case .int(let number)? = here["revision"] { number } else { 0 }
            self.time = here["time"]?.string.flatMap { Timestamp($0) } ?? .epoch
            do throws(ClientError) {
                let described = try past.call(.describe(path: path, depth: nil)).map ?? ValueMap()
                if described["id"] == nil { attributes[path] = described } else { collect(described) }
            } catch {
                guard error.failure?.code == .notFound else { throw error }
                missing = error
                return
            }
            if path == "/" { try collectDeclarations(past) }
        }

        private mutating func collect(_ top: ValueMap) {
            var pending = [top]
            while let node = pending.popLast() {
                guard let path = node["path"]?.string else { continue }
                nodes[path] = node
                for case (.string(let name), .map(let attribute)) in node["attributes"]?.map ?? ValueMap() {
                    attributes["\(path).\(AttributePath.quoteIfNeeded(name))"] = attribute
                }
                pending += (node["children"]?.list ?? []).reversed().compactMap(\.map)
            }
        }

        /// Collects the declarations of the scene document. A client that may not read everything sees none.
        private mutating func collectDeclarations(_ past: Connection) throws(ClientError) {
            let document = try past.call(.dump(path: "/", format: .scene)).map?["document"]?.map ?? ValueMap()
            for group in ["functions", "types", "components"] {
                for case (.string(let name), let value) in document[group]?.map ?? ValueMap() {
                    declarations["@\(group).\(name)"] = value
                }
            }
            for case (.string(let kind), .map(let named)) in document["keys"]?.map ?? ValueMap() {
                for case (.string(let name), let value) in named { declarations["@keys/\(kind).\(name)"] = value }
            }
        }

        /// This moment, for `log`.
        var here: PastTime { .revision(UInt64(clamping: revision), epoch: epoch) }
        /// The revision after this moment.
        var next: PastTime { .revision(UInt64(clamping: revision) + 1, epoch: epoch) }

        /// True if the node around a node is at another moment too.
        func isTop(_ path: String, without other: Moment) -> Bool {
            guard let parent = Moment.parent(of: path), nodes[parent] != nil else { return true }
            return other.nodes[parent] != nil
        }

        func has(nodeOf path: String) -> Bool { nodes[Moment.node(of: path)] != nil }

        static func parent(of path: String) -> String? {
            guard var nodes = try? AttributePath(path).nodes, !nodes.isEmpty else { return nil }
            nodes.removeLast()
            return AttributePath.describe(nodes: nodes)
        }

        /// The node of an attribute's path, or the node itself.
        static func node(of path: String) -> String {
            (try? AttributePath(path)).map { AttributePath.describe(nodes: $0.nodes) } ?? path
        }
    }

    /// Values by name, in the order in which they came.
    private struct Index<Element> {
        private(set) var pairs: [(name: String, value: Element)] = []
        private var positions: [String: Int] = [:]

        var isEmpty: Bool { pairs.isEmpty }

        subscript(name: String) -> Element? {
            get { positions[name].map { pairs[$0].value } }
            set {
                guard let newValue, positions[name] == nil else { return }
                positions[name] = pairs.count
                pairs.append((name, newValue))
            }
        }
    }
}

// MARK: Showing

extension MomentDifferences {
    /// The differences of each transaction, and at last those of none that is known.
    private var groups: [(transaction: ValueMap?, differences: [Difference])] {
        let grouped = Dictionary(grouping: differences) { $0.transaction ?? transactions.count }
        return grouped.sorted { $0.key < $1.key }.map { position, differences in
            (position < transactions.count ? transactions[position] : nil, differences)
        }
    }

    func text(_ style: Style) -> String {
        let log = LogText(style: style)
        var text = ""
        for (transaction, differences) in groups {
            text +=
                transaction.map(log.heading) ?? style.dim("without a write: clocks, operators over time and choices")
            text += "\n"
            let width = min(
                48,
                differences.map { if case .value = $0.kind { $0.path.count } else { 0 } }.max() ?? 0)
            for difference in differences { text += "    " + line(difference, width, log) + "\n" }
        }
        return text
    }

    private func line(_ difference: Difference, _ width: Int, _ log: LogText) -> String {
        let path = difference.path.printable
        let change = "\(shown(difference.before, log)) → \(shown(difference.after, log))"
        switch difference.kind {
        case .came: return log.style.green("+ \(path)")
        case .went: return log.style.red("- \(path)")
        case .definition(let fact): return "\(log.style.yellow("~ \(path) \(fact)"))  \(change)"
        case .value:
            let cause = difference.cause.map { log.style.dim("  ← \($0.printable)") } ?? ""
            return "\(log.padded(difference.path, width))  \(change)\(cause)"
        }
    }

    private func shown(_ content: Content?, _ log: LogText) -> String {
        switch content {
        case nil: log.style.dim("nothing")
        case .value(let value)?: log.shown(value)
        case .failure(let failure)?: log.style.red("error: \(ContentRow.oneLine(failure.message))")
        }
    }

    /// Each transaction as `agctl log` tells it, with `differences` in place of its writes.
    var json: [Value] {
        groups.map { transaction, differences in
            var map = ValueMap()
            for name in ["revision", "epoch", "time", "client", "label"] {
                map[name] = transaction?[name] ?? (name == "revision" ? .null : nil)
            }
            map["differences"] = .list(ValueList(differences.map(\.json)))
            return .map(map)
        }
    }
}

extension MomentDifferences.Difference {
    fileprivate var json: Value {
        var map = ValueMap([("path", .string(path))])
        switch kind {
        case .came: map["came"] = true
        case .went: map["went"] = true
        case .definition(let fact): map["definition"] = .string(fact)
        case .value: break
        }
        for (name, content) in [("before", before), ("after", after)] {
            switch content {
            case .value(let value)?: map[name] = value
            case .failure(let failure)?: map["\(name)Error"] = failure.json
            case nil: break
            }
        }
        if let cause { map["cause"] = .string(cause) }
        return .map(map)
    }
}
