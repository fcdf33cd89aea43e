import AttributeValues

/// One subscription of the daemon for all pages with the same request, also for a thousand of them.
///
/// It stores the newest value of every path with the revision of its last change. So a new page gets a snapshot, a
/// returning page gets the changes since its last event, and a page that reads slowly gets only the newest values.
final class SharedWatch {
    /// Maximum number of removed paths that are stored for returning pages.
    static let mostRemoved = 4096
    private static let lingering = 60

    struct Known {
        /// The change as in the protocol: path, value or error, and possibly a timeline.
        var change: Value
        var revision: Int64
        /// Bytes that the change is charged with.
        var size: Int
    }

    /// A subscription's parameters, which all its pages share.
    let parameters: ValueMap
    /// A page may request the same subscription twice; the index distinguishes them.
    private struct Key: Hashable {
        var page: ObjectIdentifier
        var index: Int
    }
    private var pages: [Key: (page: PageStream, index: Int)] = [:]
    /// The number of pages that wait for it and have yet to join.
    private var pending = 0
    /// The callbacks that wait for the daemon's answer.
    var awaiting: [(Answer?) -> Void] = []
    private(set) var known: [Name: Known] = [:]
    private var removed: [Name: Int64] = [:]
    /// Changes up to this revision are not known individually.
    private var oldest: Int64 = 0
    private(set) var epoch = ""
    /// All changes up to this revision are known.
    private(set) var revision: Int64 = 0
    private(set) var isReady = false
    /// The time since which it is unused, in seconds of the gateway's clock.
    private(set) var idleSince: Double?
    /// The reason why the daemon or the gateway has ended it.
    private(set) var ending: Answer?
    /// The daemon's number; nil without a connection or before the answer.
    var subscription: Int64?
    private var encoded: PageStream.Encoded?
    /// The answer for pages that have missed the same updates.
    private var missed: (first: Int64, paths: Set<Name>?, encoded: PageStream.Encoded)?
    private let pace: Pace
    private let memory: Account
    /// One subscription of the principal.
    let place: Account

    init(parameters: ValueMap, memory: Account, place: Account, _ pace: Pace) {
        self.pace = pace
        self.parameters = parameters
        self.memory = memory
        self.place = place
    }

    /// True if a returning page gets a snapshot, because its events are not stored by path.
    private var needsSnapshot: Bool {
        parameters["reports"] == true
            || (parameters["events"]?.list ?? []).contains {
                $0 == "structure" || $0 == "completion" || $0 == "invalidate"
            }
    }

    // MARK: Pages

    /// A page waits for the subscription, and maybe for others, before it joins.
    func expectPage() {
        pending += 1
        idleSince = nil
    }

    /// An expected page has come or gone.
    func release(at now: Double) {
        pending -= 1
        if isUnused { idleSince = now }
    }

    func join(_ page: PageStream, at index: Int) {
        pages[Key(page: ObjectIdentifier(page), index: index)] = (page, index)
        idleSince = nil
        if isReady { page.begin(index) }
    }

    func leave(_ page: PageStream, at index: Int, at now: Double) {
        pages[Key(page: ObjectIdentifier(page), index: index)] = nil
        if isUnused { idleSince = now }
    }

    /// True if no page watches, and none waits to.
    var isUnused: Bool { pages.isEmpty && pending == 0 }

    /// True if it can be forgotten. One whose request is under way would otherwise be left at the daemon.
    var isIdle: Bool { idleSince != nil && awaiting.isEmpty }

    func isIdle(at now: Double) -> Bool {
        isIdle && (idleSince.map { now - $0 > Double(SharedWatch.lingering) } ?? false)
    }

    /// Sends a page the events with which its subscription begins, unless there is no space for them.
    /// - Parameter since: the position from which the page continues.
    func begin(_ page: PageStream, _ index: Int, since: (epoch: String, revision: Int64)?) {
        if let since, since.epoch == epoch, since.revision >= oldest, since.revision <= revision, !needsSnapshot {
            let resumed = PageStream.Encoded(ValueMap([("revision", .int(revision))]))
            guard page.put("resumed", index, resumed) else { return }
            let changes = changes(after: since.revision)
            if !changes.isEmpty {
                let update = ValueMap([("revision", .int(revision)), ("changes", .list(ValueList(changes)))])
                guard page.put("update", index, encode(update)) else { return }
            }
        } else {
            guard page.put("update", index, encodedSnapshot) else { return }
        }
        page.didHear([index], epoch, revision)
    }

    /// Made once for all pages that begin between two events.
    private var encodedSnapshot: PageStream.Encoded {
        if let encoded { return encoded }
        let made = encode(snapshot)
        encoded = made
        return made
    }

    private func encode(_ update: ValueMap) -> PageStream.Encoded {
        let made = PageStream.Encoded(update)
        pace.spend(made.fields.count * Pace.perByteEncoded)
        return made
    }

    private var snapshot: ValueMap {
        ValueMap([
            ("revision", .int(revision)), ("initial", true),
            ("changes", .list(known.keys.sorted().compactMap { known[$0]?.change })),
        ])
    }

    private func changes(after first: Int64) -> [Value] {
        let changed = known.values.lazy.filter { $0.revision > first }.map(\.change)
        let gone = removed.lazy.filter { $0.value > first }.map { SharedWatch.removal(of: $0.key.text) }
        return Array(changed) + Array(gone)
    }

    /// The newest values, for a page that was slow.
    /// - Parameters:
    ///   - paths: nil if they were too many to be stored.
    ///   - first: the revision of the first update that the page has missed.
    func encodedUpdate(of paths: Set<Name>?, from first: Int64) -> PageStream.Encoded {
        if let missed, missed.first == first, missed.paths == paths { return missed.encoded }
        let made = encode(update(of: paths, from: first))
        missed = (first, paths, made)
        return made
    }

    private func update(of paths: Set<Name>?, from first: Int64) -> ValueMap {
        if paths == nil, first <= oldest { return snapshot }
        let changes =
            paths.map { $0.sorted().map { known[$0]?.change ?? SharedWatch.removal(of: $0.text) } }
            ?? changes(after: first - 1)
        return ValueMap([
            ("revision", .int(revision)), ("from", .int(first)), ("changes", .list(ValueList(changes))),
        ])
    }

    private static func removal(of path: String) -> Value {
        ["path": .string(path), "error": ["code": "removed", "message": "the attribute has been removed"]]
    }

    // MARK: Events

    /// The daemon has accepted the subscription. Its snapshot comes next.
    func accepted(as number: Int64, epoch: String) {
        subscription = number
        // Revisions of another life of the graph mean nothing in this one.
        if epoch != self.epoch { (known, removed, oldest, revision) = ([:], [:], 0, 0) }
        self.epoch = epoch
    }

    /// The daemon, which is back, refuses what it accepted before.
    func refuse(_ refusal: Answer) {
        let refusal = PageStream.Encoded(refusal)
        for (page, index) in pages.values { page.send("refused", index, refusal) }
    }

    /// The daemon has ended the subscription, and pages have been told.
    func end(_ reason: Answer) { ending = reason }

    /// Gives up the stored values, which take too much memory.
    func drop() {
        (known, removed, oldest) = ([:], [:], 0)
        isReady = false
        _ = memory.resize(to: 0)
    }

    func connectionLost() {
        (encoded, missed) = (nil, nil)
        subscription = nil
        isReady = false
    }

    /// - Returns: false if the values that the subscription stores take too much memory.
    func receive(_ method: String, _ parameters: ValueMap) -> Bool {
        (encoded, missed) = (nil, nil)
        if case .int(let number)? = parameters["revision"] { revision = max(revision, number) }
        switch method {
        case "update": return update(parameters)
        case "bookmark":
            // A page with many equal subscriptions looks once whether it has heard all.
            let indices = Dictionary(grouping: pages.values) { ObjectIdentifier($0.page) }
            for entries in indices.values { entries[0].page.didHear(entries.map(\.index), epoch, revision) }
        default:
            let encoded = encode(parameters)
            for (page, index) in pages.values { page.send(method, index, encoded) }
        }
        return true
    }

    private func update(_ parameters: ValueMap) -> Bool {
        let isInitial = parameters["initial"] == true
        if isInitial {
            known = [:]
            removed = [:]
            oldest = revision
        }
        var paths: [String] = []
        var size = isInitial ? 0 : memory.amount
        for change in parameters["changes"]?.list ?? [] {
            guard let path = change.map?["path"]?.string else { continue }
            paths.append(path)
            size -= known[path]?.size ?? 0
            if change.map?["error"]?.map?["code"] == "removed" {
                known[path] = nil
                removed[path] = revision
            } else {
                var rest = Limits.memory
                change.draw(from: &rest, isTyped: false)
                let one = SharedWatch.entry + (Limits.memory - rest) * Limits.storedFactor
                size += one
                known[path] = Known(change: change, revision: revision, size: one)
                if !removed.isEmpty { removed[path] = nil }
            }
        }
        guard memory.resize(to: size, isGrowth: !isInitial) else { return false }
        if removed.count > SharedWatch.mostRemoved {
            oldest = revision
            removed = [:]
        }
        guard isInitial else {
            // Encoded once for all pages.
            let encoded = encode(parameters)
            for (page, index) in pages.values { page.send(update: encoded, index, paths, revision) }
            return true
        }
        isReady = true
        for (page, index) in pages.values { page.begin(index) }
        return true
    }

    /// Bytes of a stored path beside the change.
    private static let entry = 100
}
