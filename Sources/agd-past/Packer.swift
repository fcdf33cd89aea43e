import Archive
import DaemonServer
import Glibc

/// Packs the segments of an archive that nobody writes to any more, and ends.
struct Packer {
    private let folder: String

    init(_ folder: String) { self.folder = folder }

    func run() throws(StartupError) {
        _ = nice(19)
        for segment in Segment.all(in: folder).dropLast() {
            do throws(ArchiveError) { _ = try PackedSegment.pack(segment.number, in: folder) } catch {
                throw StartupError(.osError, error.description)
            }
        }
    }
}
