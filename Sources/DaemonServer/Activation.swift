import Glibc

/// Sockets that the service manager has opened for the daemon (sd_listen_fds(3)). `LISTEN_PID` names the process that
/// they are for, `LISTEN_FDS` their number. They are the descriptors from 3 on.
enum Activation {
    private static let first: Int32 = 3
    /// No unit passes more; a larger number is a mistake.
    private static let maximumCount: Int32 = 64

    /// The passed sockets; none if the daemon was started in another way. They are closed on `exec`, and their
    /// variables are removed from the environment.
    /// - Throws: `configuration` if a descriptor is not a listening Unix stream socket.
    static func sockets(_ environment: ProcessEnvironment) throws(StartupError) -> [Int32] {
        defer { environment.remove(["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]) }
        guard environment["LISTEN_PID"].flatMap({ pid_t($0) }) == getpid(),
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0
        else { return [] }
        guard count <= maximumCount else {
            throw StartupError(.configuration, "LISTEN_FDS: \(count) sockets; at most \(maximumCount) are accepted")
        }
        return try check(Array(first..<first + count))
    }

    static func check(_ sockets: [Int32]) throws(StartupError) -> [Int32] {
        for descriptor in sockets {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            guard option(descriptor, SO_DOMAIN) == AF_UNIX, option(descriptor, SO_TYPE) == Int32(SOCK_STREAM.rawValue),
                option(descriptor, SO_ACCEPTCONN) == 1
            else {
                throw StartupError(
                    .configuration,
                    "LISTEN_FDS: descriptor \(descriptor) is not a listening Unix stream socket (ListenStream= with a path)"
                )
            }
        }
        return sockets
    }

    private static func option(_ descriptor: Int32, _ name: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }
}
