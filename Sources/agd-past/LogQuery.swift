import Archive
import AttributeValues
import GraphRuntime
import ViewGraph
import WireProtocol

/// Answers `log`: the newest transactions that match, each with its changes.
struct LogQuery {
    private let log: Request.Log
    private let patterns: [PathPattern]
    private let folder: String
    /// True if the client may read an attribute.
    private let mayRead: (String) -> Bool
    private let mayReadAll: Bool
    private let told: (Author?) -> Value
    private var entries: [Value] = []
    /// Bytes of the answer, about.
    private var size = 0

    /// Transactions of an answer, if the request does not say how many.
    static let standardCount = 100
    private static let mostCount = 10_000
    /// The most changes that are told of one transaction.
    private static let mostChanges = 1000

    init(
        _ log: Request.Log, in folder: String, mayReadAll: Bool, mayRead: @escaping (String) -> Bool,
        told: @escaping (Author?) -> Value
    ) throws(Failure) {
        self.log = log
        self.folder = folder
        (self.mayRead, self.mayReadAll, self.told) = (mayRead, mayReadAll, told)
        var patterns: [PathPattern] = []
        for text in log.patterns { patterns.append(try LogQuery.pattern(text)) }
        self.patterns = patterns
    }

    /// A path stands for itself; the path of a node for all below it.
    private static func pattern(_ text: String) throws(Failure) -> PathPattern {
        if text.utf8.contains(UInt8(ascii: "*")) { return try PathPattern(text) }
        let path = try AttributePath(text)
        return path.attribute == nil ? PathPattern(subtreeAt: path.nodes) : PathPattern(attributesAt: path)
    }

    /// - Returns: the answer, newest first.
    mutating func answer() throws(Failure) -> Value {
        let wanted = min(log.count ?? LogQuery.standardCount, LogQuery.mostCount)
        let segments = Segment.all(in: folder)
        var hasMore = false
        // The basis of the segment after the one that is being read.
        var later: SegmentBasis?
        var gaps: [Value] = []
        // Lives before that of `from` and after that of `to` are passed over.
        var hasMetFirst = false
        var hasMetLast = LogQuery.life(of: log.to) == nil
        // From the newest segment on. A segment is read from its beginning, so its newest entries come last.
        for segment in segments.reversed() {
            if entries.count >= wanted {
                hasMore = true
                break
            }
            guard let basis = SegmentBasis(of: segment.number, in: folder) else { continue }
            let epoch = basis.epoch
            if hasMetFirst, LogQuery.life(of: log.from) != epoch { break }
            hasMetFirst = hasMetFirst || LogQuery.life(of: log.from) == epoch
            hasMetLast = hasMetLast || LogQuery.life(of: log.to) == epoch
            guard hasMetLast else { continue }
            if let to = log.to, isAfter(basis.revision, basis.wall, epoch, to) { continue }
            guard let reader = SegmentReader(segment.number, in: folder) else { continue }
            var found = try entries(of: reader)
            if mayReadAll, let later, !later.continues, later.wall > reader.last.wall {
                gaps.append(["from": .timestamp(reader.last.wall), "to": .timestamp(later.wall)])
            }
            later = basis
            if found.count > wanted - entries.count {
                hasMore = true
                found.removeFirst(found.count - (wanted - entries.count))
            }
            entries += found.reversed()
            if let from = log.from, isBefore(basis.revision, basis.wall, epoch, from) { break }
        }
        var answer = ValueMap([
            ("transactions", .list(ValueList(entries))), ("more", .bool(hasMore)), ("gaps", .list(ValueList(gaps))),
        ])
        let oldest = segments.first.flatMap { SegmentBasis(of: $0.number, in: folder) }
        answer["begins"] = oldest.map { .timestamp($0.wall) }
        return .map(answer)
    }

    private static func life(of bound: PastTime?) -> String? {
        if case .revision(_, let epoch)? = bound { epoch } else { nil }
    }

    private func isAfter(_ revision: UInt64, _ wall: Timestamp, _ epoch: String, _ bound: PastTime) -> Bool {
        switch bound {
        case .time(let time): wall > time
        case .revision(let number, let life): life ?? epoch == epoch && revision > number
        }
    }

    private func isBefore(_ revision: UInt64, _ wall: Timestamp, _ epoch: String, _ bound: PastTime) -> Bool {
        switch bound {
        case .time(let time): wall < time
        case .revision(let number, let life): life ?? epoch == epoch && revision < number
        }
    }

    /// The matching transactions of a segment, oldest first.
    private func entries(of reader: SegmentReader) throws(Failure) -> [Value] {
        var found: [Value] = []
        var present: Entry?
        /// The last values of states, by key and name, as far as the segment has them.
        var values: [Name: [Name: Value]] = [:]
        /// By state: whether its changes are asked for.
        var shown: [ObjectIdentifier: Bool] = [:]
        func shows(_ state: RecordedState) -> Bool {
            if let known = shown[ObjectIdentifier(state)] { return known }
            let isShown = self.shows(state.path)
            shown[ObjectIdentifier(state)] = isShown
            return isShown
        }
        func close() {
            if let entry = present, let told = tell(entry, of: reader.basis.epoch) { found.append(told) }
            present = nil
            // Only the newest ones are told. One more shows that there are older ones.
            if found.count > 2 * LogQuery.mostCount { found.removeFirst(LogQuery.mostCount) }
        }
        while let record = try reader.next() {
            switch record {
            case .transaction(let transaction):
                close()
                let isWithin =
                    log.from.map { !isBefore(transaction.revision, transaction.wall, reader.basis.epoch, $0) } ?? true
                    && log.to.map { !isAfter(transaction.revision, transaction.wall, reader.basis.epoch, $0) } ?? true
                if transaction.isRevision, isWithin, matches(transaction) { present = Entry(transaction) }
            case .write(let state, let value, let isReaction):
                if present != nil, shows(state) {
                    let before = values[Name(state.key)]?[Name(state.name)]
                    present?.add(state.path, before, value, isReaction: isReaction)
                }
                values[Name(state.key), default: [:]][Name(state.name)] = value
            case .burst(let state, let count, _, let least, let greatest, let last):
                if present != nil, shows(state) {
                    present?.add(state.path, count: count, least, greatest, last)
                }
                values[Name(state.key), default: [:]][Name(state.name)] = last
            case .row(let key, let name, let value, _):
                // agd itself sets values at the root, as `scenePhase`. Like ticks of clocks, they are not listed.
                let isOfSystem = key.isEmpty && name?.isEmpty == false
                if present != nil, mayReadAll, !isOfSystem, !StoreChange.isOfRuntime(key), isInside(key) {
                    present?.add(row: key, name, isGone: value == nil)
                }
                if let name { values[Name(key), default: [:]][Name(name)] = value } else { values[Name(key)] = nil }
            case .imageRow(let key, let name, let value): values[Name(key), default: [:]][Name(name)] = value
            case .report, .entries, .imageBegins, .imageEnds, .end: break
            }
        }
        close()
        return found
    }

    private func matches(_ transaction: RecordedTransaction) -> Bool {
        if let label = log.label, transaction.label.map({ $0.contains(label) }) != true { return false }
        guard let by = log.by else { return true }
        guard let author = transaction.author else { return by == "agd" }
        return author.name == by || author.principal == by || "\(author.peer.uid)" == by
    }

    private func shows(_ path: String) -> Bool {
        if !patterns.isEmpty {
            guard let path = try? AttributePath(path) else { return false }
            let own = PathPattern(attributesAt: path)
            guard patterns.contains(where: { $0.covers(own) }) else { return false }
        }
        return mayReadAll || mayRead(path)
    }

    private func isInside(_ key: String) -> Bool {
        guard !patterns.isEmpty, !key.hasPrefix("@") else { return patterns.isEmpty }
        guard let path = try? AttributePath(key.isEmpty ? "/" : key) else { return false }
        return patterns.contains { $0.covers(PathPattern(subtreeAt: path.nodes)) }
    }

    /// A transaction whose changes are being collected.
    private struct Entry {
        let transaction: RecordedTransaction
        var writes: [Value] = []
        var structure: [Value] = []
        var hasMore = false

        init(_ transaction: RecordedTransaction) { self.transaction = transaction }

        mutating func add(_ path: String, _ before: Value?, _ value: Value, isReaction: Bool) {
            guard hasRoom() else { return }
            var map = ValueMap([("path", .string(path))])
            if let before { map["before"] = before }
            map["after"] = value
            if isReaction { map["reaction"] = true }
            writes.append(.map(map))
        }

        mutating func add(_ path: String, count: Int, _ least: Value, _ greatest: Value, _ last: Value) {
            guard hasRoom() else { return }
            writes.append([
                "path": .string(path), "count": .int(Int64(count)), "least": least, "greatest": greatest,
                "after": last,
            ])
        }

        mutating func add(row key: String, _ name: String?, isGone: Bool) {
            guard hasRoom() else { return }
            let what = name.map { $0.isEmpty ? key : "\(key).\($0)" } ?? key
            structure.append(["row": .string(what.isEmpty ? "/" : what), "gone": .bool(isGone)])
        }

        private mutating func hasRoom() -> Bool {
            guard writes.count + structure.count < LogQuery.mostChanges else {
                hasMore = true
                return false
            }
            return true
        }
    }

    /// - Returns: nil if the transaction has changed nothing that was asked for.
    private func tell(_ entry: Entry, of epoch: String) -> Value? {
        if log.structure, entry.structure.isEmpty { return nil }
        if entry.writes.isEmpty, entry.structure.isEmpty, !patterns.isEmpty || !mayReadAll { return nil }
        // The ticks of clocks are no news.
        if entry.writes.isEmpty, entry.structure.isEmpty, entry.transaction.author == nil { return nil }
        let transaction = entry.transaction
        var map = ValueMap([
            ("revision", .int(Int64(clamping: transaction.revision))), ("epoch", .string(epoch)),
            ("time", .timestamp(transaction.wall)),
        ])
        map["client"] = told(transaction.author)
        if let label = transaction.label { map["label"] = Value.string(label) }
        if log.isBrief {
            map["changes"] = .int(Int64(entry.writes.count + entry.structure.count))
            return .map(map)
        }
        map["writes"] = Value.list(ValueList(entry.writes))
        if !entry.structure.isEmpty { map["structure"] = Value.list(ValueList(entry.structure)) }
        if entry.hasMore { map["more"] = true }
        return .map(map)
    }
}
