import AttributeValues

/// One subscription of the daemon for all pages that ask for the same: a thousand pages on one board cost the daemon one.
///
/// It keeps the newest value of every path with the revision of its last change. So a page that joins gets a snapshot, a
/// page that comes back gets what has changed since, and a page that reads slowly gets the newest values only.
final class SharedWatch {
    /// Values of paths that are gone are remembered up to this number, for pages that come back.
    static let mostRemoved = 4096
    private static let lingering = 60

    struct Known {
        /// The change as the protocol tells it: path, value or error, and perhaps a timeline.
        var change: Value
        var revision: Int64
    }

    /// A subscription's parameters, which all its pages share.
    let parameters: ValueMap
    /// A page may ask for the same twice: its subscriptions are told apart by their index.
    private struct Key: Hashable {
        var page: ObjectIdentifier
        var index: Int
    }
    private var pages: [Key: (page: PageStream, index: Int)] = [:]
    /// Who waits for the daemon's answer.
    var awaiting: [(Answer?) -> Void] = []
    private(set) var known: [String: Known] = [:]
    private var removed: [String: Int64] = [:]
    /// Changes at or before this revision are not known one by one.
    private var oldest: Int64 = 0
    private(set) var epoch = ""
    /// Everything up to it is known.
    private(set) var revision: Int64 = 0
    private(set) var isReady = false
    /// Nobody has watched since, in seconds of the gateway's clock.
    var idleSince: Double?
    /// The daemon's number; nil while there is no connection or no answer.
    var subscription: Int64?

    init(parameters: ValueMap) { self.parameters = parameters }

    private var hearsStructure: Bool {
        (parameters["events"]?.list ?? []).contains { $0 == "structure" || $0 == "completion" || $0 == "invalidate" }
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

    /// What a page must hear before anything else.
    private func begin(_ page: PageStream, _ index: Int, _ since: (epoch: String, revision: Int64)?) {
        if let since, since.epoch == epoch, since.revision >= oldest, since.revision <= revision, !hearsStructure {
            let changed = known.values.lazy.filter { $0.revision > since.revision }.map(\.change)
            let gone = removed.lazy.filter { $0.value > since.revision }.map { SharedWatch.removal(of: $0.key) }
            page.send("resumed", index, ValueMap([("revision", .int(revision))]))
            let changes = Array(changed) + Array(gone)
            if !changes.isEmpty { page.send("update", index, ValueMap([("revision", .int(revision)), ("changes", .list(changes))])) }
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
    func update(of paths: Set<String>, from first: Int64) -> ValueMap {
        let changes = paths.sorted().map { known[$0]?.change ?? SharedWatch.removal(of: $0) }
        return ValueMap([("revision", .int(revision)), ("from", .int(first)), ("changes", .list(changes))])
    }

    private static func removal(of path: String) -> Value {
        ["path": .string(path), "error": ["code": "removed", "message": "the attribute has been removed"]]
    }

    // MARK: News

    /// The daemon has accepted the subscription: its snapshot comes next.
    func accepted(as number: Int64, epoch: String) {
        subscription = number
        if epoch != self.epoch { removed = [:] }
        self.epoch = epoch
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
            // Encoded once, however many pages hear it.
            let encoded = PageStream.Encoded(parameters)
            for (page, index) in pages.values { page.send(update: encoded, index, self, paths, revision) }
            return
        }
        isReady = true
        for (page, index) in pages.values { begin(page, index, page.position(of: index)) }
    }
}
