import AttributeValues
import Foundation
import TestSupport
import Testing

/// The commands that show live pictures, on a real terminal.
@Suite("agctl on a terminal")
struct TerminalTests {
    private static let scene = """
        agd: 1
        nodes:
          - id: home
            component: Cards
            let: { title: My home }
            children:
              - { id: lamp, state: { isOn: false }, containerValues: { panel: { kind: toggle, value: isOn, title: Lamp } } }
              - id: heat
                component: Cards
                containerValues: { panel: { title: Kitchen } }
                children:
                  - id: oven
                    state: { degrees: 50.0 }
                    containerValues: { panel: { kind: gauge, value: degrees, title: Oven, unit: °C, max: 250, warn: 200 } }
                  - id: timer
                    state: { minutes: 3 }
                    containerValues: { panel: { kind: stepper, value: minutes, title: Timer, max: 4 } }
              - id: all
                component: Cards
                containerValues: { panel: { title: All } }
                children:
                  - id: off
                    actions:
                      done: { set: { /home/lamp.isOn: false, /home/heat/oven.degrees: 20.0 } }
                      wrong: { set: { /home/lamp.isOn: =1 / 0 == 1 } }
                      warm: { parameters: [degrees], set: { /home/heat/oven.degrees: =degrees } }
        """
    private static let upKey = "\u{1b}[A"
    private static let downKey = "\u{1b}[B"

    private let daemon: Daemon

    init() throws {
        daemon = try Daemon(
            scenes: [try Project.text("dashboard/panels.yaml"), TerminalTests.scene],
            configuration: "access = read as:guest /**\n")
    }

    private func start(_ arguments: [String], columns: UInt16 = 80, rows: UInt16 = 24) throws -> TerminalProgram {
        try TerminalProgram(
            "agctl", arguments, environment: ["AGD_SOCKET": daemon.socket], columns: columns, rows: rows)
    }

    @Test("a board follows values, and its cards are operated with keys")
    func dash() throws {
        let program = try start(["dash"])
        try program.awaitPicture(with: "50 °C")
        #expect(program.picture.first?.hasPrefix("My home") == true && program.picture.first?.hasSuffix("live") == true)
        #expect(program.picture.contains { $0.hasPrefix("Kitchen ──") })
        program.press(TerminalTests.downKey)
        try program.awaitPicture(with: "/home/lamp.isOn")
        program.press("\r")
        try program.awaitPicture(with: "━● On")
        #expect(try daemon.client().get("/home/lamp.isOn") == true)
        program.press(TerminalTests.downKey + "\u{1b}[C")
        try program.awaitPicture(with: "/home/heat/timer.minutes")
        // The panel's maximum is 4.
        program.press("++")
        try program.awaitPicture(with: "− 4 +")
        #expect(try daemon.client().get("/home/heat/timer.minutes") == 4)
        try daemon.client().set("/home/heat/oven.degrees", 210)
        try program.awaitPicture(with: "▲ Warn")
        let added: Value = [
            "document": [
                "agd": 1,
                "nodes": [["id": "clock", "state": ["hour": 7], "containerValues": ["panel": ["value": "hour"]]]],
            ], "at": "/home",
        ]
        try daemon.client().call("apply", added)
        try program.awaitPicture(with: "Clock")
        program.press("q")
        #expect(try program.wait() == 0)
        #expect(program.isCooked && program.output.hasSuffix("\u{1b}[?1049l"))
    }

    @Test("Enter on an action calls it, tells its error, and asks for its parameters") func action() throws {
        try daemon.client().set("/home/lamp.isOn", true)
        let program = try start(["dash"], rows: 40)
        try program.awaitPicture(with: "[ Off: done ]")
        #expect(program.picture.contains { $0.contains("needs degrees") })
        program.press(TerminalTests.downKey + TerminalTests.downKey + TerminalTests.downKey)
        try program.awaitPicture(with: "/home/all/off.done   Enter operates")
        program.press("\r")
        try program.awaitPicture(with: "●━ Off")
        #expect(try daemon.client().get("/home/heat/oven.degrees") == 20.0)
        program.press("\u{1b}[C")
        try program.awaitPicture(with: "/home/all/off.wrong")
        program.press("\r")
        try program.awaitPicture { $0.last?.hasPrefix("Off: wrong: ") == true }
        program.press("\u{1b}[C")
        try program.awaitPicture(with: "/home/all/off.warm")
        program.press("\r")
        try program.awaitPicture(with: "agctl do '/home/all/off.warm' degrees=VALUE calls it")
        program.press("q")
        #expect(try program.wait() == 0)
    }

    @Test("a refused write is told below the board, and changes nothing")
    func refused() throws {
        let program = try start(["dash", "--as", "guest"])
        try program.awaitPicture(with: "50 °C")
        program.press(TerminalTests.downKey + "\r")
        try program.awaitPicture { $0.last?.hasPrefix("Lamp: ") == true }
        #expect(try daemon.client().get("/home/lamp.isOn") == false)
    }

    @Test("a board fits itself to the size of the terminal")
    func resize() throws {
        let program = try start(["dash"], columns: 40)
        func oven(_ lines: [String]) -> String? { lines.first { $0.contains("Oven") } }
        try program.awaitPicture { oven($0)?.contains("Timer") == false }
        program.resize(columns: 100, rows: 12)
        try program.awaitPicture { oven($0)?.contains("Timer") == true && $0.count == 12 }
        #expect(program.picture.allSatisfy { $0.count <= 100 })
    }

    @Test("the board says that the daemon has gone, with the age of each value, and comes back with it")
    func daemonGone() throws {
        let program = try start(["dash"])
        try program.awaitPicture(with: "50 °C")
        try daemon.stop()
        try program.awaitPicture(with: "no connection")
        #expect(program.picture.contains { $0.contains("s ago") })
        let again = try Daemon(
            scenes: [try Project.text("dashboard/panels.yaml"), TerminalTests.scene], folder: daemon.folder)
        try program.awaitPicture { $0.first?.hasSuffix("live") == true && !$0.contains { $0.contains("ago") } }
        program.press("q")
        #expect(try program.wait() == 0)
        #expect(try again.stop() == 0)
    }

    @Test("the picture of top says that the daemon has gone, obeys its keys, and comes back with it")
    func topGone() throws {
        let program = try start(["top", "--interval", "0.1"], rows: 8)
        try program.awaitPicture(with: "PER SECOND")
        try daemon.stop()
        try program.awaitPicture { $0.first?.contains("waiting for agd") == true && $0.count > 2 }
        program.press("\u{1b}[F")
        try program.awaitPicture { !$0.contains { $0.contains("PER SECOND") } }
        let again = try Daemon(
            scenes: [try Project.text("dashboard/panels.yaml"), TerminalTests.scene], folder: daemon.folder)
        try program.awaitPicture { $0.first?.contains("waiting for agd") == false && $0.count == 8 }
        program.press("q")
        #expect(try program.wait() == 0)
        #expect(try again.stop() == 0)
    }

    @Test(
        "the terminal is as before, however a picture ends",
        arguments: [["dash"], ["watch", "/**"], ["top"]],
        [(SIGTERM, 143), (SIGHUP, 129), (SIGINT, 130), (SIGQUIT, 130)] as [(Int32, Int32)])
    func signals(_ command: [String], _ ending: (signal: Int32, code: Int32)) throws {
        let program = try start(command)
        try program.awaitPicture { !$0.isEmpty }
        #expect(!program.isCooked)
        program.signal(ending.signal)
        #expect(try program.wait() == ending.code)
        #expect(program.isCooked && program.output.contains("\u{1b}[?25h\u{1b}[?1049l"))
    }

    @Test(
        "Ctrl-Z gives the terminal back, and the picture comes again",
        arguments: [["dash"], ["watch", "/**"], ["top"]])
    func suspended(_ command: [String]) throws {
        let program = try start(command)
        try program.awaitPicture { !$0.isEmpty }
        program.press("\u{1a}")
        program.awaitStop()
        #expect(program.isCooked)
        program.signal(SIGCONT)
        try program.awaitPicture { _ in
            program.output.components(separatedBy: "\u{1b}[?1049h").count == 3 && !program.isCooked
        }
        program.press("q")
        #expect(try program.wait() == 0)
    }

    @Test("watch and top scroll")
    func scrolling() throws {
        let watch = try start(["watch", "/home/**"], rows: 6)
        try watch.awaitPicture(with: "more")
        let first = try #require(watch.picture.dropFirst().first)
        let second = try #require(watch.picture.dropFirst(2).first)
        watch.press(TerminalTests.downKey)
        try watch.awaitPicture { $0.dropFirst().first == second }
        watch.press("\u{1b}[F")
        try watch.awaitPicture(with: "the end of")
        watch.press("\u{1b}[H")
        try watch.awaitPicture { $0.dropFirst().first == first }
        watch.press("q")
        #expect(try watch.wait() == 0)

        let top = try start(["top", "--interval", "0.2"], rows: 8)
        try top.awaitPicture(with: "PER SECOND")
        top.press("\u{1b}[F")
        try top.awaitPicture { !$0.contains { $0.contains("PER SECOND") } && $0.count == 8 }
        top.press("q")
        #expect(try top.wait() == 0)
    }

    @Test("a board is printed once into a pipe, as text or as JSON")
    func pipe() throws {
        let text = try daemon.control(["dash", "/home"])
        #expect(
            text.code == 0 && text.text.contains("│ Oven") && text.text.contains("50 °C")
                && !text.text.contains("\u{1b}"))
        let json = try daemon.control(["dash", "/home/heat", "--json"])
        let cards = try JSONParser.parseOnce(json.text.utf8)["rows"]?.list?.first?["cards"]?.list
        #expect(cards?.compactMap { $0["title"]?.string } == ["Oven", "Timer"])
        #expect(try daemon.control(["dash", "/nowhere"]).code == 66)
    }
}
