import EventLoop
import Glibc

struct DescriptorLimit: Equatable {
    /// The current limit, and the limit up to which it can be raised.
    var soft: Int
    var hard: Int

    /// Descriptors that are not clients': the store and its log, sockets, the loop, files that are read again, a client
    /// that is refused.
    static let reserve = 32
    /// Descriptors that clients may not use, so that the store, and a reply to a refused client, always have one.
    static let spare = 8

    static func current() -> DescriptorLimit {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return DescriptorLimit(soft: .max, hard: .max)
        }
        return DescriptorLimit(soft: Int(clamping: limit.rlim_cur), hard: Int(clamping: limit.rlim_max))
    }

    /// Raised for this many clients, as far as the hard limit permits.
    func raised(for clients: Int) -> DescriptorLimit {
        DescriptorLimit(soft: max(soft, min(hard, clients + DescriptorLimit.reserve)), hard: hard)
    }

    /// Sets the process's soft limit.
    func impose() throws(LoopError) {
        var limit = rlimit(rlim_cur: rlim_t(soft), rlim_max: rlim_t(hard))
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw LoopError(call: "setrlimit", number: errno, subject: "RLIMIT_NOFILE")
        }
    }

    /// True if there is space for this many clients.
    func fits(_ clients: Int) -> Bool { clients + DescriptorLimit.reserve <= soft }

    /// True if a client may keep this descriptor. The kernel assigns the lowest free one.
    func admits(_ descriptor: Int32) -> Bool { Int(descriptor) < soft - DescriptorLimit.spare }
}
