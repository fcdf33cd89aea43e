import AttributeValues
import Glibc

/// journald's own socket, for entries with fields. Standard error carries only a message and a priority.
///
/// The protocol: https://systemd.io/JOURNAL_NATIVE_PROTOCOL
struct Journal {
    static let path = "/run/systemd/journal/socket"
    private let descriptor: Int32

    /// nil if there is no journald. The descriptor stays open until the process ends.
    init?(path: String = Journal.path) {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        guard SocketAddress(path)?.withAddress({ connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            return nil
        }
    }

    /// - Returns: false if the entry could not be sent. Never waits.
    func send(_ fields: [(name: String, value: String)]) -> Bool {
        let entry = Journal.entry(fields)
        return entry.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        } == entry.count
    }

    /// `NAME=value` lines. A value with line breaks is preceded by its length.
    static func entry(_ fields: [(name: String, value: String)]) -> [UInt8] {
        fields.reduce(into: []) { entry, field in
            entry += field.name.utf8
            if field.value.utf8.contains(UInt8(ascii: "\n")) {
                entry.append(UInt8(ascii: "\n"))
                withUnsafeBytes(of: UInt64(field.value.utf8.count).littleEndian) { entry += $0 }
            } else {
                entry.append(UInt8(ascii: "="))
            }
            entry += field.value.utf8
            entry.append(UInt8(ascii: "\n"))
        }
    }
}
