import Glibc

/// Reserves a folder's store for one process. Taken before anything is read, because a store that another process is
/// writing looks damaged.
///
/// Lifetime: the folder is locked from `init` to `deinit`. The kernel releases the lock however the process ends.
package final class FolderLock {
    private let descriptor: Int32
    private let folder: String

    /// - Parameter path: the store's path, for the error.
    package init(_ folder: String, of path: String) throws(StoreError) {
        self.folder = folder
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open", folder) }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
        throw errno == EWOULDBLOCK ? .inUse(path: path) : .system("flock", folder)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Makes the disk confirm the names of the folder's files.
    func confirmNames() throws(StoreError) {
        if fsync(descriptor) != 0 { throw .system("fsync", folder) }
    }
}
