import AttributeValues
import Glibc

// A value in the store: a sign byte and the content. Typed JSON takes ten times as long. Values of rare types are typed
// JSON after a sign of their own.

private enum Sign {
    static let null: UInt8 = 0
    static let no: UInt8 = 1
    static let yes: UInt8 = 2
    static let int: UInt8 = 3
    static let uint: UInt8 = 4
    static let double: UInt8 = 5
    static let string: UInt8 = 6
    static let list: UInt8 = 7
    static let map: UInt8 = 8
    static let typedJSON: UInt8 = 9
}

extension ByteBuffer {
    /// Recursive. Admitted values have a depth limit, which bounds the recursion.
    package func appendCompact(_ value: Value) {
        switch value {
        case .null: append(Sign.null)
        case .bool(let flag): append(flag ? Sign.yes : Sign.no)
        case .int(let number): append(Sign.int, word: UInt64(bitPattern: number))
        case .uint(let number): append(Sign.uint, word: number)
        case .double(let number): append(Sign.double, word: number.bitPattern)
        case .string(let text):
            append(Sign.string)
            append(count: text.utf8.count)
            append(text: text)
        case .list(let elements):
            append(Sign.list)
            append(count: elements.count)
            for element in elements { appendCompact(element) }
        case .map(let map):
            append(Sign.map)
            append(count: map.count)
            let (keys, values) = map.bases
            for position in 0..<map.count {
                appendCompact(keys[position])
                appendCompact(values[position])
            }
        case .bytes, .timestamp, .duration, .type, .optional, .opaque:
            append(Sign.typedJSON)
            appendWithLength { appendTypedJSON(value) }
        }
    }

    private func append(_ sign: UInt8, word: UInt64) {
        append(sign)
        append(littleEndian: word)
    }

    func append(count: Int) { append(littleEndian: UInt32(truncatingIfNeeded: count)) }
}

/// Reads the store's values.
package final class ValueReader {
    private let parser: JSONParser
    private let maximumDepth: Int
    /// The last map inside a map, with its bytes: the definitions of many nodes are equal, and share one value.
    private var last: (bytes: [UInt8], map: Value)?

    package init(maximumDepth: Int) {
        self.maximumDepth = maximumDepth
        parser = JSONParser(maximumDepth: maximumDepth)
    }

    /// - Throws: if the bytes are not a value.
    package func value(_ bytes: UnsafeBufferPointer<UInt8>) throws(Failure) -> Value {
        var position = 0
        let value = try value(bytes, &position, depth: 0)
        guard position == bytes.count else { throw ValueReader.unreadable }
        return value
    }

    private func value(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int, depth: Int) throws(Failure) -> Value
    {
        guard depth < maximumDepth else { throw ValueReader.unreadable }
        if depth == 1, position < bytes.count, bytes[position] == Sign.map, let last, let start = bytes.baseAddress,
            last.bytes.count <= bytes.count - position, memcmp(last.bytes, start + position, last.bytes.count) == 0
        {
            position += last.bytes.count
            return last.map
        }
        let start = position
        switch UInt8(truncatingIfNeeded: try number(1, bytes, &position)) {
        case Sign.null: return .null
        case Sign.no: return false
        case Sign.yes: return true
        case Sign.int: return .int(Int64(bitPattern: try number(8, bytes, &position)))
        case Sign.uint: return .uint(try number(8, bytes, &position))
        case Sign.double: return .double(Double(bitPattern: try number(8, bytes, &position)))
        case Sign.string: return .string(String(utf8: try part(bytes, &position)))
        case Sign.list:
            var list: [Value] = []
            for _ in 0..<(try number(4, bytes, &position)) {
                list.append(try value(bytes, &position, depth: depth + 1))
            }
            return .list(list)
        case Sign.map:
            let count = try number(4, bytes, &position)
            var map = ValueMap(minimumCapacity: Int(min(count, 8)))
            for _ in 0..<count {
                let key = try value(bytes, &position, depth: depth + 1)
                // The keys of a map that was written are different.
                map.add(key, try value(bytes, &position, depth: depth + 1))
            }
            if depth == 1 { last = (Array(bytes[start..<position]), .map(map)) }
            return .map(map)
        case Sign.typedJSON: return try Value(typedJSON: try parser.parse(try part(bytes, &position)).value)
        default: throw ValueReader.unreadable
        }
    }

    private func number(_ width: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) throws(Failure)
        -> UInt64
    {
        guard bytes.count - position >= width, let start = bytes.baseAddress else { throw ValueReader.unreadable }
        var number: UInt64 = 0
        memcpy(&number, start + position, width)
        position += width
        return UInt64(littleEndian: number)
    }

    private func part(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) throws(Failure)
        -> UnsafeBufferPointer<UInt8>
    {
        let count = Int(try number(4, bytes, &position))
        guard bytes.count - position >= count, let start = bytes.baseAddress else { throw ValueReader.unreadable }
        defer { position += count }
        return UnsafeBufferPointer(start: start + position, count: count)
    }

    private static var unreadable: Failure { Failure(.unavailable, "it is not a value") }
}
