import AGClient
import AttributeValues
import LinkProtocol
import WireProtocol

/// A mirrored site: what its owner has, and the requests that make the nodes in the daemon the same.
final class SiteCopy {
    /// The action of each mirrored root that its link performs.
    static let retirement = "retireSite"
    static let isLiveOfRoot = Transaction.Place(path: ".isLive")
    /// Attributes that each mirrored root has besides those of the site.
    static let ownAttributes: Set<String> = ["isLive", "lag", "term", "revision", "seen", "failures", "owner"]

    let site: SiteName
    let name: String
    /// The ids from the daemon's root to the container of the sites.
    let container: [Name]
    /// The path of its root in the daemon.
    let path: String
    let withRules: Bool

    private(set) var owner = SiteOwner()
    /// True if the daemon is to be told of another owner.
    var hasNewOwner = false
    var feed: SiteFeed
    private(set) var tree = SiteTree(snapshot: Transaction())
    /// The attributes `isLive` of sites that the owner mirrors itself. They are false while the owner is silent.
    private(set) var nested: Set<Transaction.Place> = []
    /// True if one of the nested sites is this one.
    private(set) var isLoop = false
    /// With rules: those that give other values here than at the owner, because they read something outside of the
    /// site. The owner's values count.
    var withoutRule: Set<Transaction.Place> = []
    /// Values of rules that are not compared with the owner's yet.
    var unverified: Set<Transaction.Place> = []
    var told = Told()
    var refusal = Refusal()
    /// Why its messages cannot be read. It is silent until a newer state can be.
    private(set) var fault: Failure?
    private var faultPause = Backoff(first: 1, longest: 60)
    /// Monotonic seconds.
    private var lastFault = -Double.infinity
    /// Requests that the daemon has yet to get, in order.
    var waiting: [Request] = []

    /// Messages that have come and wait for the site's turn.
    var queue: MessageQueue
    /// nil while no snapshot is read.
    var healing: Healing?
    /// Seconds of the line's thread that the site has used, more or less: a site that comes anew is set as far as
    /// those that it shares the thread with.
    var used = 0.0

    // For the metrics.
    private(set) var applied = 0
    private(set) var snapshots = 0

    /// The facts about the site that this copy has told the daemon.
    struct Told {
        /// nil before the first report.
        var isLive: Bool?
        /// The nodes of `tree`.
        var isApplied = false
        var term: UInt64 = 0
        /// The attributes of the root, with their definitions; nil if unknown.
        var root: [String: Transaction.Definition?]?
        /// Attributes that the daemon makes false when this link ends.
        var willed: Set<Transaction.Place> = []
        /// The daemon sends writes of others to this connection.
        var isDelegated = false
        /// Why the site is silent, if something is wrong with what it sends.
        var fault: String?
    }

    init(_ site: SiteName, _ mirroring: Configuration.Mirroring, limit: Int) {
        self.site = site
        name = site.description
        container = mirroring.nodes
        withRules = mirroring.withRules
        path = SiteCopy.path(of: site, mirroring)
        feed = SiteFeed(limit: limit)
        queue = MessageQueue(limit: limit)
    }

    static func path(of site: SiteName, _ mirroring: Configuration.Mirroring) -> String {
        AttributePath.describe(nodes: mirroring.nodes + [site.segments.last ?? ""])
    }

    var id: Name { site.segments.last ?? "" }
    var revision: UInt64 { feed.position?.revision ?? 0 }
    private var term: UInt64 { feed.position?.term ?? 0 }

    // MARK: From the owner

    /// Takes a heartbeat of the owner.
    /// - Returns: whether another process publishes the site than before.
    func hear(_ heartbeat: ValueMap?, at position: Position) -> Bool {
        let isOther = owner.hear(heartbeat: heartbeat, in: position.term)
        hear(position.revision)
        if let own = feed.position, position.term > own.term { feed.needSnapshot() }
        return isOther
    }

    /// Takes the owner's revision from a message.
    func hear(_ revision: UInt64) {
        if owner.hear(revision: revision, reached: self.revision) { feed.needSnapshot() }
    }

    /// Seconds after which a site with a fault may be tried again at the latest before its next state.
    private static let longFault = 120.0

    /// A message is malformed. The next snapshot is read after a pause, which grows with each fault.
    func note(fault: Failure) {
        if MonotonicTime.now > lastFault + SiteCopy.longFault { faultPause.reset() }
        (self.fault, lastFault, healing) = (fault, MonotonicTime.now, nil)
        queue.removeAll()
        feed.retryHealing(in: faultPause.pause())
    }

    /// There is a newer state, which may be a good one.
    func retrySoon() {
        if fault != nil, healing == nil { feed.retryHealing(in: max(0, lastFault + 1 - MonotonicTime.now)) }
    }

    func endHealing() {
        if let (frame, changes) = feed.gap, feed.step(frame) == .apply { apply(changes, frame) }
        (healing, fault, told.fault) = (nil, nil, nil)
        feed.endHealing()
        owner.noteMirror(revision)
    }

    func apply(_ changes: Transaction, _ frame: Frame) {
        applied += 1
        apply(changes, at: frame.position)
    }

    func apply(snapshot: Transaction, _ position: Position) {
        snapshots += 1
        var changes = SiteTree(snapshot: snapshot).changes(since: tree)
        changes.label = "snapshot"
        apply(changes, at: position)
    }

    private func apply(_ changes: Transaction, at position: Position) {
        feed.reached(position)
        let difference = tree.apply(changes)
        withoutRule.subtract(changes.definitions.keys)
        guard told.isApplied else { return }
        if difference.isStructural {
            findNested()
            waiting += structure(makeLabel(changes))
        }
        queue(difference.contents, changes, hasFailures: difference.hasFailures)
    }

    // MARK: To the daemon

    /// Mutations of one transaction. A daemon takes 40,000 by default.
    private static let longest = 30_000

    /// Queues the values of attributes that the daemon has.
    private func queue(
        _ contents: [(place: Transaction.Place, content: Content)], _ cause: Transaction, hasFailures: Bool
    ) {
        var mutations: [Mutation] = []
        mutations.reserveCapacity(contents.count + 3)
        // The positions of mutations whose values move.
        var moving: [Value: [Value]] = [:]
        for (place, content) in contents where !SiteCopy.isOwn(place) {
            if findRule(place) != nil {
                unverified.insert(place)
            } else {
                for (animation, places) in cause.motions where places.contains(place) {
                    moving[animation, default: []].append(.int(Int64(mutations.count)))
                }
                mutations.append(Mutation(operation: .set, path: path + place.path, value: shown(place, content)))
            }
        }
        if hasFailures { mutations.append(mutation("failures", failures)) }
        if term != told.term {
            told.term = term
            mutations.append(mutation("term", .int(Int64(clamping: term))))
        }
        mutations.append(mutation("revision", .int(Int64(clamping: revision))))
        let isTyped = mutations.contains { $0.value?.isPlainJSON != true }
        var options = TransactionOptions(label: makeLabel(cause), typed: isTyped)
        // Typed JSON is nested at least twice as deep as the value.
        let deep = isTyped ? mutations.filter { $0.value?.isDeep == true && $0.value?.isPlainJSON == true } : []
        if !deep.isEmpty {
            mutations.removeAll { $0.value?.isDeep == true && $0.value?.isPlainJSON == true }
        } else if !moving.isEmpty {
            options.motions = moving.map { ["animation": $0.key, "mutations": .list($0.value)] }
            options.elapsed = cause.begun.map { owner.elapsed(since: $0, in: term) } ?? 0
        }
        while mutations.count > SiteCopy.longest {
            options.motions = []
            waiting.append(.transact(Array(mutations.prefix(SiteCopy.longest)), options))
            mutations.removeFirst(SiteCopy.longest)
        }
        waiting.append(.transact(mutations, options))
        (options.typed, options.motions, options.elapsed) = (false, [], 0)
        if !deep.isEmpty { waiting.append(.transact(deep, options)) }
    }

    /// Queues the requests that make all nodes.
    /// - Parameter found: the attributes that the root has already, in a description.
    func queueAll(found: ValueMap?) {
        (told.isLive, told.term, told.isApplied) = (nil, 0, true)
        findNested()
        queueStructure()
        // Nodes of an older tree.
        let names = (found ?? ValueMap()).compactMap(\.key.string)
        if !Set(names).subtracting(SiteCopy.ownAttributes).isSubset(of: rootAttributes.keys) {
            waiting.insert(.remove(path: path, TransactionOptions(label: name)), at: 0)
        }
        queue(tree.contents.map { ($0.key, $0.value) }, Transaction(), hasFailures: true)
    }

    /// Queues the requests that make all nodes, instead of what waits.
    func queueStructure() {
        told.root = nil
        waiting = structure(name)
    }

    /// The daemon has lost what it had.
    func forgetDaemon() {
        told = Told()
        refusal.forgetState()
    }

    /// The daemon may lack nodes of the site, which are all made again.
    func forgetNodes() { (told.isApplied, told.isDelegated, waiting) = (false, false, []) }

    func makeLabel(_ cause: Transaction) -> String {
        var text = name
        if let label = cause.label { text += ": " + label }
        if let writer = cause.writer { text += (cause.label == nil ? ": by " : " by ") + writer }
        if cause.isConflated { text += " and earlier" }
        return text
    }

    /// The value for the daemon: the owner's, but false for the `isLive` of a site inside this one while this one is
    /// silent.
    func shown(_ place: Transaction.Place, _ content: Content) -> Value {
        if told.isLive != true, !nested.isEmpty, nested.contains(place) { return false }
        return content.value ?? .null
    }

    func mutation(_ attribute: String, _ value: Value) -> Mutation {
        Mutation(operation: .set, path: "\(path).\(attribute)", value: value)
    }

    /// The rule that computes an attribute here, too.
    func findRule(_ place: Transaction.Place) -> String? {
        withRules && !withoutRule.contains(place) ? tree.definitions[place]?.rule?.text : nil
    }

    var rules: [Transaction.Place] {
        guard withRules else { return [] }
        return tree.contents.keys.filter { !SiteCopy.isOwn($0) && findRule($0) != nil }
    }

    static func isOwn(_ place: Transaction.Place) -> Bool {
        place.isOfRoot && ownAttributes.contains(String(place.path.dropFirst()))
    }

    private var failures: Value {
        var map = ValueMap()
        for (place, content) in tree.contents {
            guard case .failure(let failure) = content else { continue }
            map[place.isOfRoot ? "/" + place.path : place.path] = .string(failure.message)
        }
        return .map(map)
    }

    private func findNested() {
        let contents = tree.contents
        let suffix = SiteCopy.isLiveOfRoot.path
        nested = Set(
            contents.keys.filter { place in
                guard !place.isOfRoot, place.path.utf8.reversed().starts(with: suffix.utf8.reversed()) else {
                    return false
                }
                let node = place.path.dropLast(suffix.count)
                return SiteCopy.ownAttributes.allSatisfy { contents[Transaction.Place(path: "\(node).\($0)")] != nil }
            })
        isLoop = nested.contains { place in
            let node = place.path.dropLast(suffix.count)
            return contents[Transaction.Place(path: "\(node).owner")]?.value == .string(owner.name)
                && contents[Transaction.Place(path: "\(node).term")]?.value == .int(Int64(clamping: term))
        }
    }
}
