import AttributeValues

/// What the graph held at each revision, as its only writer knows it: contents by path, each as `{"value": …}` or
/// `{"error": code}`.
public final class WatchTruth {
    /// The contents of each path, by the revisions at which they began.
    private var histories: [String: [(revision: Int64, content: Value?)]] = [:]
    /// The paths whose contents changed, by revision.
    private var changed: [(revision: Int64, paths: [String])] = []
    /// Stretches of revisions of which nothing is known: a daemon was killed in them.
    private var gaps: [ClosedRange<Int64>] = []
    /// The same for single paths.
    private var gapsOfPaths: [String: [ClosedRange<Int64>]] = [:]
    /// The number of restarts.
    public private(set) var restarts = 0
    /// The last revision that the writer was told of.
    public private(set) var revision: Int64 = 0
    /// The writer has sent what it has no answer to: nothing is known behind the last revision.
    public var isOpen = false
    private var patterns: [String: PathPattern] = [:]
    private var paths: [String: AttributePath] = [:]
    /// The known paths that patterns name.
    private var named: [[String]: Set<String>] = [:]

    /// Names of attributes that have rules.
    private let rules: Set<String>

    public init(rules: Set<String>) { self.rules = rules }

    /// Whether a path names a value that a rule computes.
    func isComputed(_ path: String) -> Bool { rules.contains { path.hasSuffix("." + $0) } }

    /// The daemon has ended and is to start again.
    public func noteRestart() { restarts += 1 }

    /// What is told from here on was told in that life of the daemon.
    public func replay(restarts: Int) { self.restarts = restarts }

    /// What `get` was answered with.
    public func add(_ revision: Int64, _ values: Value) {
        var contents: [String: Value] = [:]
        for (path, content) in values.map ?? ValueMap() {
            if let path = path.string, let content = WatchTruth.content(content) { contents[path] = content }
        }
        // A change in a gap counts from its first revision, and not from where the writer saw it: a watcher may have
        // been told before.
        var change = revision
        if isOpen, self.revision + 1 < revision {
            change = self.revision + 1
            gaps.append(change...revision - 1)
        }
        isOpen = false
        var differences = contents.filter { histories[$0.key]?.last?.content != $0.value }.mapValues { Optional($0) }
        for (path, history) in histories where contents[path] == nil && history.last?.content != nil {
            differences.updateValue(nil, forKey: path)
        }
        note(change, differences)
        self.revision = max(self.revision, revision)
    }

    /// Paths that have new contents from a revision on, each as `{"value": …}` or `{"error": code}`; nil: none.
    public func note(_ revision: Int64, _ contents: [String: Value?]) {
        self.revision = max(self.revision, revision)
        if contents.isEmpty { return }
        for (path, content) in contents {
            if histories[path] == nil { named = [:] }
            histories[path, default: []].append((revision, content))
        }
        changed.append((revision, contents.keys.sorted()))
    }

    /// Nobody knows when in these revisions a path changed.
    public func noteGap(_ revisions: ClosedRange<Int64>, of path: String) {
        gapsOfPaths[path, default: []].append(revisions)
    }

    /// What `get` or a change says of a path; nil where it says that there is nothing.
    public static func content(_ told: Value) -> Value? {
        if let value = told.map?["value"] { return ["value": value] }
        guard let code = told.map?["error"]?.map?["code"], code != "notFound", code != "removed" else { return nil }
        return ["error": code]
    }

    func isKnown(_ revision: Int64) -> Bool {
        !gaps.contains { $0.contains(revision) } && !(isOpen && revision > self.revision)
    }

    public func isKnown(_ path: String, _ revision: Int64) -> Bool {
        gapsOfPaths.isEmpty || gapsOfPaths[path]?.contains { $0.contains(revision) } != true
    }

    /// The known paths that patterns name.
    func paths(of patterns: [String]) -> Set<String> {
        if let known = named[patterns] { return known }
        let found = Set(histories.keys.filter { path in patterns.contains { names(path, $0) } })
        named[patterns] = found
        return found
    }

    /// All paths that have ever had a content.
    public var allPaths: Set<String> { Set(histories.keys) }

    public func content(of path: String, at revision: Int64) -> Value? {
        guard let history = histories[path] else { return nil }
        let next = history.partitioningIndex { $0.revision > revision }
        return next == 0 ? nil : history[next - 1].content
    }

    /// Whether a path has had a content at some of the revisions.
    public func hasHad(_ path: String, in revisions: ClosedRange<Int64>, _ condition: (Value?) -> Bool) -> Bool {
        if condition(content(of: path, at: revisions.lowerBound)) { return true }
        let history = histories[path] ?? []
        let next = history.partitioningIndex { $0.revision > revisions.lowerBound }
        return history[next...].prefix { $0.revision <= revisions.upperBound }.contains { condition($0.content) }
    }

    /// Whether a path was known all the time.
    public func isEverKnown(_ path: String, in revisions: ClosedRange<Int64>) -> Bool {
        gapsOfPaths[path]?.contains { $0.overlaps(revisions) } != true
    }

    /// Revisions behind one and up to another at which what the patterns name became another.
    func changes(of patterns: [String], after start: Int64, through end: Int64) -> [Int64] {
        let named = paths(of: patterns)
        return changes(after: start, through: end).filter { $0.paths.contains { named.contains($0) } }.map(\.revision)
    }

    /// What changed behind one revision and up to another.
    func changes(after start: Int64, through end: Int64) -> ArraySlice<(revision: Int64, paths: [String])> {
        // The first contents are no change.
        let first = max(1, changed.partitioningIndex { $0.revision > start })
        guard first < changed.count else { return [] }
        return changed[first...].prefix { $0.revision <= end }
    }

    /// Paths whose content became another one at a revision.
    func changedPaths(of patterns: [String], at revision: Int64) -> [String] {
        let named = paths(of: patterns)
        return changes(after: revision - 1, through: revision).flatMap(\.paths).filter {
            named.contains($0) && content(of: $0, at: revision - 1) != content(of: $0, at: revision)
        }
    }

    public func names(_ path: String, _ patterns: [String]) -> Bool { patterns.contains { names(path, $0) } }

    private func names(_ path: String, _ text: String) -> Bool {
        if path == text { return true }
        let pattern: PathPattern
        if let known = patterns[text] {
            pattern = known
        } else {
            guard let read = try? PathPattern(text) else { return false }
            patterns[text] = read
            pattern = read
        }
        let place: AttributePath
        if let known = paths[path] {
            place = known
        } else {
            guard let read = try? AttributePath(path) else { return false }
            paths[path] = read
            place = read
        }
        guard place.steps == pattern.steps, pattern.matches(nodes: place.nodes) else { return false }
        return pattern.attribute == nil || pattern.attribute == place.attribute
    }
}

/// Holds what one subscription is sent against the promises of a watch: events are ordered, unique, atomic and
/// reliable, and one can resume from them and from bookmarks.
public final class WatchValidator {
    public let patterns: [String]
    public let events: Set<String>
    /// Updates of a subscription with `maxRate` may come behind replies.
    public let hasMaxRate: Bool
    public private(set) var faults: [String] = []
    /// From where the subscription can be resumed: the last revision that all is known of.
    public private(set) var position: Int64? { didSet { lifeOfPosition = truth.restarts } }
    private var lifeOfPosition = 0
    /// Contents as they were told.
    public private(set) var known: [String: Value] = [:]
    /// The paths of which something else was told than the truth has at a revision; nil: not compared yet.
    private var differing: Set<String>?
    private var comparedAt: Int64 = 0
    public private(set) var updates = 0
    public private(set) var bookmarks = 0

    private let truth: WatchTruth
    private let name: String
    /// The last update, or what replaced it.
    private var told: Int64 = 0
    private var lastStructure: Int64 = 0
    /// The update that follows is a snapshot, or what was missed since a revision.
    private var awaitsSnapshot = false
    private var resumedSince: Int64?
    /// It was resumed from an earlier life of the daemon.
    private var isOverRestart = false
    /// Paths that the client has read, at which revision, and that have not been named by `invalidate` since.
    private var read: [String: Int64] = [:]

    public init(
        _ name: String, _ truth: WatchTruth, patterns: [String], events: Set<String> = ["update"],
        hasMaxRate: Bool = false
    ) {
        self.name = name
        self.truth = truth
        self.patterns = patterns
        self.events = events
        self.hasMaxRate = hasMaxRate
    }

    private func fault(_ text: String) { faults.append("\(name): \(text)") }

    /// The reply to `subscribe`.
    public func subscribed(_ result: Value, since: Int64?) {
        guard let revision = result.integer("revision") else {
            return fault("subscribe is answered without a revision")
        }
        let resumed = result.map?["resumed"] == true
        guard events.contains("update") else {
            // Nothing counts as read that was named before the connection was lost.
            if !resumed { read = [:] }
            position = revision
            return
        }
        awaitsSnapshot = !resumed
        resumedSince = resumed ? since : nil
        isOverRestart = resumed && lifeOfPosition != truth.restarts
        told = resumed ? since ?? revision : revision
        if resumed, truth.isKnown(revision), !hasMaxRate,
            truth.changes(of: patterns, after: told, through: revision).isEmpty
        {
            check(at: revision, "is told that nothing has changed since \(told)")
        }
    }

    /// Any event of the subscription.
    public func receive(_ event: Value) {
        guard let method = event.map?["method"]?.string, let parameters = event.map?["params"] else {
            return fault("no event: \(event)")
        }
        switch method {
        case "update": update(parameters)
        case "invalidate": invalidate(parameters)
        case "structure": structure(parameters)
        case "bookmark": bookmark(parameters)
        default: break
        }
    }

    private func update(_ event: Value) {
        updates += 1
        let revision = event.integer("revision") ?? 0
        let changes = event.map?["changes"]?.list ?? []
        let paths = changes.map { $0.map?["path"]?.string ?? "" }
        if Set(paths).count != paths.count { fault("revision \(revision) names a path twice") }
        let isInitial = event.map?["initial"] == true
        if isInitial != awaitsSnapshot { fault("revision \(revision) is \(isInitial ? "a" : "no") snapshot") }
        if let since = resumedSince {
            if revision <= told { fault("revision \(revision) comes behind \(told)") }
            // Rules may have been computed again for somebody else, and a daemon that has restarted knows only which
            // states were written.
            for path in paths
            where !isOverRestart && !truth.isComputed(path) && truth.isKnown(revision) && truth.isKnown(path, revision)
                && truth.changes(of: [whole(of: path)], after: since, through: revision).isEmpty
            {
                fault("resumed from \(since) to \(revision), and \(path) is named, which has not changed")
            }
        } else if !isInitial {
            if revision <= told { fault("revision \(revision) comes behind \(told)") }
            let from = event.integer("from")
            let last = (from ?? revision) - 1
            // What came and went while the client was behind is not told.
            let missed = truth.changes(of: patterns, after: told, through: last).first { missed in
                truth.isKnown(missed)
                    && truth.changedPaths(of: patterns, at: missed).contains {
                        truth.isKnown($0, missed)
                            && (truth.content(of: $0, at: told) != nil || truth.content(of: $0, at: last) != nil)
                    }
            }
            if let from, from <= told || from > revision {
                fault("revision \(revision) spans from \(from), and \(told) was told")
            }
            if let missed { fault("revision \(revision) comes, and \(missed) has not been told") }
        }
        if isInitial { (known, differing) = ([:], nil) }
        let named = truth.paths(of: patterns)
        for (path, change) in zip(paths, changes) {
            known[path] = WatchTruth.content(change)
            if differing != nil { compare(path, named) }
        }
        awaitsSnapshot = false
        resumedSince = nil
        told = revision
        position = revision
        check(at: revision, isInitial ? "a snapshot" : "an update")
    }

    /// Of a place in a value that nobody watched meanwhile only the changes of the whole value are known.
    private func whole(of path: String) -> String {
        guard var place = try? AttributePath(path) else { return path }
        place.steps = []
        return place.description
    }

    private func check(at revision: Int64, _ occasion: String) {
        guard truth.isKnown(revision) else { return }
        compare(at: revision)
        guard let differing, !differing.isEmpty else { return }
        let wrong = differing.filter { truth.isKnown($0, revision) }.sorted()
        if wrong.isEmpty { return }
        let details = wrong.prefix(4).map {
            "\($0) is \(known[$0]?.jsonText ?? "nothing") and not \(truth.content(of: $0, at: revision)?.jsonText ?? "nothing")"
        }
        fault("behind \(occasion) at \(revision) " + details.joined(separator: ", "))
    }

    /// Compares what has changed since the last comparison.
    private func compare(at revision: Int64) {
        let named = truth.paths(of: patterns)
        let last = comparedAt
        // The truth behind its last revision may still be told.
        comparedAt = min(revision, truth.revision)
        if differing == nil || revision < last {
            differing = []
            for path in named.union(known.keys) { compare(path, named) }
        } else {
            for change in truth.changes(after: last, through: revision) {
                for path in change.paths where named.contains(path) { compare(path, named) }
            }
        }
    }

    private func compare(_ path: String, _ named: Set<String>) {
        if known[path] == (named.contains(path) ? truth.content(of: path, at: comparedAt) : nil) {
            differing?.remove(path)
        } else {
            differing?.insert(path)
        }
    }

    private func invalidate(_ event: Value) {
        let revision = event.integer("revision") ?? 0
        let paths = (event.map?["paths"]?.list ?? []).compactMap(\.string)
        if Set(paths).count != paths.count { fault("an invalidation at \(revision) names a path twice: \(paths)") }
        for path in paths { read[path] = nil }
        if !events.contains("update") { position = revision }
    }

    private func structure(_ event: Value) {
        let revision = event.integer("revision") ?? 0
        func paths(_ name: String) -> [String] { (event.map?[name]?.list ?? []).compactMap(\.string) }
        if revision <= lastStructure { fault("changes of structure at \(revision) come behind \(lastStructure)") }
        lastStructure = revision
        let here = paths("added") + paths("moved")
        if Set(here).count != here.count { fault("changes of structure at \(revision) repeat a path: \(here)") }
        let gone = paths("removed")
        if Set(gone).count != gone.count { fault("changes of structure at \(revision) repeat a removed path: \(gone)") }
        if !events.contains("update") { position = revision }
    }

    private func bookmark(_ event: Value) {
        bookmarks += 1
        let revision = event.integer("revision") ?? 0
        if let position, revision < position { fault("a bookmark at \(revision) comes behind \(position)") }
        if events.contains("update") { check(at: revision, "a bookmark") }
        checkInvalidations(at: revision)
        position = revision
    }

    /// The client has read paths; what it was answered.
    public func answered(_ values: Value, at revision: Int64) {
        guard events.contains("invalidate") else { return }
        for (path, content) in values.map ?? ValueMap() {
            if let path = path.string, WatchTruth.content(content) != nil, truth.names(path, patterns) {
                read[path] = revision
            }
        }
    }

    /// A reply has come that says this revision: all that was committed up to it must have been told.
    public func barrier(at revision: Int64, isExact: Bool = false) {
        guard isExact || !hasMaxRate else { return }
        if events.contains("update") {
            if awaitsSnapshot { fault("a reply of revision \(revision) comes before the snapshot") }
            check(at: max(revision, told), "the reply of revision \(revision)")
            resumedSince = nil
        }
        checkInvalidations(at: revision)
        if let position { self.position = max(position, revision) }
    }

    private func checkInvalidations(at revision: Int64) {
        guard events.contains("invalidate"), truth.isKnown(revision) else { return }
        for (path, since) in read
        where since <= revision && truth.isKnown(path, since) && truth.isKnown(path, revision)
            && truth.content(of: path, at: since) != truth.content(of: path, at: revision)
        {
            fault("\(path) was read at \(since), has changed by \(revision), and is not named by an invalidation")
            read[path] = nil
        }
    }

    /// The connection is lost: what the client had not read it will not.
    public func interrupted() {
        read = [:]
        awaitsSnapshot = false
        resumedSince = nil
        lastStructure = 0
    }

    public func takeFaults() -> [String] {
        defer { faults = [] }
        return faults
    }
}

extension Value {
    /// A member that is an integer.
    public func integer(_ name: String) -> Int64? {
        if case .int(let number)? = map?[name] { number } else { nil }
    }
}
