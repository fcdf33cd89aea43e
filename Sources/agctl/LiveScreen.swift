import AGClient
import Glibc

/// The terminal of a command that shows pictures until `q`: its screen, keys and signals. When this is freed, or a
/// signal suspends the program, the terminal is restored.
final class LiveScreen {
    enum News {
        case key(Keyboard.Key)
        /// The size may have changed, or another program may have drawn.
        case isStale
    }

    private let signals: Signals
    private var screen: Screen?
    private var keyboard: Keyboard?

    init() throws {
        signals = try Signals(and: [SIGWINCH, SIGIO, SIGTSTP, SIGQUIT])
        open()
    }

    /// The keyboard must be closed while its signal is still caught.
    deinit { (screen, keyboard) = (nil, nil) }

    private func open() {
        keyboard = Keyboard()
        screen = Screen()
    }

    /// Readable when there is news.
    var descriptor: Int32 { signals.descriptor }

    func draw(_ text: String) { screen?.draw(text) }

    /// - Throws: `EndOfCommand` if a signal or `q` ends the command.
    func news() throws(EndOfCommand) -> [News] {
        let taken = try signals.check()
        if taken.contains(SIGQUIT) { throw EndOfCommand(status: .interrupted) }
        var news: [News] = []
        if taken.contains(SIGTSTP) {
            (screen, keyboard) = (nil, nil)
            // After SIGCONT, the program continues here.
            kill(getpid(), SIGSTOP)
            open()
            news.append(.isStale)
        }
        if taken.contains(SIGWINCH) { news.append(.isStale) }
        for key in keyboard?.read() ?? [] {
            if key == .character("q") { throw EndOfCommand(status: .done) }
            news.append(.key(key))
        }
        return news
    }
}

/// A part of a text that is longer than the screen.
struct Scroll {
    private(set) var offset = 0

    /// - Returns: true if the key moves the text.
    mutating func move(_ key: Keyboard.Key, page: Int) -> Bool {
        switch key {
        case .up, .character("k"): offset -= 1
        case .down, .character("j"): offset += 1
        case .pageUp: offset -= page
        case .pageDown, .character(" "): offset += page
        case .home, .character("g"): offset = 0
        case .end, .character("G"): offset = .max / 2
        default: return false
        }
        return true
    }

    /// Makes lines visible.
    mutating func show(_ lines: Range<Int>, space: Int) {
        if lines.lowerBound < offset { offset = lines.lowerBound }
        if lines.upperBound > offset + space { offset = lines.upperBound - space }
    }

    /// The visible lines.
    mutating func clip<Line>(_ lines: [Line], space: Int) -> ArraySlice<Line> {
        offset = max(0, min(offset, lines.count - space))
        return lines[offset...].prefix(max(0, space))
    }
}
