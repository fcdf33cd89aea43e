import AttributeValues
import CommandArguments
import Glibc

/// Standard output. Text is collected and written in one piece.
final class Output {
    let style: Style
    let isTerminal: Bool
    let buffer = ByteBuffer(capacity: 1024)

    init(color: ColorChoice) {
        isTerminal = Terminal.isTerminal(.standardOutput)
        style = Style(isOn: Terminal.isColored(.standardOutput, choice: color))
    }

    /// Output for a terminal, or for a pipe.
    init(isTerminal: Bool, style: Style) {
        self.isTerminal = isTerminal
        self.style = style
    }

    /// Standard output, if it is a pipe that can only be written. `poll` reports such a pipe as soon as its reader has
    /// closed it, and not before.
    var pipe: Int32? {
        var status = stat()
        let descriptor = Terminal.Stream.standardOutput.rawValue
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO,
            fcntl(descriptor, F_GETFL) & O_ACCMODE == O_WRONLY
        else { return nil }
        return descriptor
    }

    /// Ends the program as a write to the closed pipe would.
    /// - Returns: the error if its caller ignores that signal.
    static func readerHasGone() -> Complaint {
        raise(SIGPIPE)
        return Complaint(.inputOutput, "standard output: \(String(cString: strerror(EPIPE)))")
    }

    func write(_ text: String) { buffer.append(text: text) }

    func writeLine(_ text: String) {
        buffer.append(text: text)
        buffer.append(UInt8(ascii: "\n"))
    }

    func json(_ value: Value) {
        let text = ByteBuffer()
        text.appendJSON(value)
        text.withBytes(writeNamed)
        buffer.append(UInt8(ascii: "\n"))
    }

    /// JSON or a path. Another text means the same, and no terminal executes it.
    func writeNamed(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.mayNeedEscapes else { return buffer.append(bytes) }
        buffer.append(text: String(decoding: bytes, as: UTF8.self).printable)
    }

    /// A text of a user: as it is, except that no terminal executes it.
    func userText(_ text: String) -> String { isTerminal ? text.printableLines : text }

    /// Does the work and then writes the output, even if the work fails.
    func flushing(_ work: () throws -> Void) throws {
        do { try work() } catch {
            try flush()
            throw error
        }
        try flush()
    }

    /// - Throws: if the output cannot be written. If the reader has closed it, the program ends, as `cat` does.
    func flush() throws {
        guard !buffer.isEmpty else { return }
        let isWritten = buffer.withBytes { Terminal.write($0, to: Terminal.Stream.standardOutput.rawValue) }
        buffer.removeAll()
        if !isWritten { throw Complaint(.inputOutput, "standard output: \(String(cString: strerror(errno)))") }
    }
}

/// Standard output or standard error, and the device behind it.
enum Terminal {
    enum Stream: Int32 {
        case standardOutput = 1
        case standardError = 2
    }

    static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

    static func isColored(_ stream: Stream, choice: ColorChoice) -> Bool {
        switch choice {
        case .always: return true
        case .never: return false
        case .auto:
            guard isTerminal(stream) else { return false }
            if let choice = getenv("NO_COLOR"), choice.pointee != 0 { return false }
            return getenv("TERM").map { String(cString: $0) != "dumb" } ?? false
        }
    }

    /// Columns and rows; 80 × 24 if they are unknown.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(Stream.standardOutput.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// - Returns: true if everything was written; otherwise `errno` has the reason.
    static func write(_ bytes: UnsafeBufferPointer<UInt8>, to descriptor: Int32) -> Bool {
        StandardOutput.write(bytes, to: descriptor)
    }

    static func write(_ text: String, to descriptor: Int32) -> Bool {
        var text = text
        return text.withUTF8 { write($0, to: descriptor) }
    }

    @discardableResult static func write(_ text: String, to stream: Stream) -> Bool { write(text, to: stream.rawValue) }
}

/// Colours and weights of text. It may be off.
struct Style {
    let isOn: Bool

    private func wrap(_ text: String, _ code: String) -> String {
        isOn && !text.isEmpty ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }

    func bold(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }
    func red(_ text: String) -> String { wrap(text, "31") }
    func green(_ text: String) -> String { wrap(text, "32") }
    func yellow(_ text: String) -> String { wrap(text, "33") }
    func blue(_ text: String) -> String { wrap(text, "34") }
    func magenta(_ text: String) -> String { wrap(text, "35") }
    func cyan(_ text: String) -> String { wrap(text, "36") }

    /// A value in the colour of its type, or an error.
    func content(_ text: String, of content: Content) -> String {
        switch content {
        case .value(let value): self.paintValue(text, of: value)
        case .failure: red(text)
        }
    }

    /// A value in the colour of its type.
    func paintValue(_ text: String, of value: Value) -> String {
        switch value {
        case .null: dim(text)
        case .bool: magenta(text)
        case .int, .uint, .double: cyan(text)
        case .string: green(text)
        default: text
        }
    }
}
