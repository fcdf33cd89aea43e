import AttributeValues
import Glibc

/// The line that programs send most, in the form in which all clients of this project write it:
///
///     {"jsonrpc":"2.0","id":7,"method":"set","params":{"path":"/host/cpu.load","value":0.5}}
///
/// Its parts are found without parsing the line. Only the value is left to the parser. Without this way, a `set` takes
/// half again as many instructions (decision 162).
struct PlainSet {
    let id: Int64
    /// The text between the quotes.
    let path: UnsafeBufferPointer<UInt8>
    /// The text of the value, which is not parsed yet.
    let value: UnsafeBufferPointer<UInt8>

    private static let head: StaticString = "{\"jsonrpc\":\"2.0\",\"id\":"
    private static let beforePath: StaticString = ",\"method\":\"set\",\"params\":{\"path\":\""
    private static let beforeValue: StaticString = ",\"value\":"
    /// An id of more digits is left to the parser, which looks at its range.
    private static let idLength = 18

    /// - Returns: nil for any other line.
    init?(_ line: UnsafeBufferPointer<UInt8>) {
        guard line.count > 2, line[line.count - 1] == UInt8(ascii: "}"), line[line.count - 2] == UInt8(ascii: "}"),
            line.has(PlainSet.head, at: 0)
        else { return nil }
        let digits = PlainSet.head.utf8CodeUnitCount
        var position = digits
        var id: Int64 = 0
        while case let digit = line[position] &- 48, digit < 10, position < digits + PlainSet.idLength {
            id = id * 10 + Int64(digit)
            position += 1
        }
        // JSON has no number that begins with a needless zero.
        guard position > digits, line[digits] != UInt8(ascii: "0") || position == digits + 1,
            line.has(PlainSet.beforePath, at: position)
        else { return nil }
        let pathStart = position + PlainSet.beforePath.utf8CodeUnitCount
        guard let start = line.baseAddress, let quote = memchr(start + pathStart, 0x22, line.count - pathStart) else {
            return nil
        }
        let pathEnd = UnsafeRawPointer(quote) - UnsafeRawPointer(start)
        guard line.has(PlainSet.beforeValue, at: pathEnd + 1) else { return nil }
        let valueStart = pathEnd + 1 + PlainSet.beforeValue.utf8CodeUnitCount
        guard valueStart < line.count - 2 else { return nil }
        self.id = id
        path = UnsafeBufferPointer(rebasing: line[pathStart..<pathEnd])
        value = UnsafeBufferPointer(rebasing: line[valueStart..<line.count - 2])
    }
}

extension UnsafeBufferPointer<UInt8> {
    @inline(__always)
    fileprivate func has(_ text: StaticString, at position: Int) -> Bool {
        guard let start = baseAddress, count - position >= text.utf8CodeUnitCount else { return false }
        return memcmp(start + position, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}
