@testable import Archive
import AttributeValues
import Foundation
import GraphRuntime
import Replay
import TestSupport
import Testing
import WireProtocol
@testable import agd_past

/// Archives that version 0.1 has written, as its daemon leaves them and as agd-past packs them.
@Suite("The format of the archive")
struct FormatTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Archives").path

    private func values(in folder: String, at revision: UInt64) throws -> [String] {
        let client = ClientID(number: 1)
        let past = Past(folder: folder, access: AccessRules(), limits: RuntimeLimits())
        let graph = try PastGraph(
            past, at: .revision(revision, epoch: nil), for: PastClient(client, Peer(pid: 1, uid: 0, gid: 0))
        ) { 0 }
        let paths = ["/room.warmth", "/room.hot", "/room.mean", "/room.seen", "/room.any"]
        let deliveries = graph.apply([.call(client, id: .int(1), .get(.init(paths: paths)))])
        for case .reply(_, _, .contents(let contents, _, _)) in deliveries {
            return contents.map { $0.content.value?.jsonText ?? $0.content.failure?.message ?? "" }
        }
        throw Trouble("the values of \(paths)")
    }

    @Test("an archive of version 0.1 is read, value by value", arguments: ["plain", "packed"])
    func reading(form: String) throws {
        let folder = FormatTests.folder + "/" + form
        // What the daemon told its clients then.
        #expect(
            try values(in: folder, at: 67) == [
                "31.5", "true", "29.189954323272023",
                "nobody has written it since 2026-11-28T15:05:41.751763526Z (expires: 2s)", "[1,{\"k\":0.3333333333}]",
            ])
        #expect(
            try values(in: folder, at: 13) == [
                "31.5", "true", "20.99188447634977", "3", "[1,{\"k\":0.3333333333}]",
            ])
        try checkLog(in: folder)
    }

    @Test("an image that does not say when its operators' clock was read is read, too")
    func early() throws {
        let folder = FormatTests.folder + "/early"
        let values = try values(in: folder, at: 11)
        #expect(values.first == "0.1234567890123" && values.last == "[1,{\"k\":0.3333333333}]")
        try checkLog(in: folder)
    }

    private func checkLog(in folder: String) throws {
        var query = try LogQuery(
            Request.Log(label: "more"), in: folder, mayReadAll: true, mayRead: { _ in true }, told: { _ in .null })
        let found = try query.answer().map?["transactions"]?.list ?? []
        #expect(found.count == 1)
        #expect(found.first?.map?["structure"] == [["row": "/new", "gone": false]])
    }

    @Test("packed, it is the same archive")
    func packed() throws {
        let plain = try #require(Segment.read(1, in: FormatTests.folder + "/plain"))
        #expect(Segment.read(1, in: FormatTests.folder + "/packed") == plain)
    }
}
