import EventLoop
import Glibc

/// How many file descriptors the process may have.
struct DescriptorLimit: Equatable {
    /// What holds now, and what it can be raised to.
    var soft: Int
    var hard: Int

    /// For all that is no client: the store and its log, sockets, the loop, files that are read again, a client that is
    /// refused.
    static let reserve = 32
    /// Left free of clients, so that the store and a client who is told that there is no room never lack one.
    static let spare = 8

    /// Of the process.
    static func current() -> DescriptorLimit {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return DescriptorLimit(soft: .max, hard: .max)
        }
        return DescriptorLimit(soft: Int(clamping: limit.rlim_cur), hard: Int(clamping: limit.rlim_max))
    }

    /// With room for so many clients, as far as it goes.
    func raised(for clients: Int) -> DescriptorLimit {
        DescriptorLimit(soft: max(soft, min(hard, clients + DescriptorLimit.reserve)), hard: hard)
    }

    /// Makes the soft limit that of the process.
    func impose() throws(LoopError) {
        var limit = rlimit(rlim_cur: rlim_t(soft), rlim_max: rlim_t(hard))
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw LoopError(call: "setrlimit", number: errno, subject: "RLIMIT_NOFILE")
        }
    }

    /// Whether so many clients find room.
    func fits(_ clients: Int) -> Bool { clients + DescriptorLimit.reserve <= soft }

    /// Whether a client may have a descriptor: the kernel gives the lowest that is free.
    func admits(_ descriptor: Int32) -> Bool { Int(descriptor) < soft - DescriptorLimit.spare }
}
