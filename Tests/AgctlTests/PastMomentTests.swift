import Testing
import WireProtocol
@testable import agctl

@Suite("Moments in words")
struct PastMomentTests {
    @Test("a time of day that does not exist is refused", arguments: ["99:99", "24:00", "03:60", ":5"])
    func clock(words: String) { #expect(throws: Complaint.self) { try PastTime(words: words) } }

    @Test("a revision may have the name of its life before it") func revision() throws {
        #expect(try PastTime(words: "3h4rkgkovuunl:12") == .revision(12, epoch: "3h4rkgkovuunl"))
        #expect(try PastTime(words: "12") == .revision(12, epoch: nil))
    }
}
