import AGClient
import Glibc
import Testing
import WireProtocol

@Suite("The location of the socket")
struct SocketLocationTests {
    private func find(_ named: String?, _ environment: [String: String], existing: [String] = []) -> SocketLocation {
        SocketLocation.find(
            named, among: SocketPlaces.find({ environment[$0] }, exists: { existing.contains($0) }))
    }

    @Test("the caller's path wins over AGD_SOCKET")
    func order() {
        let environment = ["AGD_SOCKET": "/e.sock", "XDG_RUNTIME_DIR": "/run/user/1"]
        #expect(find("/mine.sock", environment).path == "/mine.sock")
        #expect(find(nil, environment, existing: ["/run/agd/agd.sock"]).path == "/e.sock")
    }

    @Test("else the user's socket if it exists, then the system's")
    func searched() {
        let environment = ["AGD_SOCKET": "", "XDG_RUNTIME_DIR": "/run/user/1"]
        let own = "/run/user/1/agd/agd.sock"
        #expect(find(nil, environment, existing: [own, "/run/agd/agd.sock"]).path == own)
        #expect(find(nil, environment, existing: ["/run/agd/agd.sock"]).path == "/run/agd/agd.sock")
        #expect(find(nil, environment).searched == [own, "/run/agd/agd.sock"])
        #expect(find(nil, [:]).path == "/run/agd/agd.sock")
        // A folder that is not absolute counts for nothing, as the rules of XDG have it.
        #expect(find(nil, ["XDG_RUNTIME_DIR": "run"], existing: ["run/agd/agd.sock"]).path == "/run/agd/agd.sock")
    }

    @Test("a missing socket is told with the places that were looked at")
    func advice() {
        let error = ClientError.unreachable(find(nil, ["XDG_RUNTIME_DIR": "/run/user/1"]), errno: ENOENT)
        #expect("\(error)".contains("agd does not run there"))
        #expect(error.hint?.contains("/run/user/1/agd/agd.sock and /run/agd/agd.sock") == true)
        #expect(error.hint?.contains("systemctl start agd") == true)
    }
}
