/// Where bytes stop being UTF-8: line and column as editors count them, from 1, in characters of Unicode.
public struct UTF8Fault: Error, Equatable {
    public var line = 1
    public var column = 1

    /// The first such place; O(bytes).
    init(in bytes: [UInt8]) {
        var rest = bytes.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        while case .valid(let scalar) = parser.parseScalar(from: &rest) {
            // A byte order mark is no character.
            if Unicode.UTF8.decode(scalar) == "\u{FEFF}", line == 1, column == 1 { continue }
            if scalar.first == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else {
                column += 1
            }
        }
    }
}

extension String {
    /// - Throws: the place of the first byte that is not UTF-8. (`init(decoding:)` would put U+FFFD there.)
    public init(utf8 bytes: [UInt8]) throws(UTF8Fault) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw UTF8Fault(in: bytes) }
        self = text
    }
}
