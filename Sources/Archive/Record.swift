import AttributeValues
import StateStore

// A segment is a text of records. Numbers are varints; differences are zigzag varints; texts have their length first.
//
// | record | fields |
// |---|---|
// | basis | a value: see `Basis` |
// | author | a value: `[uid, gid, pid, name, principal]`; authors are numbered from 0 in each segment |
// | state | the key of a node, the name of a state, and its path if that is another text; states are numbered from 0 in each segment |
// | transaction | flags, differences of the revision, the wall clock and the operators' clock; author, label, animation |
// | write, reaction | the number of a state, and a value |
// | row, imageRow | key, name, value |
// | deletedRow | key, name |
// | deletedKey | key, revision: rows written after it stay |
// | report | the number of a state, and steps below it |
// | entries | the number of a state, and a list of keys; empty: all |
// | burst | the number of a state, how many writes, the time since the transaction before, least, greatest, last |
// | imageBegins, imageEnds | nothing; the time of the transaction before counts |
// | end | nothing: the daemon has ended in order |

enum RecordKind: UInt8 {
    case basis = 1
    case author, state, transaction, write, row, deletedRow, deletedKey, report, entries, burst
    case imageBegins, imageRow, imageEnds, end
    /// A write that nobody has asked for.
    case reaction
}

/// The flags of a transaction.
enum TransactionFlag {
    static let author: UInt8 = 1
    static let sameAuthor: UInt8 = 2
    static let label: UInt8 = 4
    static let sameLabel: UInt8 = 8
    static let animation: UInt8 = 16
    /// The revision is not the next one.
    static let leap: UInt8 = 32
    /// No time has passed.
    static let sameTime: UInt8 = 64
}

/// How a value begins. Most numbers are short.
enum ValueKind {
    static let null: UInt8 = 0
    static let no: UInt8 = 1
    static let yes: UInt8 = 2
    static let int: UInt8 = 3
    static let uint: UInt8 = 4
    static let double: UInt8 = 5
    static let string: UInt8 = 6
    /// As the store writes it, behind its length.
    static let other: UInt8 = 7
    /// The bytes of `other` before the value.
    static let headSize = 5
    /// A double that is a whole number, or one of tenths and so on: this and the number of decimals.
    static let decimal: UInt8 = 8
    static let mostDecimals = 3
}

extension ByteBuffer {
    func append(varint number: UInt64) { appendField { $0.put(varint: number) } }

    func append(difference number: Int64) { appendField { $0.put(difference: number) } }

    /// Appends what the body writes: at most `FieldWriter.mostScalar` bytes.
    private func appendField<Result>(_ write: (inout FieldWriter) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: FieldWriter.mostScalar) { memory in
            var fields = FieldWriter(memory)
            defer { append(fields.written) }
            return write(&fields)
        }
    }

    func append(record kind: RecordKind) { append(kind.rawValue) }

    func append(counted text: String) {
        append(varint: UInt64(text.utf8.count))
        append(text: text)
    }

    /// - Returns: whether it is there as the store writes it.
    @discardableResult
    func append(archived value: Value) -> Bool {
        appendField { $0.put(scalar: value) } ? false : append(long: value)
    }

    /// Appends a text, a list, a map, or another value that `FieldWriter` does not put.
    /// - Returns: as above.
    func append(long value: Value) -> Bool {
        if case .string(let text) = value {
            append(ValueKind.string)
            append(counted: text)
            return false
        }
        append(ValueKind.other)
        appendWithLength { appendCompact(value) }
        return true
    }
}

/// Puts short fields together in memory that has room for them, which is cheaper than to append them one by one.
struct FieldWriter {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    /// The most bytes of a value that is no text, list or map.
    static let mostScalar = 16

    init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    var written: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: memory[..<count]) }

    mutating func removeAll() { count = 0 }

    mutating func put(_ byte: UInt8) {
        memory[count] = byte
        count += 1
    }

    mutating func put(varint number: UInt64) {
        var number = number
        while number >= 0x80 {
            put(UInt8(truncatingIfNeeded: number) | 0x80)
            number >>= 7
        }
        put(UInt8(truncatingIfNeeded: number))
    }

    mutating func put(difference number: Int64) {
        put(varint: UInt64(bitPattern: number << 1) ^ UInt64(bitPattern: number >> 63))
    }

    /// - Returns: false for a text, a list or a map, and other values that are long.
    mutating func put(scalar value: Value) -> Bool {
        switch value {
        case .null: put(ValueKind.null)
        case .bool(let flag): put(flag ? ValueKind.yes : ValueKind.no)
        case .int(let number):
            put(ValueKind.int)
            put(difference: number)
        case .uint(let number):
            put(ValueKind.uint)
            put(varint: number)
        case .double(let number): put(number)
        default: return false
        }
        return true
    }

    private mutating func put(_ number: Double) {
        var scale = 1.0
        for decimals in 0...ValueKind.mostDecimals {
            let scaled = number * scale
            // Beyond that, the eight bytes of a double are as short.
            guard scaled.magnitude < 1e12 else { break }
            // Rounded: `rounded` is a call.
            let whole = Int64(scaled < 0 ? scaled - 0.5 : scaled + 0.5)
            if Double(whole) / scale == number, number.sign == .plus || whole != 0 {
                put(ValueKind.decimal + UInt8(decimals))
                return put(difference: whole)
            }
            scale *= 10
        }
        put(ValueKind.double)
        UnsafeMutableRawBufferPointer(memory)
            .storeBytes(of: number.bitPattern.littleEndian, toByteOffset: count, as: UInt64.self)
        count += 8
    }
}

/// Reads the fields of records.
struct FieldReader {
    let bytes: UnsafeBufferPointer<UInt8>
    private(set) var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func byte() throws(Failure) -> UInt8 {
        guard position < bytes.count else { throw FieldReader.unreadable }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func varint() throws(Failure) -> UInt64 {
        var (number, shift) = (UInt64(0), UInt64(0))
        while shift < 64 {
            let byte = try byte()
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        throw FieldReader.unreadable
    }

    mutating func count() throws(Failure) -> Int {
        guard let count = Int(exactly: try varint()) else { throw FieldReader.unreadable }
        return count
    }

    mutating func difference() throws(Failure) -> Int64 {
        let number = try varint()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    mutating func text() throws(Failure) -> String {
        let count = try count()
        return String(utf8: try part(count))
    }

    mutating func fixed<Number: FixedWidthInteger>(_ type: Number.Type) throws(Failure) -> Number {
        let width = MemoryLayout<Number>.size
        guard bytes.count - position >= width else { throw FieldReader.unreadable }
        defer { position += width }
        return UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: position, as: type)
    }

    mutating func part(_ count: Int) throws(Failure) -> UnsafeBufferPointer<UInt8> {
        guard count <= bytes.count - position else { throw FieldReader.unreadable }
        defer { position += count }
        return UnsafeBufferPointer(rebasing: bytes[position..<position + count])
    }

    /// Goes behind a text.
    mutating func skipText() throws(Failure) {
        let count = try count()
        _ = try part(count)
    }

    /// Goes behind the fields of a value of the kind `other`.
    mutating func skipOther() throws(Failure) {
        let count = Int(UInt32(littleEndian: try fixed(UInt32.self)))
        _ = try part(count)
    }

    mutating func skipValue() throws(Failure) {
        let kind = try byte()
        switch kind {
        case ValueKind.null, ValueKind.no, ValueKind.yes: break
        case ValueKind.double: _ = try fixed(UInt64.self)
        case ValueKind.string: try skipText()
        case ValueKind.other: try skipOther()
        case ValueKind.int, ValueKind.uint, ValueKind.decimal...ValueKind.decimal + UInt8(ValueKind.mostDecimals):
            _ = try varint()
        default: throw FieldReader.unreadable
        }
    }

    mutating func value(_ values: ValueReader) throws(Failure) -> Value {
        let kind = try byte()
        switch kind {
        case ValueKind.null: return .null
        case ValueKind.no: return false
        case ValueKind.yes: return true
        case ValueKind.int: return .int(try difference())
        case ValueKind.uint: return .uint(try varint())
        case ValueKind.double:
            return .double(Double(bitPattern: UInt64(littleEndian: try fixed(UInt64.self))))
        case ValueKind.string: return .string(try text())
        case ValueKind.other:
            let count = Int(UInt32(littleEndian: try fixed(UInt32.self)))
            return try values.value(try part(count))
        default:
            let decimals = Int(kind) - Int(ValueKind.decimal)
            guard decimals >= 0, decimals <= ValueKind.mostDecimals else { throw FieldReader.unreadable }
            let scale = [1.0, 10, 100, 1000][decimals]
            return .double(Double(try difference()) / scale)
        }
    }

    static var unreadable: Failure { Failure(.unavailable, "it is not a record") }
}

/// The fields of a transaction up to its animation.
struct TransactionHead {
    private var flags: UInt8 = 0
    /// The differences from the transaction before.
    private(set) var leap: UInt64 = 0
    private(set) var wall: Int64 = 0
    private(set) var elapsed: Int64 = 0
    /// The number of its author, if it is another one than before.
    private(set) var author: Int?
    /// Its label, if it is another one than before.
    private(set) var label: UnsafeBufferPointer<UInt8>?

    var hasAuthor: Bool { flags & (TransactionFlag.author | TransactionFlag.sameAuthor) != 0 }
    var hasLabel: Bool { flags & (TransactionFlag.label | TransactionFlag.sameLabel) != 0 }
    var hasAnimation: Bool { flags & TransactionFlag.animation != 0 }

    init() {}

    init(_ fields: inout FieldReader) throws(Failure) {
        flags = try fields.byte()
        leap = flags & TransactionFlag.leap == 0 ? 1 : UInt64(bitPattern: try fields.difference())
        if flags & TransactionFlag.sameTime == 0 {
            wall = try fields.difference()
            elapsed = wall &+ (try fields.difference())
        }
        if flags & TransactionFlag.author != 0 { author = try fields.count() }
        if flags & TransactionFlag.label != 0 { label = try fields.part(try fields.count()) }
    }
}
