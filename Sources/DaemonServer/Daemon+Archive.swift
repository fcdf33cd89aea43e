import Archive
import EventLoop
import GraphRuntime
import Logging
import ViewGraph

extension Daemon {
    /// - Returns: nil if there is no archive. A folder that cannot be used is no reason to serve nobody.
    static func openArchive(
        _ configuration: Configuration, _ basis: Archive.Basis, of runtime: GraphRuntime, _ others: [StoredRow],
        _ log: Logger
    ) -> Archive? {
        guard let folder = configuration.archiveFolder else { return nil }
        do throws(ArchiveError) {
            let archive = try Archive(
                folder: folder, limits: configuration.archive, basis: basis, of: runtime.store, others: others)
            for note in archive.notes { log.warning("archive: \(note)") }
            return archive
        } catch {
            log.error("there is no archive: \(error)")
            return nil
        }
    }

    /// Called behind the replies of a turn: writes what has become much, and the rest within a second.
    func careForArchive() {
        guard let archive, let wait = archive.wait else { return }
        if archive.isFull { return flushArchive() }
        if archiveTimer?.isActive == false { archiveTimer?.start(in: wait) }
    }

    func flushArchive() {
        guard let archive else { return }
        archive.flush(at: Daemon.now(), revision: runtime.revision)
        if !archiveSync.isBusy, let descriptor = archive.takeUnsynced() { archiveSync.start(descriptor) }
        tellOfArchive()
        if let wait = archive.wait { archiveTimer?.start(in: wait) }
    }

    /// Tells the log once that the archive has stopped, and once that it goes on.
    private func tellOfArchive() {
        guard let archive, isArchiveFailureTold != (archive.failure != nil) else { return }
        isArchiveFailureTold = archive.failure != nil
        if let failure = archive.failure {
            let space = failure.isFull ? "; free space on its file system, or lower archive-size" : ""
            log.error("the archive has stopped: \(failure)\(space); agd goes on without it and tries again")
        } else {
            log.notice("the archive goes on: \(archive.folder)")
        }
    }
}
