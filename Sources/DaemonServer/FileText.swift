import AttributeValues
import EventLoop
import Glibc

/// Reads the small files that the daemon starts with.
enum FileText {
    /// The largest scene or configuration, in bytes.
    static let maximumSize = 64 << 20

    /// - Throws: `noInput` for a file that cannot be read, `dataError` for one that is not UTF-8.
    static func read(_ path: String) throws(StartupError) -> String {
        let bytes: [UInt8]
        do throws(LoopError) { bytes = try readBytes(path) } catch { throw StartupError(.noInput, error.description) }
        do throws(UTF8Fault) { return try String(utf8: bytes) } catch {
            throw StartupError(.dataError, "\(path):\(error.line):\(error.column): not UTF-8")
        }
    }

    private static func readBytes(_ path: String) throws(LoopError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LoopError(call: "open", number: errno, subject: path) }
        defer { Glibc.close(descriptor) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &block, block.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw LoopError(call: "read", number: errno, subject: path)
            }
            bytes += block[..<count]
            guard bytes.count <= maximumSize else { throw LoopError(call: "read", number: EFBIG, subject: path) }
        }
    }
}
