import CSimdJSON

/// A reusable JSON parser. Only its last parse is valid: an element is valid until its parser parses again or is freed.
/// So functions must read and drop elements at once, and never store them.
public final class JSONParser {
    private var parser: OpaquePointer
    public let maximumDepth: Int

    /// Readable bytes that `parse(padded:)` needs after a text.
    public static let padding = agd_json_padding()

    /// The default limit of nesting.
    public static let defaultDepth = 128

    public init(maximumDepth: Int = JSONParser.defaultDepth) {
        parser = JSONParser.make(maximumDepth)
        self.maximumDepth = maximumDepth
    }

    deinit { agd_json_parser_free(parser) }

    private static func make(_ maximumDepth: Int) -> OpaquePointer {
        guard let parser = agd_json_parser_new(maximumDepth) else { preconditionFailure("no memory for a JSON parser") }
        return parser
    }

    /// Frees the memory that the longest text so far needed. No element may be in use.
    public func releaseMemory() {
        agd_json_parser_free(parser)
        parser = JSONParser.make(maximumDepth)
    }

    /// Approximate number of values in a text, including the keys of objects: half of its brackets, commas, colons and
    /// beginnings of scalars. Counting takes a small part of the time of parsing.
    public func valueCount(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        agd_json_structural_count(parser, text.baseAddress, text.count) / 2
    }

    /// - Parameter isPadded: true if `padding` readable bytes follow the text, so that it need not be copied.
    /// - Throws: `limit` for JSON that is nested too deep or has numbers out of range, else `invalid` with simdjson's
    ///   reason.
    public func parse(_ text: UnsafeBufferPointer<UInt8>, isPadded: Bool = false) throws(Failure) -> JSONElement {
        var document = agd_json_document()
        let code = agd_json_parse(parser, text.baseAddress, text.count, isPadded ? 1 : 0, &document)
        guard code == 0, let tape = document.tape, let strings = document.strings else {
            if agd_json_is_too_deep(code) != 0 {
                throw Failure(.limit, "JSON nested deeper than \(maximumDepth) levels")
            }
            if agd_json_is_number_error(code) != 0, let number = JSONText.numberOutOfRange(in: text) {
                throw Failure(
                    .limit, "the number \(number.prefix(40)) is out of range",
                    hint: "an integer has 64 bits, another number at most 1.8e308")
            }
            throw Failure(.invalid, "not JSON: \(String(cString: agd_json_error_message(code)))")
        }
        return JSONElement(tape: tape, strings: strings, position: 1)
    }

    /// Parses one short text with a new parser. On a hot path, reuse a parser instead.
    public static func parseOnce(_ text: some Collection<UInt8>) throws(Failure) -> Value {
        let bytes = Array(text)
        let parser = JSONParser()
        defer { withExtendedLifetime(parser) {} }
        return try bytes.withUnsafeBufferPointer { buffer throws(Failure) in try parser.parse(buffer).value }
    }
}

/// A position in a parsed JSON document: a view into its parser's tape, valid until the parser's next parse. Tape
/// layout: simdjson `doc/tape.md`.
@frozen
public struct JSONElement {
    @usableFromInline let tape: UnsafePointer<UInt64>
    @usableFromInline let strings: UnsafePointer<UInt8>
    @usableFromInline let position: Int

    @inlinable
    init(tape: UnsafePointer<UInt64>, strings: UnsafePointer<UInt8>, position: Int) {
        self.tape = tape
        self.strings = strings
        self.position = position
    }

    @inlinable var tag: UInt8 { UInt8(truncatingIfNeeded: tape[position] >> 56) }
    @inlinable var payload: Int { Int(truncatingIfNeeded: tape[position] & 0x00ff_ffff_ffff_ffff) }

    @inlinable public var isObject: Bool { tag == UInt8(ascii: "{") }
    @inlinable public var isArray: Bool { tag == UInt8(ascii: "[") }
    @inlinable public var isNull: Bool { tag == UInt8(ascii: "n") }
    @inlinable public var isString: Bool { tag == UInt8(ascii: "\"") }

    /// The position after this element.
    @inlinable var end: Int {
        switch tag {
        case UInt8(ascii: "{"), UInt8(ascii: "["): payload & 0xffff_ffff
        case UInt8(ascii: "l"), UInt8(ascii: "u"), UInt8(ascii: "d"): position + 2
        default: position + 1
        }
    }

    @inlinable func at(_ position: Int) -> JSONElement { JSONElement(tape: tape, strings: strings, position: position) }

    @inlinable public var stringBytes: UnsafeBufferPointer<UInt8>? { isString ? text : nil }

    /// The bytes of a string. At least `JSONParser.padding` readable bytes follow them.
    @inlinable
    var text: UnsafeBufferPointer<UInt8> {
        let start = strings + payload
        let length = UnsafeRawPointer(start).loadUnaligned(as: UInt32.self)
        return UnsafeBufferPointer(start: start + 4, count: Int(length))
    }

    public var string: String? { isString ? String(parsed: text) : nil }

    @inlinable public var int: Int64? { tag == UInt8(ascii: "l") ? Int64(bitPattern: tape[position + 1]) : nil }

    /// Any JSON number.
    public var number: Double? {
        switch tag {
        case UInt8(ascii: "l"): Double(Int64(bitPattern: tape[position + 1]))
        case UInt8(ascii: "u"): Double(tape[position + 1])
        case UInt8(ascii: "d"): Double(bitPattern: tape[position + 1])
        default: nil
        }
    }

    @inlinable public var bool: Bool? {
        switch tag {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// The first member with this name. A linear search, which suits the few members of a request.
    public subscript(_ name: StaticString) -> JSONElement? {
        guard isObject else { return nil }
        return name.withUTF8Buffer { name in
            var found: JSONElement?
            forEachMember { key, element in
                if found == nil, key.hasSameBytes(as: name) { found = element }
            }
            return found
        }
    }

    /// Visits the members in the order of the text. The bytes of a key are valid as long as the element; at least
    /// `JSONParser.padding` readable bytes follow them.
    @inlinable
    public func forEachMember<E: Error>(_ body: (UnsafeBufferPointer<UInt8>, JSONElement) throws(E) -> Void) throws(E) {
        guard isObject else { return }
        var next = position + 1
        let last = end - 1
        while next < last {
            let member = at(next + 1)
            try body(at(next).text, member)
            next = member.end
        }
    }

    @inlinable
    public func forEachElement<E: Error>(_ body: (JSONElement) throws(E) -> Void) throws(E) {
        guard isArray else { return }
        var next = position + 1
        let last = end - 1
        while next < last {
            let element = at(next)
            try body(element)
            next = element.end
        }
    }

    /// The element as a value: integers become ints (uints from 2⁶³), other numbers doubles. The parser's depth bounds
    /// the recursion.
    public var value: Value {
        switch tag {
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "t"): return .bool(true)
        case UInt8(ascii: "f"): return .bool(false)
        case UInt8(ascii: "l"): return .int(Int64(bitPattern: tape[position + 1]))
        case UInt8(ascii: "u"): return .uint(tape[position + 1])
        case UInt8(ascii: "d"): return .double(Double(bitPattern: tape[position + 1]))
        case UInt8(ascii: "["):
            var elements: [Value] = []
            elements.reserveCapacity(payload >> 32)
            forEachElement { elements.append($0.value) }
            return .list(elements)
        case UInt8(ascii: "{"):
            if let map = ValueMap(parsed: self, count: payload >> 32) { return .map(map) }
            var map = ValueMap(minimumCapacity: payload >> 32)
            forEachMember { key, element in map[String(parsed: key)] = element.value }
            return .map(map)
        default: return .string(String(parsed: text))
        }
    }
}
