import AttributeValues
import LinkProtocol

/// The right to publish a site: a key in NATS that expires. Only its holder writes it, by compare-and-set.
///
/// A holder that ends writes an empty text, which anybody may claim at once. The key is never deleted, because the
/// revision of a claim makes the term.
struct Lease {
    private let site: SiteName
    /// Names this process.
    private let holder: String
    /// Seconds.
    private let time: Double
    /// The number of the claim. It may be out of date: ask `isValid`.
    private(set) var term: UInt64 = 0
    private var revision: UInt64?
    /// Monotonic seconds.
    private var end = 0.0
    private var nextTry = 0.0
    /// The holder that has refused the last claim, for the log.
    private(set) var otherHolder: String?

    init(site: SiteName, holder: String, time: Double) {
        self.site = site
        self.holder = holder
        self.time = time
    }

    var isValid: Bool { revision != nil && MonotonicTime.now < end }

    /// Claims or renews the lease if it is time.
    mutating func keep(_ nats: NATS) throws(NATSError) {
        let now = MonotonicTime.now
        guard now >= nextTry else { return }
        nextTry = now + time / 4
        let entry = try nats.lease(of: site)
        if let entry, entry.holder == holder, isValid {
            revision = try nats.writeLease(of: site, holder, last: entry.revision)
        } else if entry == nil || entry?.holder == "" || entry?.holder == holder {
            // The lease may have lapsed meanwhile, so this is a new term.
            let claimed = try nats.writeLease(of: site, holder, last: entry?.revision)
            // The bucket may be made again, and terms grow nevertheless.
            (revision, term) = (claimed, try nats.leasesCreated() + claimed)
        } else {
            revision = nil
            otherHolder = entry?.holder
            return
        }
        otherHolder = nil
        // From before the request: the key lives longer than this process counts on.
        end = now + time
    }

    /// Has `keep` claim the lease again, with a new term.
    mutating func endTerm() { (revision, nextTry) = (nil, 0) }

    mutating func release(_ nats: NATS) {
        guard isValid, let revision else { return }
        self.revision = nil
        _ = try? nats.writeLease(of: site, "", last: revision)
    }
}
