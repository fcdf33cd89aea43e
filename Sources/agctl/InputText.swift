import AttributeValues
import Glibc

/// Files and standard input as text.
enum InputText {
    /// Maximum bytes of a file. Scenes and lists of mutations are smaller.
    static let maximumSize = 64 << 20

    /// The name of a file in messages.
    static func title(of name: String) -> String { name == "-" ? "standard input" : name }

    /// - Parameter name: a file, or `-` for standard input.
    /// - Throws: `notFound` for a file that cannot be opened, `inputOutput`, and `data` for text that is not UTF-8.
    static func read(_ name: String) throws(Complaint) -> String {
        let descriptor = name == "-" ? 0 : open(name, O_RDONLY | O_CLOEXEC)
        let title = Self.title(of: name)
        guard descriptor >= 0 else { throw Complaint(.notFound, "\(title): \(String(cString: strerror(errno)))") }
        defer { if descriptor != 0 { close(descriptor) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Complaint(.inputOutput, "\(title): \(String(cString: strerror(errno)))") }
            if count == 0 { break }
            bytes += chunk[..<count]
            guard bytes.count <= maximumSize else { throw Complaint(.data, "\(title): more than \(maximumSize) bytes") }
        }
        // Some editors put a byte order mark before UTF-8.
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes.removeFirst(3) }
        do throws(UTF8Fault) { return try String(utf8: bytes) } catch {
            throw Complaint(.data, "\(title):\(error.line):\(error.column): not UTF-8")
        }
    }
}
