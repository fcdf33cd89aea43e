import AttributeValues
import Foundation
import TestSupport
import Testing

@testable import agd_host_feeder

/// A bus with systemd behind it that says what a real one has said, in answer to the same requests.
private final class RecordedBus: Sendable {
    /// What is said, each after so many messages of the client. The first part ends the authentication.
    private let parts: [(after: Int, bytes: [UInt8])]
    private let hangsUp: Bool
    private let listener: Int32
    let address: String

    init(_ folder: Folder, _ parts: [(after: Int, bytes: [UInt8])], hangsUp: Bool = false) throws {
        (self.parts, self.hangsUp) = (parts, hangsUp)
        let path = folder.file("bus")
        address = "unix:path=" + path
        listener = try UnixSocket.listen(path)
        Thread.detachNewThread { [self] in answer() }
    }

    deinit { close(listener) }

    private func answer() {
        let client = accept(listener, nil, nil)
        defer { close(client) }
        var received: [UInt8] = []
        for part in parts {
            while RecordedBus.messages(received) < part.after || received.isEmpty {
                var block = [UInt8](repeating: 0, count: 4096)
                let count = read(client, &block, block.count)
                if count <= 0 { return }
                received += block[..<count]
            }
            _ = write(client, part.bytes, part.bytes.count)
        }
        if hangsUp { return }
        var byte: UInt8 = 0
        while read(client, &byte, 1) > 0 {}
    }

    /// The number of whole messages behind the authentication.
    private static func messages(_ received: [UInt8]) -> Int {
        guard let end = Data(received).range(of: Data("BEGIN\r\n".utf8))?.upperBound else { return 0 }
        var rest = received[end...]
        var count = 0
        func number(_ offset: Int) -> Int {
            (0..<4).reduce(0) { $0 | Int(rest[rest.startIndex + offset + $1]) << (8 * $1) }
        }
        while rest.count >= 16 {
            let length = 16 + (number(12) + 7) / 8 * 8 + number(4)
            guard rest.count >= length else { break }
            rest = rest.dropFirst(length)
            count += 1
        }
        return count
    }
}

@Suite("Failed units")
struct FailedUnitTests {
    private func recorded() throws -> [(after: Int, bytes: [UInt8])] {
        try String(contentsOfFile: Recorded.folder + "systemd-bus.txt", encoding: .utf8).split(separator: "\n").map {
            line in
            let words = line.split(separator: " ")
            let digits = Array(words[1].utf8)
            let bytes = stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16) ?? 0
            }
            return (Int(words[0]) ?? 0, bytes)
        }
    }

    @Test("systemd's answer is read, with names of any characters and since when they have failed") func answer() throws
    {
        let folder = try Folder()
        let bus = try RecordedBus(folder, recorded())
        #expect(
            FailedUnit.read(over: bus.address) == [
                FailedUnit(
                    id: "worse.service", description: "Übung: \"x\"", since: Timestamp("2026-11-28T01:49:25.455672Z")),
                FailedUnit(
                    id: "bad@a\\x2db.service", description: "A service that fails",
                    since: Timestamp("2026-11-28T01:48:49.32826Z")),
            ])
    }

    @Test("without a bus, and with one that hangs up at any moment, nothing is known", arguments: 0...3)
    func interrupted(parts: Int) throws {
        #expect(FailedUnit.read(over: "unix:path=/nonexistent") == nil)
        #expect(FailedUnit.read(over: "nonsense") == nil)
        let folder = try Folder()
        var said = try Array(recorded().prefix(parts))
        if parts == 3 { said[2].bytes.removeLast(20) }
        let bus = try RecordedBus(folder, said, hangsUp: true)
        #expect(FailedUnit.read(over: bus.address) == nil)
    }
}
