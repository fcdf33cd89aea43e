import Glibc

/// Reads whole files of text.
package enum TextFile {
    /// Bytes. Scenes, configurations and lists of mutations are smaller.
    package static let maximumSize = 64 << 20

    package enum Fault: Error {
        /// `EFBIG` for more bytes than the maximum.
        case system(call: String, errno: Int32)
        case encoding(UTF8Fault)
    }

    package static func read(_ path: String) throws(Fault) -> String { try text(bytes(of: path)) }

    /// Reads to the end of an open file, pipe or socket.
    package static func read(_ descriptor: Int32) throws(Fault) -> String { try text(bytes(of: descriptor)) }

    /// Reads a file to its end, whatever its size is: files in `/proc` have none.
    /// - Parameter block: bytes that are read at once.
    package static func bytes(of path: String, block: Int = 64 << 10) throws(Fault) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(call: "open", errno: errno) }
        defer { close(descriptor) }
        return try bytes(of: descriptor, block: block)
    }

    private static func bytes(of descriptor: Int32, block size: Int = 64 << 10) throws(Fault) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: size)
        while true {
            let count = Glibc.read(descriptor, &block, block.count)
            if count == 0 { return bytes }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(call: "read", errno: errno) }
            bytes += block[..<count]
            guard bytes.count <= maximumSize else { throw .system(call: "read", errno: EFBIG) }
        }
    }

    private static func text(_ read: [UInt8]) throws(Fault) -> String {
        var bytes = read
        // Some editors put a byte order mark before UTF-8.
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes.removeFirst(3) }
        do throws(UTF8Fault) { return try String(utf8: bytes) } catch { throw .encoding(error) }
    }
}
