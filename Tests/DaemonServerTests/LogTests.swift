import AttributeValues
import Foundation
import Glibc
import TestSupport
import Testing

@testable import DaemonServer

/// The log for machines.
@Suite("The log")
struct LogTests {
    @Test("a message as JSON is one line with its fields") func json() throws {
        let line = StandardErrorLog.json(.warning, "two\nlines", [("client", "5"), ("path", "/a.b")])
        let map = try JSONParser.parseOnce(line.utf8)
        #expect(!line.contains("\n"))
        #expect(
            map.member("level") == "warning" && map.member("message") == "two\nlines" && map.member("client") == "5"
                && map.member("path") == "/a.b"
        )
        #expect(map.member("time")?.string?.hasSuffix("Z") == true)
    }

    @Test("the journal gets fields, and values of several lines with their length") func fields() throws {
        let folder = try Folder()
        let path = folder.file("journal")
        let socket = try UnixSocket.receive(path)
        defer { close(socket) }
        let journal = try #require(Journal(path: path))
        #expect(journal.send([("MESSAGE", "one\ntwo"), ("AGD_CLIENT", "5")]))
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(socket, &buffer, buffer.count, 0)
        let expected = Array("MESSAGE\n".utf8) + [7, 0, 0, 0, 0, 0, 0, 0] + Array("one\ntwo\nAGD_CLIENT=5\n".utf8)
        #expect(Array(buffer[..<max(0, count)]) == expected)
        #expect(Journal(path: folder.file("nothing")) == nil)
    }
}
