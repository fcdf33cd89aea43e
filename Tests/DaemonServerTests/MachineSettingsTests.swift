import AttributeValues
import Foundation
import TestSupport
import Testing

@testable import DaemonServer

@Suite("The machine's language and time")
struct MachineSettingsTests {
    private func values(_ variables: [String: String], localtime: String? = nil) throws -> [String: Value] {
        try settings(variables, localtime: localtime).values
    }

    private func settings(
        _ variables: [String: String], localtime: String? = nil, file: [UInt8]? = nil
    ) throws -> MachineSettings {
        let folder = try Folder()
        for name in ["etc", "usr/share/zoneinfo/Europe"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        }
        _ = try folder.write("zone", to: "usr/share/zoneinfo/Europe/Berlin")
        if let localtime {
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("etc/localtime"), withDestinationPath: localtime)
        }
        if let file { try Data(file).write(to: URL(fileURLWithPath: folder.file("etc/localtime"))) }
        return MachineSettings(ProcessEnvironment(variables), root: folder.path)
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

    @Test("a rule in TZ is the time zone") func rule() throws {
        #expect(try values(["TZ": "CET-1CEST,M3.5.0,M10.5.0/3"])["timeZone"] == "CET-1CEST,M3.5.0,M10.5.0/3")
        #expect(try values(["TZ": "CET-1CEST"])["timeZone"] == "CET-1CEST,M3.2.0,M11.1.0")
        #expect(try values(["TZ": "EST5"])["timeZone"] == "-05:00")
        #expect(try values(["TZ": "<+0330>-3:30"])["timeZone"] == "+03:30")
    }

    @Test("a copy in the place of /etc/localtime has the rule of its end") func copy() throws {
        let file = Array("TZif2…\nCET-1CEST,M3.5.0,M10.5.0/3\n".utf8)
        #expect(try settings([:], file: file).values["timeZone"] == "CET-1CEST,M3.5.0,M10.5.0/3")
        #expect(try settings([:], file: Array("TZif".utf8)).values == [:])
    }

    @Test("a time zone that is not understood is told, with what to write") func warning() throws {
        let hint =
            " and uses UTC; give a name as Europe/Berlin, or a rule as CET-1CEST,M3.5.0,M10.5.0/3"
        let cases = ["Nowhere/Land", "CET-1CEST,M3.5.0", "XY1", "CET-1CEST,M13.5.0,M10.5.0", "<CET-1"]
        for zone in cases {
            let settings = try settings(["TZ": zone])
            #expect(settings.values == [:])
            #expect(settings.warnings == ["TZ: agd does not understand the time zone '\(zone)'" + hint])
        }
        #expect(try settings([:], localtime: "/nowhere/zone").warnings.count == 1)
        #expect(try settings([:], file: [1, 2, 3]).warnings.count == 1)
        #expect(try settings([:]).warnings == [])
    }
}
