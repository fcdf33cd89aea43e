import Foundation
import TestSupport

/// A program on a terminal of its own, as a user sees it.
final class TerminalProgram {
    let pid: pid_t
    private let terminal: Descriptor
    private var received = ""
    private var status: Int32?

    init(_ name: String, _ arguments: [String], environment: [String: String], columns: UInt16 = 80, rows: UInt16 = 24)
        throws
    {
        terminal = try Descriptor(open("/dev/ptmx", O_RDWR | O_NOCTTY), "open /dev/ptmx")
        // TIOCSPTLCK and TIOCGPTN, whose macros Swift cannot read.
        var isLocked: Int32 = 0
        var number: Int32 = 0
        guard ioctl(terminal.number, 0x4004_5431, &isLocked) == 0, ioctl(terminal.number, 0x8004_5430, &number) == 0
        else {
            throw Trouble(call: "ioctl of /dev/ptmx")
        }
        let slave = "/dev/pts/\(number)"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first program of a session that opens a terminal has it as its controlling one.
        posix_spawn_file_actions_addopen(&actions, 0, slave, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        TerminalProgram.resize(terminal.number, columns, rows)
        let setsid: Int32 = 0x80
        pid = try Program.spawn(
            name.hasPrefix("/") ? name : Program.built(name), arguments, environment.merging(["TERM": "xterm"]) { $1 },
            flags: setsid, &actions)
    }

    deinit {
        guard status == nil else { return }
        kill(-pid, SIGKILL)
        var status = Int32()
        waitpid(pid, &status, 0)
    }

    private static func resize(_ terminal: Int32, _ columns: UInt16, _ rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
    }

    func resize(columns: UInt16, rows: UInt16) { TerminalProgram.resize(terminal.number, columns, rows) }

    func press(_ keys: String) { _ = keys.withCString { write(terminal.number, $0, strlen($0)) } }

    func signal(_ signal: Int32) { kill(pid, signal) }

    /// True while the terminal shows what is typed and collects lines, as a shell needs it.
    var isCooked: Bool {
        var now = termios()
        tcgetattr(terminal.number, &now)
        return now.c_lflag & tcflag_t(ICANON) != 0 && now.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Everything that the program has written, with its control sequences.
    var output: String { received }

    /// The last picture, in lines, without colours.
    var picture: [String] {
        let last = received.components(separatedBy: "\u{1b}[H").last ?? ""
        var text = last.replacing(/\u{1b}\[[0-9;?]*[A-Za-z]/, with: "")
        // Swift takes a carriage return and a line feed as one character.
        text.unicodeScalars.removeAll { $0 == "\r" }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// - Returns: false at the end of the output.
    @discardableResult
    private func read(_ deadline: Deadline) throws -> Bool {
        guard terminal.isReadable(within: deadline.seconds) else {
            throw Trouble("nothing more was written; the last picture:\n\(picture.joined(separator: "\n"))")
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = Glibc.read(terminal.number, &buffer, buffer.count)
        if count > 0 { received += String(decoding: buffer[..<count], as: UTF8.self) }
        return count > 0
    }

    /// Waits for a picture.
    func awaitPicture(_ isWanted: ([String]) -> Bool) throws {
        let deadline = Deadline(Deadline.patience)
        // The end of a picture.
        while !(received.hasSuffix("\u{1b}[?2026l") && isWanted(picture)) {
            guard try read(deadline) else { throw Trouble("the program has ended:\n\(received)") }
        }
    }

    func awaitPicture(with text: String) throws { try awaitPicture { $0.contains { $0.contains(text) } } }

    /// Waits until the program has written a text, which was not there before.
    func awaitOutput(_ text: String) throws {
        let deadline = Deadline(Deadline.patience)
        let before = received.utf8.count
        while !String(decoding: Array(received.utf8).dropFirst(before), as: UTF8.self).contains(text) {
            guard try read(deadline) else { throw Trouble("the program has ended:\n\(received)") }
        }
    }

    /// Waits for the program's end.
    /// - Returns: its exit code.
    func wait() throws -> Int32 {
        let deadline = Deadline(Deadline.patience)
        while try read(deadline) {}
        var code = Int32()
        waitpid(pid, &code, 0)
        status = code
        return code & 0x7f == 0 ? code >> 8 & 0xff : 128 + code & 0x7f
    }

    /// Waits until the program is suspended.
    func awaitStop() {
        var code = Int32()
        waitpid(pid, &code, WUNTRACED)
    }
}
