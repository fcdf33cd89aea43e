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
    }

    /// A subscription's parameters, which all its pages share.
    let parameters: ValueMap
    /// A page may request the same subscription twice; the index distinguishes them.
    private struct Key: Hashable {
        var page: ObjectIdentifier
        var index: Int
    }
    private var pages: [Key: (page: PageStream, index: Int)] = [:]
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
    /// The time since which no page watches, in seconds of the gateway's clock.
    var idleSince: Double?
    /// The daemon's number; nil without a connection or before the answer.
    var subscription: Int64?

    init(parameters: ValueMap) { self.parameters = parameters }

    /// True if a returning page gets a snapshot, because its events are not stored by path.
    private var needsSnapshot: Bool {
        parameters["reports"] == true
            || (parameters["events"]?.list ?? []).contains {
                $0 == "structure" || $0 == "completion" || $0 == "invalidate"
            }
    }

    // MARK: Pages

    func join(_ page: PageStream, at index: Int, since: (epoch: String, revision: Int64)?) {
        pages[Key(page: ObjectIdentifier(page), index: index)] = (page, index)
        idleSince = nil
        if isReady { begin(page, index, since) }
    }

    func leave(_ page: PageStream, at index: Int, at now: Double) {
        pages[Key(page: ObjectIdentifier(page), index: index)] = nil
        if pages.isEmpty { idleSince = now }
    }

    var isUnused: Bool { pages.isEmpty }

    func isIdle(at now: Double) -> Bool { idleSince.map { now - $0 > Double(SharedWatch.lingering) } ?? false }

    /// Sends a page the events with which its subscription begins.
    private func begin(_ page: PageStream, _ index: Int, _ since: (epoch: String, revision: Int64)?) {
        if let since, since.epoch == epoch, since.revision >= oldest, since.revision <= revision, !needsSnapshot {
            let changed = known.values.lazy.filter { $0.revision > since.revision }.map(\.change)
            let gone = removed.lazy.filter { $0.value > since.revision }.map { SharedWatch.removal(of: $0.key.text) }
            page.send("resumed", index, ValueMap([("revision", .int(revision))]))
            let changes = Array(changed) + Array(gone)
            if !changes.isEmpty {
                page.send("update", index, ValueMap([("revision", .int(revision)), ("changes", .list(changes))]))
            }
        } else {
            page.send("update", index, snapshot)
        }
        page.didHear(index, epoch, revision)
    }

    private var snapshot: ValueMap {
        ValueMap([
            ("revision", .int(revision)), ("initial", true),
            ("changes", .list(known.keys.sorted().compactMap { known[$0]?.change })),
        ])
    }

    /// The newest values of paths, for a page that was slow.
    func update(of paths: Set<Name>, from first: Int64) -> ValueMap {
        let changes = paths.sorted().map { known[$0]?.change ?? SharedWatch.removal(of: $0.text) }
        return ValueMap([("revision", .int(revision)), ("from", .int(first)), ("changes", .list(changes))])
    }

    private static func removal(of path: String) -> Value {
        ["path": .string(path), "error": ["code": "removed", "message": "the attribute has been removed"]]
    }

    // MARK: Events

    /// The daemon has accepted the subscription. Its snapshot comes next.
    func accepted(as number: Int64, epoch: String) {
        subscription = number
        if epoch != self.epoch { removed = [:] }
        self.epoch = epoch
    }

    /// The daemon, which is back, refuses what it accepted before.
    func refuse(_ refusal: Answer) {
        for (page, index) in pages.values { page.send("refused", index, PageStream.Encoded(refusal)) }
    }

    func connectionLost() {
        subscription = nil
        isReady = false
    }

    func receive(_ method: String, _ parameters: ValueMap) {
        if case .int(let number)? = parameters["revision"] { revision = max(revision, number) }
        switch method {
        case "update": update(parameters)
        case "bookmark": for (page, index) in pages.values { page.didHear(index, epoch, revision) }
        default: for (page, index) in pages.values { page.send(method, index, parameters) }
        }
    }

    private func update(_ parameters: ValueMap) {
        let isInitial = parameters["initial"] == true
        if isInitial {
            known = [:]
            removed = [:]
            oldest = revision
        }
        var paths: [String] = []
        for change in parameters["changes"]?.list ?? [] {
            guard let path = change.map?["path"]?.string else { continue }
            paths.append(path)
            if change.map?["error"]?.map?["code"] == "removed" {
                known[path] = nil
                removed[path] = revision
            } else {
                known[path] = Known(change: change, revision: revision)
                if !removed.isEmpty { removed[path] = nil }
            }
        }
        if removed.count > SharedWatch.mostRemoved {
            oldest = revision
            removed = [:]
        }
        guard isInitial else {
            // Encoded once for all pages.
            let encoded = PageStream.Encoded(parameters)
            for (page, index) in pages.values { page.send(update: encoded, index, paths, revision) }
            return
        }
        isReady = true
        for (page, index) in pages.values { begin(page, index, page.position(of: index)) }
    }
}
