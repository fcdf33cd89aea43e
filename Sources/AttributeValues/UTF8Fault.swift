/// The position at which bytes are not UTF-8: line and column as editors count them, from 1, in Unicode characters.
public struct UTF8Fault: Error, Equatable {
    public var line = 1
    public var column = 1

    /// `scene.yaml:2:31: not UTF-8`
    package func described(in file: String) -> String { "\(file):\(line):\(column): not UTF-8" }

    /// Finds the first such position in O(bytes).
    init(in bytes: [UInt8]) {
        var rest = bytes.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        while case .valid(let scalar) = parser.parseScalar(from: &rest) {
            // A byte order mark does not count as a character.
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
    /// - Throws: the position of the first byte that is not UTF-8. (`init(decoding:)` would insert U+FFFD there.)
    public init(utf8 bytes: [UInt8]) throws(UTF8Fault) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw UTF8Fault(in: bytes) }
        self = text
    }
}
