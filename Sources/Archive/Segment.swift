import AttributeValues
import Glibc
import StateStore

/// The files of an archive. Each is a segment: a sign, then batches of records. A batch is its length and its checksum,
/// 4 bytes each, and the records.
///
/// A batch is written by one call. A power cut or a kill leaves at most one that is cut off, at the end.
///
/// Segments that nobody writes to any more may be packed: see `PackedSegment`. `read` gives them as they were written.
package enum Segment {
    static let sign: StaticString = "agdpast1"
    static let headSize = 8
    static let suffix = ".past"
    /// The most bytes of a batch. Slices of images and documents may be larger than what a second brings.
    static let mostBytes = 1 << 28

    static func name(_ number: UInt64) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 10 - text.count)) + text + suffix
    }

    static func number(of name: String) -> UInt64? {
        name.hasSuffix(suffix) ? UInt64(name.dropLast(suffix.utf8.count)) : nil
    }

    /// The first batch of a segment has its basis, with the texts of the scenes. So many bytes are read for it at
    /// first, and more if it is longer.
    static let basisBytes = [1 << 14, 1 << 18, 16 << 20]

    /// A file, and what is known of it.
    package struct File {
        package var number: UInt64
        package var size: Int
        /// When it was last written, in seconds since 1970.
        package var end: Int64
    }

    /// The segments of a folder, oldest first.
    package static func all(in folder: String) -> [File] {
        guard let entries = opendir(folder) else { return [] }
        defer { closedir(entries) }
        var files: [File] = []
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let number = number(of: name) else { continue }
            var status = stat()
            guard stat(folder + "/" + name, &status) == 0 else { continue }
            files.append(File(number: number, size: Int(status.st_size), end: Int64(status.st_mtim.tv_sec)))
        }
        return files.sorted { $0.number < $1.number }
    }

    static func size(of number: UInt64, in folder: String) -> Int? {
        var status = stat()
        return stat(folder + "/" + name(number), &status) == 0 ? Int(status.st_size) : nil
    }

    /// The content of a segment. One that is being written may end with a batch that is not complete.
    /// - Parameter most: the rest of it may be missing behind so many bytes.
    package static func read(_ number: UInt64, in folder: String, atMost most: Int = .max) -> [UInt8]? {
        guard let bytes = readFile(number, in: folder, atMost: most) else { return nil }
        return bytes.withUnsafeBufferPointer {
            PackedSegment.isPacked($0) ? PackedSegment.unpack($0, atMost: most) : bytes
        }
    }

    static func readFile(_ number: UInt64, in folder: String, atMost most: Int = .max) -> [UInt8]? {
        let descriptor = open(folder + "/" + name(number), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: min(most, Int(status.st_size))) { buffer, count in
            while count < buffer.count {
                let read = Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
                if read < 0, errno == EINTR { continue }
                if read <= 0 { return }
                count += read
            }
        }
        return bytes
    }

    static func begins(_ bytes: UnsafeBufferPointer<UInt8>, with sign: StaticString) -> Bool {
        guard bytes.count >= sign.utf8CodeUnitCount, let begin = bytes.baseAddress else { return false }
        return memcmp(begin, sign.utf8Start, sign.utf8CodeUnitCount) == 0
    }

    /// Appends a batch.
    static func append(_ records: ByteBuffer, to bytes: ByteBuffer) {
        bytes.append(littleEndian: UInt32(truncatingIfNeeded: records.count))
        bytes.append(littleEndian: records.withBytes { StateStore.checksum(of: $0) })
        bytes.append(records)
    }

    static func write(_ bytes: UnsafeBufferPointer<UInt8>, to file: Int32, _ path: String) throws(ArchiveError) {
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(file, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ArchiveError("write", path) }
            done += count
        }
    }

    /// The end of the sound batches of a segment, from the beginning of one of them.
    /// - Parameter body: gets the records of each batch.
    /// - Returns: where the next batch begins; nil if it is no segment.
    package static func forEachBatch(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int = 0, _ body: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Int? {
        guard begins(bytes, with: sign) else { return nil }
        var position = max(start, sign.utf8CodeUnitCount)
        while bytes.count - position >= headSize {
            let raw = UnsafeRawBufferPointer(bytes)
            let length = Int(UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
            let sum = UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self))
            guard length <= bytes.count - position - headSize else { break }
            let records = UnsafeBufferPointer(rebasing: bytes[position + headSize..<position + headSize + length])
            guard StateStore.checksum(of: records) == sum else { break }
            position += headSize + length
            if !body(records) { break }
        }
        return position
    }
}

/// A call that failed, for the log.
public struct ArchiveError: Error, CustomStringConvertible {
    public var description: String
    /// The disk, or the user's share of it, is full.
    public var isFull: Bool

    init(_ call: String, _ path: String, _ number: Int32 = errno) {
        isFull = number == ENOSPC || number == EDQUOT || number == EFBIG
        description = "\(path): \(call): \(String(cString: strerror(number)))"
    }
}

/// The segment that is being written.
final class SegmentFile {
    let number: UInt64
    let path: String
    let descriptor: Int32
    private(set) var size = 0

    /// - Throws: the file cannot be made.
    init(_ number: UInt64, in folder: String) throws(ArchiveError) {
        self.number = number
        path = folder + "/" + Segment.name(number)
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ArchiveError("open", path) }
        do throws(ArchiveError) {
            try write(UnsafeBufferPointer(start: Segment.sign.utf8Start, count: Segment.sign.utf8CodeUnitCount))
        } catch {
            unlink(path)
            throw error
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Appends a batch. If that fails, the file ends with the batch before.
    func append(_ records: ByteBuffer, with head: ByteBuffer) throws(ArchiveError) {
        head.removeAll()
        Segment.append(records, to: head)
        try head.withBytes { (bytes) throws(ArchiveError) in try write(bytes) }
    }

    private func write(_ bytes: UnsafeBufferPointer<UInt8>) throws(ArchiveError) {
        do throws(ArchiveError) { try Segment.write(bytes, to: descriptor, path) } catch {
            // Shrinking a file needs no space.
            _ = ftruncate(descriptor, off_t(size))
            throw error
        }
        size += bytes.count
    }
}
