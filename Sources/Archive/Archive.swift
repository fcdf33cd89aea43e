import AttributeValues
import Glibc
import GraphRuntime
import StateStore
import ViewGraph

/// Keeps each transaction: all that the store gets of it, and the values of transient states.
///
/// It has no loop: the daemon calls `flush` behind the replies of a turn, and syncs the file of `takeUnsynced`. Each
/// segment begins with its basis (scenes, release) and an image of all rows, so it can be read without the others. The
/// image is written in slices between the records; a later record replaces an earlier row of it.
///
/// If a write fails, the archive stops and tries again later, with a new segment. The daemon goes on.
public final class Archive {
    /// The first record of each segment. It is the same for all segments of a life.
    public struct Basis {
        public var release: String
        public var epoch: String
        /// Each file with its text, in the order of loading.
        public var scenes: [(file: String, text: String)]
        /// The initial values of environment keys.
        public var machine: [String: Value]

        public init(
            release: String, epoch: String, scenes: [(file: String, text: String)], machine: [String: Value]
        ) {
            (self.release, self.epoch, self.scenes, self.machine) = (release, epoch, scenes, machine)
        }
    }

    /// The operator's limits. If one of them is 0, there is no archive.
    public struct Limits: Equatable, Sendable {
        /// Bytes of all segments together.
        public var size = 1 << 30
        /// Seconds.
        public var time = 7.0 * 86_400

        public init(size: Int = 1 << 30, time: Double = 7 * 86_400) { (self.size, self.time) = (size, time) }
        public var isOff: Bool { size == 0 || time == 0 }
    }

    public let folder: String
    public let limits: Limits
    private let basis: Basis
    private let lock: FolderLock
    private let recorder: Recorder
    private var segments: [Segment.File]
    private var file: SegmentFile?
    private var nextNumber: UInt64
    /// The next node of the image of the present segment; nil: the image is complete.
    private var imageNode: UInt32?
    /// Bytes of the present segment up to the end of its image.
    private var imageSize = 0
    /// When the present segment began, in monotonic seconds.
    private var began = 0.0
    /// When the archive, which has stopped, tries again, in monotonic seconds; nil: it has not stopped.
    private var retry: Double?
    /// The position in `segments` of the one whose size was read last.
    private var nextSize = 0
    private let head = ByteBuffer(capacity: 1 << 16)
    private var isUnsynced = false

    /// Why the archive has stopped; nil: it has not.
    public private(set) var failure: ArchiveError?
    /// The number of failures so far.
    public private(set) var failures: UInt64 = 0
    /// Findings of the start, for the log.
    public private(set) var notes: [String] = []

    /// Increases with every change that an older agd-past cannot read.
    public static let formatVersion = 1
    /// The longest `archive-time`, in seconds: a hundred years.
    public static let longestTime = 100.0 * 366 * 86_400
    /// A segment has at most the size and the time of the whole archive, divided by this.
    private static let parts = 16
    /// The records of a segment have at least so many times as many bytes as its image. A greater number makes seeks
    /// slower; a smaller one makes more images.
    private static let recordsPerImage = 4
    /// The least bytes of records in a segment.
    private static let fewestRecords = 1 << 18
    /// A segment has at least so many writes for each row of an image. Making a row takes as long as a durable write.
    private static let writesPerRow = 64
    /// When so many bytes wait in memory, they are written before the second is over.
    private static let fullBatch = 1 << 18
    /// When a segment begins, the sizes of so many others are read.
    private static let sizesAtOnce = 64
    /// Seconds.
    private static let retryInterval = 10.0
    public static let flushInterval = 1.0
    /// Nodes in a slice of an image. A slice takes a millisecond or two.
    package var sliceNodes = 500
    /// Seconds between two slices.
    public static let sliceInterval = 0.02

    /// Opens a folder, and removes a batch that a power cut has left incomplete.
    /// - Parameter others: the rows of the store that belong to no node.
    public init(
        folder: String, limits: Limits, basis: Basis, of feed: StoreFeed, others: [StoredRow]
    ) throws(ArchiveError) {
        self.folder = folder
        self.limits = limits
        self.basis = basis
        if mkdir(folder, 0o700) != 0, errno != EEXIST { throw ArchiveError("mkdir", folder) }
        do throws(StoreError) { lock = try FolderLock(folder, of: folder) } catch {
            throw ArchiveError(error.description, folder, EWOULDBLOCK)
        }
        segments = Segment.all(in: folder)
        nextNumber = (segments.last?.number ?? 0) + 1
        recorder = Recorder(feed)
        recorder.begin(with: others)
        cutTail()
        feed.recorder = recorder
    }

    /// Removes an incomplete batch from the end. Only the last segment can have one.
    private func cutTail() {
        guard let last = segments.last, let bytes = Segment.read(last.number, in: folder) else { return }
        let path = folder + "/" + Segment.name(last.number)
        let end = bytes.withUnsafeBufferPointer { Segment.forEachBatch($0) { _ in true } } ?? 0
        if end == bytes.count { return }
        if end == 0 {
            unlink(path)
            segments.removeLast()
        } else if truncate(path, off_t(end)) == 0 {
            segments[segments.count - 1].size = end
        }
        notes.append("\(path): \(bytes.count - end) bytes were not complete and have been removed")
    }

    // MARK: Writing

    /// The seconds until `flush` has something to do; nil: nothing waits.
    public var wait: Double? {
        if retry != nil { return Archive.retryInterval }
        if imageNode != nil { return Archive.sliceInterval }
        return recorder.hasNews ? Archive.flushInterval : nil
    }

    /// True if `flush` should be called now, because much waits.
    public var isFull: Bool { recorder.bytes.count > Archive.fullBatch }

    /// Begins the first segment, when the graph has its restored values.
    public func begin(at time: Moment, revision: UInt64) {
        do throws(ArchiveError) { try beginSegment(at: time, revision, continues: false) } catch {
            stop(because: error, at: time)
        }
    }

    /// Writes what waits. Called behind the replies of a turn, at least as often as `wait` says.
    public func flush(at time: Moment, revision: UInt64) {
        do throws(ArchiveError) {
            if let retry {
                guard time.monotonic >= retry else { return }
                self.retry = nil
                try beginSegment(at: time, revision, continues: false)
                failure = nil
                return
            }
            guard file != nil else { return }
            if let node = imageNode {
                var node = node
                let hasMore = recorder.addImage(
                    from: &node, atMost: sliceNodes, at: time, revision: revision)
                imageNode = hasMore ? node : nil
                try write()
                if !hasMore { imageSize = file?.size ?? 0 }
                return
            }
            recorder.settle()
            try write()
            if isDue(at: time) { try rotate(at: time, revision) }
        } catch { stop(because: error, at: time) }
    }

    /// Ends the archive in order.
    public func close(at time: Moment, revision: UInt64) {
        guard file != nil, retry == nil else { return }
        do throws(ArchiveError) {
            while let node = imageNode {
                var node = node
                let hasMore = recorder.addImage(from: &node, atMost: .max / 2, at: time, revision: revision)
                imageNode = hasMore ? node : nil
            }
            recorder.end(at: time, revision: revision)
            try write()
            if let file, fdatasync(file.descriptor) != 0 { throw ArchiveError("fdatasync", file.path) }
        } catch { stop(because: error, at: time) }
        recorder.isOn = false
    }

    /// The file that was written since the last call, so that the disk can be made to confirm it.
    public func takeUnsynced() -> Int32? {
        guard isUnsynced, let file else { return nil }
        isUnsynced = false
        return file.descriptor
    }

    private func write() throws(ArchiveError) {
        guard let file, recorder.bytes.count > 0 else { return }
        defer { recorder.removeBytes() }
        try file.append(recorder.bytes, with: head)
        isUnsynced = true
        if segments.last?.number == file.number { segments[segments.count - 1].size = file.size }
    }

    private func isDue(at time: Moment) -> Bool {
        guard let file else { return false }
        let size = file.size - imageSize
        return size >= max(imageSize, limits.size / Archive.parts)
            || size >= max(Archive.recordsPerImage * imageSize, Archive.fewestRecords)
                && recorder.writes >= Archive.writesPerRow * recorder.rows
            || time.monotonic - began >= limits.time / Double(Archive.parts) && recorder.transactions > 0
    }

    private func rotate(at time: Moment, _ revision: UInt64) throws(ArchiveError) {
        segments[segments.count - 1].end = time.wall.seconds
        file = nil
        try beginSegment(at: time, revision, continues: true)
        deleteOld(at: time)
    }

    private func beginSegment(at time: Moment, _ revision: UInt64, continues: Bool) throws(ArchiveError) {
        let new = try SegmentFile(nextNumber, in: folder)
        nextNumber += 1
        file = new
        segments.append(Segment.File(number: new.number, size: new.size, end: time.wall.seconds))
        began = time.monotonic
        imageSize = 0
        recorder.beginSegment(document(at: time, revision, continues), at: time, revision: revision)
        recorder.beginImage()
        imageNode = 0
        try write()
    }

    private func document(at time: Moment, _ revision: UInt64, _ continues: Bool) -> Value {
        let scenes = basis.scenes.map { Value.list([.string($0.file), .string($0.text)]) }
        let machine = ValueMap(basis.machine.map { (.string($0.key), $0.value) })
        return .map(
            ValueMap([
                ("release", .string(basis.release)), ("epoch", .string(basis.epoch)),
                ("revision", .int(Int64(clamping: revision))), ("wall", .timestamp(time.wall)),
                ("elapsed", .int(time.elapsed.nanoseconds)), ("scenes", .list(ValueList(scenes))),
                ("machine", .map(machine)), ("continues", .bool(continues)),
            ]))
    }

    /// Deletes the oldest segments while all together are too large, or these are too old. The last two stay, because
    /// the image of the present one is not complete.
    private func deleteOld(at time: Moment) {
        readSizes()
        while segments.count > 2 {
            let isOld = segments[0].end < time.wall.seconds - Int64(limits.time)
            guard isOld || size > limits.size else { return }
            if unlink(folder + "/" + Segment.name(segments[0].number)) != 0, errno != ENOENT { return }
            segments.removeFirst()
        }
    }

    /// Reads the sizes of some complete segments again, because agd-past packs them.
    private func readSizes() {
        for _ in 0..<min(Archive.sizesAtOnce, segments.count - 1) {
            nextSize = (nextSize + 1) % (segments.count - 1)
            if let size = Segment.size(of: segments[nextSize].number, in: folder) { segments[nextSize].size = size }
        }
    }

    private func stop(because error: ArchiveError, at time: Moment) {
        failure = error
        failures += 1
        recorder.isOn = false
        recorder.removeBytes()
        file = nil
        imageNode = nil
        isUnsynced = false
        retry = time.monotonic + Archive.retryInterval
        deleteOld(at: time)
    }

    // MARK: For stats

    /// Bytes of all segments.
    public var size: Int { segments.reduce(0) { $0 + $1.size } }

    /// - Parameter archive: nil: there is none.
    public static func figures(of archive: Archive?) -> [GraphRuntime.Figure] {
        [
            ("archive_bytes", false, "Bytes of the archive.", Double(archive?.size ?? 0)),
            ("archive_segments", false, "Files of the archive.", Double(archive?.segments.count ?? 0)),
            ("archive_stopped", false, "1 if the archive cannot be written now.", archive?.failure == nil ? 0 : 1),
            (
                "archive_failures", true, "Times that the archive could not be written.",
                Double(archive?.failures ?? 0)
            ),
        ]
    }
}
