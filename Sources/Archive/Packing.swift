import AttributeValues
import CZlib
import Glibc
import StateStore

/// Moves batches of records into columns, and back. Nothing is lost: the same bytes come back.
///
/// A column has the fields of one kind, so equal ones stand side by side and become short. A number is there as its
/// difference from the last number of its state, a double as the bits that have changed since.
///
/// One description of the records serves both directions: each field is taken from the one side and put to the other.
struct RecordColumns {
    enum Column: Int, CaseIterable {
        case batches, kinds, flags, revisions, wall, elapsed, states, values, numbers
        /// The bytes of doubles: eight columns, the lowest first.
        case bits0, bits1, bits2, bits3, bits4, bits5, bits6, bits7
        case rest
    }

    /// The columns are written, and read otherwise.
    private let isPacking: Bool
    private var columns: [ByteBuffer] = []
    private var readers: [FieldReader] = []
    /// The records: read when they are packed, and written otherwise.
    private var records = FieldReader(UnsafeBufferPointer(start: nil, count: 0))
    private let output = ByteBuffer()
    private let values = ValueReader(maximumDepth: StateStore.maximumDepth)
    private var lastState: UInt64 = .max
    private var lastNumbers: [UInt64: Int64] = [:]
    private var lastBits: [UInt64: UInt64] = [:]

    /// Bytes of the columns, about.
    private(set) var size = 0

    init() {
        isPacking = true
        columns = Column.allCases.map { _ in ByteBuffer() }
    }

    /// - Parameter bytes: as `write` has written them. They are valid until the last batch is read.
    init(reading bytes: UnsafeBufferPointer<UInt8>) throws(Failure) {
        isPacking = false
        var fields = FieldReader(bytes)
        for _ in Column.allCases { readers.append(FieldReader(try fields.part(try fields.count()))) }
    }

    // MARK: Batches

    mutating func add(_ batch: UnsafeBufferPointer<UInt8>) throws(Failure) {
        columns[Column.batches.rawValue].append(varint: UInt64(batch.count))
        records = FieldReader(batch)
        while !records.isAtEnd { try moveRecord() }
        size += batch.count
    }

    /// The columns, each with its length before it.
    func write(to bytes: ByteBuffer) {
        for column in columns {
            bytes.append(varint: UInt64(column.count))
            bytes.append(column)
        }
    }

    /// Appends the batches to a segment, with their heads.
    mutating func readAll(to segment: ByteBuffer) throws(Failure) {
        while !readers[Column.batches.rawValue].isAtEnd {
            let count = try readers[Column.batches.rawValue].count()
            output.removeAll()
            while output.count < count { try moveRecord() }
            guard output.count == count else { throw FieldReader.unreadable }
            Segment.append(output, to: segment)
        }
    }

    // MARK: Records

    private mutating func moveRecord() throws(Failure) {
        guard let kind = RecordKind(rawValue: try moveByte(.kinds)) else { throw FieldReader.unreadable }
        switch kind {
        case .transaction: try moveTransaction()
        case .write, .reaction:
            let state = try moveNumber(.states, after: lastState &+ 1)
            lastState = state
            try moveValue(of: state)
        case .basis, .author: try moveRest { (fields, values) throws(Failure) in _ = try fields.value(values) }
        case .state:
            try moveRest { (fields, _) throws(Failure) in for _ in 0..<3 { try fields.skipText() } }
        case .row, .imageRow:
            try moveRest { (fields, values) throws(Failure) in
                for _ in 0..<2 { try fields.skipText() }
                _ = try fields.value(values)
            }
        case .deletedRow: try moveRest { (fields, _) throws(Failure) in for _ in 0..<2 { try fields.skipText() } }
        case .deletedKey:
            try moveRest { (fields, _) throws(Failure) in
                try fields.skipText()
                _ = try fields.varint()
            }
        case .report:
            try moveRest { (fields, _) throws(Failure) in
                _ = try fields.varint()
                try fields.skipText()
            }
        case .entries:
            try moveRest { (fields, values) throws(Failure) in
                _ = try fields.varint()
                _ = try fields.value(values)
            }
        case .burst:
            try moveRest { (fields, values) throws(Failure) in
                for _ in 0..<3 { _ = try fields.varint() }
                for _ in 0..<3 { _ = try fields.value(values) }
            }
        case .imageBegins, .imageEnds, .end: break
        }
    }

    private mutating func moveTransaction() throws(Failure) {
        let flags = try moveByte(.flags)
        if flags & TransactionFlag.leap != 0 { _ = try moveNumber(.revisions, after: 0) }
        if flags & TransactionFlag.sameTime == 0 {
            _ = try moveNumber(.wall, after: 0)
            _ = try moveNumber(.elapsed, after: 0)
        }
        if flags & TransactionFlag.author != 0 {
            try moveRest { (fields, _) throws(Failure) in _ = try fields.varint() }
        }
        if flags & TransactionFlag.label != 0 { try moveRest { (fields, _) throws(Failure) in try fields.skipText() } }
        if flags & TransactionFlag.animation != 0 {
            try moveRest { (fields, values) throws(Failure) in _ = try fields.value(values) }
        }
    }

    private mutating func moveValue(of state: UInt64) throws(Failure) {
        let kind = try moveByte(.values)
        switch kind {
        case ValueKind.null, ValueKind.no, ValueKind.yes: break
        case ValueKind.int, ValueKind.decimal...ValueKind.decimal + UInt8(ValueKind.mostDecimals):
            // The differences of zigzag numbers would be as long again, so they are those of the numbers.
            let last = lastNumbers[state] ?? 0
            let number: Int64
            if isPacking {
                number = try records.difference()
                columns[Column.numbers.rawValue].append(difference: number &- last)
            } else {
                number = last &+ (try readers[Column.numbers.rawValue].difference())
                output.append(difference: number)
            }
            lastNumbers[state] = number
        case ValueKind.double:
            let last = lastBits[state] ?? 0
            var bits: UInt64 = 0
            if isPacking {
                bits = UInt64(littleEndian: try records.fixed(UInt64.self))
                for byte in 0..<8 {
                    columns[Column.bits0.rawValue + byte].append(
                        UInt8(truncatingIfNeeded: (bits ^ last) >> UInt64(8 * byte)))
                }
            } else {
                for byte in 0..<8 {
                    bits |= UInt64(try readers[Column.bits0.rawValue + byte].byte()) << UInt64(8 * byte)
                }
                bits ^= last
                output.append(littleEndian: bits)
            }
            lastBits[state] = bits
        case ValueKind.uint: try moveRest { (fields, _) throws(Failure) in _ = try fields.varint() }
        case ValueKind.string: try moveRest { (fields, _) throws(Failure) in try fields.skipText() }
        case ValueKind.other: try moveRest { (fields, _) throws(Failure) in try fields.skipOther() }
        default: throw FieldReader.unreadable
        }
    }

    // MARK: Fields

    private mutating func moveByte(_ column: Column) throws(Failure) -> UInt8 {
        if isPacking {
            let byte = try records.byte()
            columns[column.rawValue].append(byte)
            return byte
        }
        let byte = try readers[column.rawValue].byte()
        output.append(byte)
        return byte
    }

    private mutating func moveNumber(_ column: Column, after expected: UInt64) throws(Failure) -> UInt64 {
        if isPacking {
            let number = try records.varint()
            columns[column.rawValue].append(difference: Int64(bitPattern: number &- expected))
            return number
        }
        let number = expected &+ UInt64(bitPattern: try readers[column.rawValue].difference())
        output.append(varint: number)
        return number
    }

    /// Moves fields that are as they are.
    /// - Parameter pass: goes behind them.
    private mutating func moveRest(
        _ pass: (inout FieldReader, ValueReader) throws(Failure) -> Void
    ) throws(Failure) {
        var fields = isPacking ? records : readers[Column.rest.rawValue]
        let start = fields.position
        try pass(&fields, values)
        let part = UnsafeBufferPointer(rebasing: fields.bytes[start..<fields.position])
        if isPacking {
            records = fields
            columns[Column.rest.rawValue].append(part)
        } else {
            readers[Column.rest.rawValue] = fields
            output.append(part)
        }
    }
}

/// A segment that is closed, packed: a sign, then frames. A frame has three numbers of 4 bytes: its length, its
/// checksum, and the length of its columns; then the columns, deflated.
///
/// The first frame has the first batch alone, the basis, so it can be read at once.
package enum PackedSegment {
    static let sign: StaticString = "agdpack1"
    static let headSize = 12
    /// Bytes of records in a frame, if its batches are shorter. More need more memory, fewer are packed worse.
    private static let frameSize = 1 << 20
    private static let suffix = ".new"

    static func isPacked(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool { Segment.begins(bytes, with: sign) }

    /// Packs a segment that nobody writes to any more. It gets another content in one step, and keeps its date.
    /// - Returns: false if it is packed already, or cannot be packed.
    package static func pack(_ number: UInt64, in folder: String) throws(ArchiveError) -> Bool {
        let path = folder + "/" + Segment.name(number)
        var status = stat()
        guard stat(path, &status) == 0, let begin = Segment.readFile(number, in: folder, atMost: headSize),
            !begin.withUnsafeBufferPointer({ isPacked($0) }), let bytes = Segment.readFile(number, in: folder)
        else { return false }
        let packed = ByteBuffer()
        let isWhole = bytes.withUnsafeBufferPointer { bytes in
            guard pack(bytes, to: packed) else { return false }
            // Another release may have written it: then it stays as it is.
            return packed.withBytes { unpack($0) }?.elementsEqual(bytes) == true
        }
        guard isWhole else { return false }
        let file = path + suffix
        let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ArchiveError("open", file) }
        defer { Glibc.close(descriptor) }
        // Another agd-past packs it.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        do throws(ArchiveError) {
            guard ftruncate(descriptor, 0) == 0 else { throw ArchiveError("ftruncate", file) }
            try packed.withBytes { (bytes) throws(ArchiveError) in try Segment.write(bytes, to: descriptor, file) }
            let times = [status.st_atim, status.st_mtim]
            guard futimens(descriptor, times) == 0, fsync(descriptor) == 0, access(path, F_OK) == 0,
                rename(file, path) == 0
            else { throw ArchiveError("rename", file) }
        } catch {
            unlink(file)
            throw error
        }
        return true
    }

    /// - Returns: false if its batches are not sound, or have records that this release does not know.
    private static func pack(_ bytes: UnsafeBufferPointer<UInt8>, to packed: ByteBuffer) -> Bool {
        packed.append(UnsafeBufferPointer(start: sign.utf8Start, count: sign.utf8CodeUnitCount))
        var columns = RecordColumns()
        var isFirst = true
        var isSound = true
        let end = Segment.forEachBatch(bytes) { batch in
            guard (try? columns.add(batch)) != nil else {
                isSound = false
                return false
            }
            if isFirst || columns.size >= frameSize {
                isSound = close(columns, to: packed)
                columns = RecordColumns()
            }
            isFirst = false
            return isSound
        }
        return isSound && end == bytes.count && (columns.size == 0 || close(columns, to: packed))
    }

    private static func close(_ columns: RecordColumns, to packed: ByteBuffer) -> Bool {
        let plain = ByteBuffer()
        columns.write(to: plain)
        return plain.withBytes { plain in
            var count = compressBound(UInt(plain.count))
            var isSound = false
            let frame = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, filled in
                isSound =
                    compress2(
                        buffer.baseAddress, &count, plain.baseAddress, UInt(plain.count), Z_DEFAULT_COMPRESSION)
                    == Z_OK
                filled = isSound ? Int(count) : 0
            }
            guard isSound else { return false }
            frame.withUnsafeBufferPointer { frame in
                packed.append(littleEndian: UInt32(truncatingIfNeeded: frame.count))
                packed.append(littleEndian: StateStore.checksum(of: frame))
                packed.append(littleEndian: UInt32(truncatingIfNeeded: plain.count))
                packed.append(frame)
            }
            return true
        }
    }

    /// The segment as it was written.
    /// - Parameter most: the rest of it may be missing behind so many bytes.
    /// - Returns: nil if it cannot be read.
    static func unpack(_ bytes: UnsafeBufferPointer<UInt8>, atMost most: Int = .max) -> [UInt8]? {
        let segment = ByteBuffer()
        segment.append(UnsafeBufferPointer(start: Segment.sign.utf8Start, count: Segment.sign.utf8CodeUnitCount))
        var position = sign.utf8CodeUnitCount
        let raw = UnsafeRawBufferPointer(bytes)
        func number(_ offset: Int) -> UInt32 {
            UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: position + offset, as: UInt32.self))
        }
        while bytes.count - position >= headSize, segment.count < most {
            let (length, sum, size) = (Int(number(0)), number(4), Int(number(8)))
            guard length <= bytes.count - position - headSize else { break }
            let frame = UnsafeBufferPointer(rebasing: bytes[position + headSize..<position + headSize + length])
            guard StateStore.checksum(of: frame) == sum, size <= 2 * Segment.mostBytes else { return nil }
            var count = UInt(size)
            var isSound = false
            let plain = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
                isSound = uncompress(buffer.baseAddress, &count, frame.baseAddress, UInt(length)) == Z_OK
                filled = isSound ? Int(count) : 0
            }
            guard isSound else { return nil }
            let isRead = plain.withUnsafeBufferPointer { plain in
                guard var columns = try? RecordColumns(reading: plain) else { return false }
                return (try? columns.readAll(to: segment)) != nil
            }
            guard isRead else { return nil }
            position += headSize + length
        }
        return segment.withBytes { Array($0) }
    }
}
