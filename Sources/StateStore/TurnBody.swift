import AttributeValues
import Glibc
import ViewGraph

/// A turn's changes, in order, in the form of one row, until they are folded into the rows by key.
///
/// Each change is an operation (a byte: 0 puts a row, 1 deletes a row, 2 deletes all rows of a key that are not later),
/// the revision (8 bytes, little-endian), and texts with their lengths (4 bytes each): the key; for 0 and 1 the name;
/// for 0 the value (see `CompactValue.swift`).
package struct TurnBody {
    private enum Operation {
        static let put: UInt8 = 0
        static let delete: UInt8 = 1
        static let deleteKey: UInt8 = 2
    }

    let bytes = ByteBuffer()

    func removeAll() { bytes.removeAll() }

    func append(_ change: StoreChange, _ revision: UInt64) {
        var key = change.key
        key.withUTF8 { append($0, change.name, revision, change.value) }
    }

    /// A change with its key as bytes.
    /// - Parameter known: the bytes of the value, if somebody has made them.
    func append(
        _ key: UnsafeBufferPointer<UInt8>, _ name: String?, _ revision: UInt64, _ value: Value?,
        _ known: UnsafeBufferPointer<UInt8>? = nil
    ) {
        bytes.append(name == nil ? Operation.deleteKey : value == nil ? Operation.delete : Operation.put)
        bytes.append(littleEndian: revision)
        bytes.append(count: key.count)
        bytes.append(key)
        guard let name else { return }
        bytes.append(count: name.utf8.count)
        bytes.append(text: name)
        guard let value else { return }
        if let known {
            assert(known.elementsEqual(TurnBody.bytes(of: value)), "the bytes of another value")
            bytes.append(count: known.count)
            return bytes.append(known)
        }
        bytes.appendWithLength { bytes.appendCompact(value) }
    }

    private static func bytes(of value: Value) -> [UInt8] {
        let buffer = ByteBuffer()
        buffer.appendCompact(value)
        return buffer.withBytes { Array($0) }
    }

    /// A change in the bytes. Valid as long as the bytes are.
    package struct Written {
        var revision: UInt64
        var key: UnsafeBufferPointer<UInt8>
        /// nil: delete all rows of the key.
        var name: UnsafeBufferPointer<UInt8>?
        /// nil: delete the row.
        package var value: UnsafeBufferPointer<UInt8>?
        /// The key and the name with their lengths; nil without a name.
        var row: RowBytes?
    }

    /// Names a row in the bytes.
    struct RowBytes: Hashable {
        let bytes: UnsafeRawBufferPointer

        static func == (a: RowBytes, b: RowBytes) -> Bool {
            guard a.bytes.count == b.bytes.count, let x = a.bytes.baseAddress, let y = b.bytes.baseAddress else {
                return a.bytes.isEmpty && b.bytes.isEmpty
            }
            return memcmp(x, y, a.bytes.count) == 0
        }

        func hash(into hasher: inout Hasher) { hasher.combine(bytes: bytes) }
    }

    /// Reads changes one by one, from a position on.
    package struct Reader {
        private let bytes: UnsafeBufferPointer<UInt8>
        private(set) var position: Int

        package init(_ bytes: UnsafeBufferPointer<UInt8>, from position: Int = 0) {
            self.bytes = bytes
            self.position = position
        }

        package var isAtEnd: Bool { position >= bytes.count }

        /// - Throws: if the bytes are not changes.
        package mutating func next() throws(Failure) -> Written {
            let operation = try number(UInt8.self)
            let revision = try number(UInt64.self)
            let start = position
            var change = Written(revision: revision, key: try part())
            if operation == Operation.deleteKey { return change }
            guard operation == Operation.put || operation == Operation.delete else { throw TurnBody.unreadable }
            change.name = try part()
            change.row = RowBytes(bytes: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[start..<position])))
            if operation == Operation.put { change.value = try part() }
            return change
        }

        private mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) throws(Failure) -> Number {
            let width = MemoryLayout<Number>.size
            guard bytes.count - position >= width else { throw TurnBody.unreadable }
            defer { position += width }
            return Number(
                littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: position, as: Number.self))
        }

        private mutating func part() throws(Failure) -> UnsafeBufferPointer<UInt8> {
            let count = Int(try number(UInt32.self))
            guard bytes.count - position >= count else { throw TurnBody.unreadable }
            defer { position += count }
            return UnsafeBufferPointer(rebasing: bytes[position..<position + count])
        }
    }

    private static var unreadable: Failure { Failure(.unavailable, "it is not a list of changes") }
}

extension StateStore {
    /// The checksum of a row by key.
    static func checksum(
        _ key: UnsafeBufferPointer<UInt8>, _ name: UnsafeBufferPointer<UInt8>, _ revision: UInt64,
        _ value: UnsafeBufferPointer<UInt8>
    ) -> Int64 {
        var sum = Checksum()
        sum.add(text: key)
        sum.add(text: name)
        sum.add(Int64(bitPattern: revision))
        sum.add(value)
        return Int64(sum.value)
    }

    /// The checksum of a turn's changes.
    static func checksum(_ revision: UInt64, _ body: UnsafeBufferPointer<UInt8>) -> Int64 {
        var sum = Checksum()
        sum.add(Int64(bitPattern: revision))
        sum.add(body)
        return Int64(sum.value)
    }

    /// Twice the depth of JSON input, because typed JSON nests about twice as deeply.
    package static let maximumDepth = 1024
}
