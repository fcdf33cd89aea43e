/// The terminal's alternate screen. When this is freed, the main screen returns unchanged.
final class Screen {
    init() { Terminal.write("\u{1b}[?1049h\u{1b}[?25l", to: .standardOutput) }

    deinit { Terminal.write("\u{1b}[?25h\u{1b}[?1049l", to: .standardOutput) }

    /// Shows lines from the top. They must fit.
    func draw(_ text: String) {
        // One synchronized update: a terminal that supports it never shows a half-drawn picture.
        var frame = "\u{1b}[?2026h\u{1b}[H"
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { frame += line + "\u{1b}[K\r\n" }
        if frame.hasSuffix("\r\n") { frame.removeLast() }
        frame += "\u{1b}[J\u{1b}[?2026l"
        Terminal.write(frame, to: .standardOutput)
    }
}
