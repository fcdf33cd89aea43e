import AttributeValues
import Foundation
import TestSupport
import Testing

@testable import DaemonServer

@Suite("The machine's language and time")
struct MachineSettingsTests {
    private func values(_ variables: [String: String], localtime: String? = nil) throws -> [String: Value] {
        let folder = try Folder()
        for name in ["etc", "usr/share/zoneinfo/Europe"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        }
        _ = try folder.write("zone", to: "usr/share/zoneinfo/Europe/Berlin")
        if let localtime {
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("etc/localtime"), withDestinationPath: localtime)
        }
        return MachineSettings(ProcessEnvironment(variables), root: folder.path).values
    }

    @Test("the locale is that of LC_ALL or LANG, without its encoding") func locale() throws {
        #expect(try values(["LANG": "de_DE.UTF-8"]) == ["locale": "de_DE", "calendar": "gregorian"])
        #expect(try values(["LANG": "de_DE", "LC_ALL": "th_TH.UTF-8"]) == ["locale": "th_TH", "calendar": "buddhist"])
        #expect(try values(["LANG": "C.UTF-8"]) == [:])
        #expect(try values(["LANG": "../x"]) == [:])
    }

    @Test("the time zone is that of TZ, or of /etc/localtime, if the system knows it") func timeZone() throws {
        #expect(try values(["TZ": "Europe/Berlin"])["timeZone"] == "Europe/Berlin")
        #expect(try values(["TZ": ":/usr/share/zoneinfo/Europe/Berlin"])["timeZone"] == "Europe/Berlin")
        #expect(try values([:], localtime: "/usr/share/zoneinfo/Europe/Berlin")["timeZone"] == "Europe/Berlin")
        #expect(try values([:], localtime: "../usr/share/zoneinfo/Etc/UTC")["timeZone"] == "UTC")
        #expect(try values(["TZ": ""])["timeZone"] == "UTC")
        #expect(try values(["TZ": "Nowhere/Land"]) == [:])
        #expect(try values([:]) == [:])
    }
}
