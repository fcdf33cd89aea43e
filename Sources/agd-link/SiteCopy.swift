import AttributeValues
import WireProtocol

/// A mirrored site: what its owner has, and the requests that make the nodes in the daemon the same.
final class SiteCopy {
    static let isLiveOfRoot = Transaction.Place(path: ".isLive")
    /// Attributes that each mirrored root has besides those of the site.
    static let ownAttributes: Set<String> = ["isLive", "lag", "term", "revision", "seen", "failures", "owner"]

    let site: SiteName
    let name: String
    /// The ids from the daemon's root to the container of the sites.
    let container: [String]
    /// The path of its root in the daemon.
    let path: String
    let withRules: Bool

    // Received from NATS.
    var tree = SiteTree(snapshot: Transaction())
    var follower = Follower()
    var assembler: Assembler
    /// When to read a snapshot; nil if there is no need. Monotonic seconds.
    var healTime: Double? = 0
    /// The message behind the gap that will be healed. The stream may not have it yet.
    var gap: (Frame, Transaction)?
    /// When the owner sent its last sign of life. Monotonic seconds.
    var heard = -Double.infinity
    /// Of the clocks that nobody sets, in the term of the owner that was heard last.
    var delay = ClockDifference()
    var heardTerm: UInt64 = 0
    /// The last moment at which the mirror was as new as the owner.
    var even = -Double.infinity
    var ownerRevision: UInt64 = 0
    /// The host and the process that publish the site, as heartbeats say.
    var owner = ""
    /// The wall clock at the last message of the owner.
    var seen: Double?
    var clock = ClockDifference()

    // Sent to the daemon.
    /// The value of `isLive` that was sent last; nil before the first.
    var isLive: Bool?
    /// True if the daemon has the nodes of `tree`.
    var isApplied = false
    private var toldTerm: UInt64 = 0
    /// Nil if unknown.
    var toldRoot: [String: Transaction.Definition?]?
    /// The attributes `isLive` of sites that the owner mirrors itself. They are false while the owner is silent.
    private(set) var nested: Set<Transaction.Place> = []
    /// True if one of the nested sites is this one.
    private(set) var isLoop = false
    /// Attributes that the daemon makes false when this link ends.
    var willed: Set<Transaction.Place> = []
    /// The daemon sends writes of others to this connection.
    var isDelegated = false
    /// With rules: those that give other values here than at the owner, because they read something outside of the
    /// site. The owner's values count.
    var withoutRule: Set<Transaction.Place> = []
    /// Values of rules that are not compared with the owner's yet.
    var unverified: Set<Transaction.Place> = []
    /// Requests that the daemon has yet to get, in order.
    var waiting: [Request] = []

    // For the metrics.
    var lag = 0.0
    private(set) var applied = 0
    private(set) var snapshots = 0

    init(_ site: SiteName, _ mirroring: Configuration.Mirroring, limit: Int) {
        self.site = site
        name = site.description
        container = mirroring.nodes
        withRules = mirroring.withRules
        path = AttributePath.describe(nodes: mirroring.nodes + [site.segments.last ?? ""])
        assembler = Assembler(limit: limit)
    }

    var id: String { site.segments.last ?? "" }
    var revision: UInt64 { follower.position?.revision ?? 0 }
    private var term: UInt64 { follower.position?.term ?? 0 }

    // MARK: From the owner

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
        follower.reached(position)
        let difference = tree.apply(changes)
        withoutRule.subtract(changes.definitions.keys)
        guard isApplied else { return }
        if difference.isStructural {
            findNested()
            waiting += structure(makeLabel(changes))
        }
        queue(difference.contents, changes, hasFailures: difference.hasFailures)
    }

    // MARK: To the daemon

    /// Queues the values of attributes that the daemon has.
    private func queue(
        _ contents: [(place: Transaction.Place, content: Content)], _ cause: Transaction, hasFailures: Bool
    ) {
        var mutations: [Mutation] = []
        mutations.reserveCapacity(contents.count + 3)
        for (place, content) in contents where !SiteCopy.isOwn(place) {
            if findRule(place) != nil {
                unverified.insert(place)
            } else {
                mutations.append(Mutation(operation: .set, path: path + place.path, value: shown(place, content)))
            }
        }
        if hasFailures { mutations.append(mutation("failures", failures)) }
        if term != toldTerm {
            toldTerm = term
            mutations.append(mutation("term", .int(Int64(clamping: term))))
        }
        mutations.append(mutation("revision", .int(Int64(clamping: revision))))
        let isTyped = mutations.contains { $0.value?.isPlainJSON != true }
        var options = TransactionOptions(animation: cause.animation, label: makeLabel(cause), typed: isTyped)
        if options.animation != nil, let begun = cause.begun {
            options.elapsed = clock.elapsed(since: begun, at: WallTime.now)
        }
        waiting.append(.transact(mutations, options))
    }

    /// Queues the requests that make all nodes.
    /// - Parameter found: the attributes that the root has already, in a description.
    func queueAll(found: ValueMap?) {
        (isLive, toldTerm, isApplied) = (nil, 0, true)
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
        toldRoot = nil
        waiting = structure(name)
    }

    /// The daemon has lost what it had.
    func forgetDaemon() { (isApplied, willed, isDelegated) = (false, [], false) }

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
        if isLive != true, !nested.isEmpty, nested.contains(place) { return false }
        return content.value ?? .null
    }

    func mutation(_ attribute: String, _ value: Value) -> Mutation {
        Mutation(operation: .set, path: "\(path).\(attribute)", value: value)
    }

    /// The rule that computes an attribute here, too.
    func findRule(_ place: Transaction.Place) -> String? {
        withRules && !withoutRule.contains(place) ? tree.definitions[place]?.rule : nil
    }

    var rules: [Transaction.Place] {
        guard withRules else { return [] }
        return tree.contents.keys.filter { !SiteCopy.isOwn($0) && findRule($0) != nil }
    }

    static func isOwn(_ place: Transaction.Place) -> Bool {
        place.isOfRoot && ownAttributes.contains(String(place.path.dropFirst()))
    }

    var seenValue: Value {
        guard let seen else { return .null }
        let nanoseconds = Int64((seen - seen.rounded(.down)) * 1e9)
        return Timestamp(seconds: Int64(seen), nanoseconds: nanoseconds).map { .timestamp($0) } ?? .null
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
                guard !place.isOfRoot, place.path.hasSuffix(suffix) else { return false }
                let node = place.path.dropLast(suffix.count)
                return SiteCopy.ownAttributes.allSatisfy { contents[Transaction.Place(path: "\(node).\($0)")] != nil }
            })
        isLoop = nested.contains { place in
            let node = place.path.dropLast(suffix.count)
            return contents[Transaction.Place(path: "\(node).owner")]?.value == .string(owner)
                && contents[Transaction.Place(path: "\(node).term")]?.value == .int(Int64(clamping: term))
        }
    }
}
