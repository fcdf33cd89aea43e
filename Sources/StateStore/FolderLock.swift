import Glibc

/// Keeps a folder's store to one process. It is taken before anything is read: what another process is writing at the
/// moment would look damaged.
///
/// Lifetime: the lock is held from `init` to `deinit`; the kernel lets go of it however the process ends.
final class FolderLock {
    private let descriptor: Int32
    private let folder: String

    /// - Parameter path: the store, to be named when it is in use.
    init(_ folder: String, of path: String) throws(StoreError) {
        self.folder = folder
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open", folder) }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
        throw errno == EWOULDBLOCK ? .inUse(path: path) : .system("flock", folder)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Has the disk confirm what the folder's files are called.
    func confirmNames() throws(StoreError) {
        if fsync(descriptor) != 0 { throw .system("fsync", folder) }
    }
}
