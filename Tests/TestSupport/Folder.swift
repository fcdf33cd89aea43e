import Foundation

/// A folder of one test's own under `/tmp`, short enough for a socket's path; removed with all it holds when the object
/// goes.
public final class Folder: Sendable {
    public let path: String

    public init() throws {
        var template = Array("/tmp/agd-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Trouble(call: "mkdtemp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    public func file(_ name: String) -> String { path + "/" + name }

    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
        return file(name)
    }
}
