import Glibc

/// The content of SQLite's write-ahead log, examined before SQLite opens it. SQLite reads a log up to its first bad
/// frame and ignores the rest without notice, because it cannot tell a transaction that a crash cut off from one that
/// was lost.
///
/// The frames after the bad one tell. The log is written from front to back, and under `durability: full` each
/// transaction is on the disk before the next one begins. So a crash leaves at most the last transaction incomplete.
/// If, after the first bad frame, a frame of this log follows the end of another transaction, acknowledged transactions
/// are lost. Frames of an earlier round through the file have other salts and prove nothing: SQLite starts at the front
/// again when all of the log is in the database.
///
/// Two things cannot be found out. Damage in the very last transaction looks as if it had been cut off, so the
/// transaction is left out. And there may have been transactions after the place where the file ends.
///
/// The format: https://sqlite.org/fileformat2.html#walformat
struct WriteAheadLog {
    private(set) var size = 0
    /// There is a sound header. A log may have only that: SQLite writes a new header before the first commit of a
    /// round, when the previous round is completely in the database.
    private(set) var hasHeader = false
    /// The number of readable transactions.
    private(set) var transactions = 0
    /// The position of the first bad part in the file, if it loses transactions, and the smallest possible number of
    /// lost ones.
    private(set) var damage: (byte: Int, transactions: Int)?
    /// The position of the last transaction, if it is incomplete.
    private(set) var cutOff: Int?

    private static let headerSize = 32
    private static let frameHeaderSize = 24
    private static let smallestPage = 512

    /// A missing log counts as empty.
    init(path: String) throws(StoreError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return }
        guard descriptor >= 0 else { throw .system("open", path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system("fstat", path) }
        size = Int(status.st_size)
        try read(Reader(descriptor: descriptor, path: path))
    }

    private mutating func read(_ file: Reader) throws(StoreError) {
        guard let header = try file.next(WriteAheadLog.headerSize) else { return }
        var sum = Sum(isBigEndian: header.word(0) & 1 == 1)
        sum.add(header[..<24])
        let pageSize = Int(header.word(8))
        guard header.word(0) & ~1 == 0x377f_0682, sum == Sum(header, at: 24, isBigEndian: sum.isBigEndian),
            pageSize <= 1 << 16
        else {
            // Nothing after it can be read. A file without space for a frame is a log that was never used.
            if size > WriteAheadLog.headerSize + WriteAheadLog.frameHeaderSize + WriteAheadLog.smallestPage {
                damage = (0, 1)
            }
            return
        }
        hasHeader = true
        var frames = Frames(salts: header[16..<24], end: WriteAheadLog.headerSize)
        // A frame's checksum continues the one of the frame before. So frames after a bad one can be checked, too: they
        // continue the checksum that the bad frame stores or, if the damage is in that checksum, the right one.
        var sums = [sum]
        while let frame = try file.next(WriteAheadLog.frameHeaderSize + pageSize) {
            for position in sums.indices {
                sums[position].add(frame[..<8])
                sums[position].add(frame[WriteAheadLog.frameHeaderSize...])
            }
            let stored = Sum(frame, at: 16, isBigEndian: sum.isBigEndian)
            let isSummed = sums.contains(stored)
            frames.add(frame, isSummed: isSummed)
            sums = isSummed ? [stored] : [stored, sums[0]]
        }
        transactions = frames.transactions
        if let gap = frames.gap, frames.isBehindGap {
            damage = (gap, max(1, frames.endsBehindGap))
        } else if frames.hasPieces || frames.gap == nil && frames.endOfLast < size {
            cutOff = frames.endOfLast
        }
    }

    /// The result of the frames up to some position.
    private struct Frames {
        let salts: ArraySlice<UInt8>
        /// The end of the frames so far.
        var end: Int
        var transactions = 0
        /// The end of the last readable transaction.
        var endOfLast: Int
        /// The position of the first bad frame.
        var gap: Int?
        /// The number of transaction ends of this log, from the first bad frame on.
        var endsBehindGap = 0
        /// There is a frame of a transaction that began after the first bad frame.
        var isBehindGap = false
        /// There are frames of this log after the last readable transaction.
        var hasPieces = false
        private var previousEnds = false

        init(salts: ArraySlice<UInt8>, end: Int) {
            self.salts = salts
            self.end = end
            endOfLast = end
        }

        /// - Parameter isSummed: whether its checksum continues the one of the frame before.
        mutating func add(_ frame: [UInt8], isSummed: Bool) {
            let isOurs = frame[8..<16].elementsEqual(salts)
            let ends = frame.word(4) != 0
            if gap == nil, !isOurs || !isSummed { gap = end }
            end += frame.count
            if gap == nil, ends {
                transactions += 1
                endOfLast = end
                hasPieces = false
            } else if isOurs {
                hasPieces = true
                // The bad frame may have lost its salts and still be the end of a transaction. A good successor shows
                // that it was written before.
                if gap != nil, isSummed, endsBehindGap > 0 || previousEnds { isBehindGap = true }
                if gap != nil, ends { endsBehindGap += 1 }
            }
            previousEnds = ends
        }
    }

    /// The checksum of SQLite's log: two words that depend on everything before.
    private struct Sum: Equatable {
        let isBigEndian: Bool
        private var first: UInt32 = 0
        private var second: UInt32 = 0

        init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

        /// The checksum that is stored at a place.
        init(_ bytes: [UInt8], at position: Int, isBigEndian: Bool) {
            self.isBigEndian = isBigEndian
            (first, second) = (bytes.word(position), bytes.word(position + 4))
        }

        /// - Parameter bytes: a multiple of eight.
        mutating func add(_ bytes: ArraySlice<UInt8>) {
            bytes.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                var (a, b) = (first, second)
                let isSwapped = isBigEndian
                var position = 0
                // Plain operations: without optimisation, each call in this loop is as long as the rest of it.
                while position < bytes.count {
                    var one = start.loadUnaligned(fromByteOffset: position, as: UInt32.self)
                    var two = start.loadUnaligned(fromByteOffset: position &+ 4, as: UInt32.self)
                    if isSwapped { (one, two) = (one.byteSwapped, two.byteSwapped) }
                    a = a &+ one &+ b
                    b = b &+ two &+ a
                    position &+= 8
                }
                (first, second) = (a, b)
            }
        }
    }

    private struct Reader {
        let descriptor: Int32
        let path: String

        /// The next bytes; nil if there are fewer.
        func next(_ count: Int) throws(StoreError) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            var filled = 0
            while filled < count {
                let result = bytes.withUnsafeMutableBytes {
                    Glibc.read(descriptor, $0.baseAddress.map { $0 + filled }, count - filled)
                }
                if result == 0 { return nil }
                if result < 0, errno != EINTR { throw .system("read", path) }
                filled += max(0, result)
            }
            return bytes
        }
    }
}

extension [UInt8] {
    /// The log's numbers are big-endian, whatever the order of its checksums.
    fileprivate func word(_ position: Int) -> UInt32 {
        self[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
