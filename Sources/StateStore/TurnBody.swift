import AttributeValues
import ViewGraph

/// A turn's changes, in order, in the form of one row, until they are folded into the rows by key.
///
/// Each change is an operation (a byte: 0 puts a row, 1 deletes a row, 2 deletes all rows of a key that are not later),
/// the revision (8 bytes, little-endian), and texts with their lengths (4 bytes each): the key; for 0 and 1 the name;
/// for 0 the value (see `CompactValue.swift`).
struct TurnBody {
    private enum Operation {
        static let put: UInt8 = 0
        static let delete: UInt8 = 1
        static let deleteKey: UInt8 = 2
    }

    let bytes = ByteBuffer()

    mutating func removeAll() { bytes.removeAll() }

    mutating func append(_ change: StoreChange, _ revision: UInt64) {
        let operation =
            change.name == nil ? Operation.deleteKey : change.value == nil ? Operation.delete : Operation.put
        bytes.append(operation)
        append(revision)
        append(change.key)
        if let name = change.name { append(name) }
        guard operation == Operation.put, let new = change.value else { return }
        bytes.appendWithLength { bytes.appendCompact(new) }
    }

    /// A row that is put; its key is given as bytes.
    func append(_ key: UnsafeBufferPointer<UInt8>, _ name: String, _ revision: UInt64, _ value: Value) {
        bytes.append(Operation.put)
        append(revision)
        bytes.append(count: key.count)
        bytes.append(key)
        append(name)
        bytes.appendWithLength { bytes.appendCompact(value) }
    }

    private func append(_ revision: UInt64) { bytes.append(littleEndian: revision) }

    private func append(_ text: String) {
        bytes.append(count: text.utf8.count)
        bytes.append(text: text)
    }

    /// A change in the bytes. Valid as long as the bytes are.
    struct Written {
        var revision: UInt64
        var key: String
        /// nil: delete all rows of the key.
        var name: String?
        /// nil: delete the row.
        var value: UnsafeBufferPointer<UInt8>?
    }

    /// Reads changes one by one, from a position on.
    struct Reader {
        private let bytes: UnsafeBufferPointer<UInt8>
        private(set) var place: Int

        init(_ bytes: UnsafeBufferPointer<UInt8>, from place: Int = 0) {
            self.bytes = bytes
            self.place = place
        }

        var isAtEnd: Bool { place >= bytes.count }

        /// - Throws: if the bytes are not changes.
        mutating func next() throws(Failure) -> Written {
            let operation = try number(1)
            var change = Written(revision: try number(8), key: try text(), name: nil, value: nil)
            switch UInt8(operation) {
            case Operation.put:
                change.name = try text()
                change.value = try part()
            case Operation.delete: change.name = try text()
            case Operation.deleteKey: break
            default: throw TurnBody.unreadable
            }
            return change
        }

        private mutating func number(_ width: Int) throws(Failure) -> UInt64 {
            guard bytes.count - place >= width else { throw TurnBody.unreadable }
            defer { place += width }
            return (0..<width).reduce(0) { $0 | UInt64(bytes[place + $1]) << (8 * UInt64($1)) }
        }

        private mutating func part() throws(Failure) -> UnsafeBufferPointer<UInt8> {
            let count = Int(try number(4))
            guard bytes.count - place >= count else { throw TurnBody.unreadable }
            defer { place += count }
            return UnsafeBufferPointer(rebasing: bytes[place..<place + count])
        }

        private mutating func text() throws(Failure) -> String { String(decoding: try part(), as: UTF8.self) }
    }

    private static var unreadable: Failure { Failure(.unavailable, "it is not a list of changes") }
}

extension StateStore {
    /// The checksum of a row by key.
    static func checksum(_ key: String, _ name: String, _ revision: UInt64, _ value: UnsafeBufferPointer<UInt8>)
        -> Int64
    {
        var sum = Checksum()
        sum.add(key)
        sum.add(name)
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
    static let maximumDepth = 1024
}
