import AttributeValues
import EventLoop
import Glibc

/// The socket that the daemon makes: bound, with mode and group, and locked against a second daemon.
///
/// The daemon locks a file beside the socket for as long as it lives. The kernel releases the lock however the daemon
/// ends. So the daemon that has the lock knows that an existing socket file is stale, and of two daemons that start at
/// once only one succeeds.
package struct ListeningSocket {
    package let path: String
    /// Bound, not yet listening.
    package let descriptor: Int32
    private let lock: Int32
    private let lockPath: String
    private let identity: FileIdentity

    private struct FileIdentity: Equatable {
        var device: UInt
        var inode: UInt

        init?(path: String) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
        }

        init?(descriptor: Int32) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return nil }
            (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
        }
    }

    /// - Throws: `unavailable` if another daemon serves the path, `cannotCreate`, or `noPermission`.
    package init(path: String, mode: UInt32, group: String?) throws(StartupError) {
        let address = try ListeningSocket.address(path)
        self.path = path
        lockPath = path + ".lock"
        lock = try ListeningSocket.takeLock(lockPath, for: path)
        do throws(StartupError) {
            try ListeningSocket.clear(path, address)
            descriptor = try ListeningSocket.bind(path, address, mode: mode, group: group)
        } catch {
            ListeningSocket.release(lock, lockPath)
            throw error
        }
        guard let identity = FileIdentity(path: path) else {
            Glibc.close(descriptor)
            ListeningSocket.release(lock, lockPath)
            throw StartupError(.cannotCreate, "another program removed \(path) while agd started")
        }
        self.identity = identity
    }

    static func address(_ path: String) throws(StartupError) -> SocketAddress {
        guard let address = SocketAddress(path), path.hasPrefix("/") else {
            throw StartupError(
                .configuration,
                "socket: \(path) is not an absolute path of at most \(SocketAddress.maximumLength) bytes")
        }
        return address
    }

    private static func takeLock(_ lockPath: String, for path: String) throws(StartupError) -> Int32 {
        while true {
            let lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard lock >= 0 else {
                throw StartupError(LoopError(call: "open", number: errno, subject: lockPath), otherwise: .cannotCreate)
            }
            if flock(lock, LOCK_EX | LOCK_NB) != 0 {
                let number = errno
                Glibc.close(lock)
                if number == EWOULDBLOCK {
                    throw StartupError(
                        .unavailable, "another agd serves \(path); end it, or start this one with another --socket")
                }
                throw StartupError(
                    LoopError(call: "flock", number: number, subject: lockPath), otherwise: .cannotCreate)
            }
            // An ending daemon may have removed the file between `open` and `flock`. A lock on a file without a name
            // excludes nobody.
            if FileIdentity(path: lockPath) == FileIdentity(descriptor: lock) { return lock }
            Glibc.close(lock)
        }
    }

    /// - Returns: false if there is no such file.
    /// - Throws: `cannotCreate` if the file is not a socket.
    @discardableResult
    static func isSocket(_ path: String) throws(StartupError) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw StartupError(.cannotCreate, "\(path) exists and is not a socket")
        }
        return true
    }

    /// Removes the socket file of a daemon that has ended. Fails if a program still answers there, such as one that
    /// does not use the lock.
    private static func clear(_ path: String, _ address: SocketAddress) throws(StartupError) {
        guard try isSocket(path) else { return }
        do throws(LoopError) { try UnixSocket.removeStale(path, address) } catch {
            if error.number == EADDRINUSE { throw StartupError(.unavailable, "another program serves \(path)") }
            throw StartupError(error, otherwise: .cannotCreate)
        }
    }

    private static func bind(
        _ path: String, _ address: SocketAddress, mode: UInt32, group: String?
    ) throws(StartupError) -> Int32 {
        func fail(_ call: String) -> StartupError {
            StartupError(LoopError(call: call, number: errno, subject: path), otherwise: .cannotCreate)
        }
        let groupID = try group.map { (name) throws(StartupError) in try ListeningSocket.groupID(name) }
        let descriptor: Int32
        do throws(LoopError) { descriptor = try UnixSocket.make() } catch {
            throw StartupError(error, otherwise: .cannotCreate)
        }
        // The file is made without any permission, so that nobody can connect before group and mode are set.
        let mask = umask(0o777)
        let result = address.withAddress { Glibc.bind(descriptor, $0, $1) }
        let failure = result == 0 ? nil : fail("bind")
        umask(mask)
        if let failure {
            Glibc.close(descriptor)
            throw failure
        }
        if let groupID, chown(path, uid_t.max, groupID) != 0 {
            defer { abandon(descriptor, path) }
            throw fail("chown")
        }
        if chmod(path, mode) != 0 {
            defer { abandon(descriptor, path) }
            throw fail("chmod")
        }
        return descriptor
    }

    private static func abandon(_ descriptor: Int32, _ path: String) {
        Glibc.close(descriptor)
        unlink(path)
    }

    /// A group by name or number.
    static func groupID(_ name: String) throws(StartupError) -> gid_t {
        if let number = gid_t(name) { return number }
        guard let group = getgrnam(name) else {
            throw StartupError(.configuration, "socket-group: there is no group \(name)")
        }
        return group.pointee.gr_gid
    }

    /// Removes the socket's file, unless another file has replaced it. The path stays locked.
    func removeFile() {
        if FileIdentity(path: path) == identity { unlink(path) }
    }

    /// Removes the file and unlocks the path.
    package func remove() {
        removeFile()
        ListeningSocket.release(lock, lockPath)
    }

    /// Closes the descriptors in a process that was forked. The socket stays that of the other process.
    package func leave() {
        Glibc.close(descriptor)
        Glibc.close(lock)
    }

    /// The lock file is removed first: after the unlock it may be another daemon's.
    private static func release(_ lock: Int32, _ lockPath: String) {
        unlink(lockPath)
        Glibc.close(lock)
    }
}
