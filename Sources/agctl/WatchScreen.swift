import AGClient
import AttributeValues
import WireProtocol

/// Watching on a terminal: a table on the alternate screen, until Ctrl-C or `q`.
final class WatchScreen {
    /// Pictures per second.
    private static let rate = 30.0

    private let watcher: Watcher
    private let session: Session
    private let decoder = MessageDecoder()
    private var table: WatchTable
    private var lastDrawn = 0.0
    private var isStale = true
    private var scroll = Scroll()

    init(_ watcher: Watcher, patterns: [String], _ session: Session) {
        self.watcher = watcher
        self.session = session
        table = WatchTable(patterns: patterns, socket: session.location.path)
    }

    func run() throws {
        // The first news comes before the alternate screen, so that a refusal is printed where it stays readable.
        var pending = try watcher.next()
        do {
            let screen = try LiveScreen()
            while true {
                if let news = pending { try take(news) }
                let now = MonotonicTime.now
                if table.fade(at: now) { isStale = true }
                if isStale, now - lastDrawn >= 1 / Self.rate { draw(on: screen, at: now) }
                var pause = table.nextFade.map { max(0, $0 - now) }
                if isStale { pause = min(pause ?? .infinity, max(0, lastDrawn + 1 / Self.rate - now)) }
                pending = try watcher.next(timeout: pause, interrupt: screen.descriptor)
                for news in try screen.news() {
                    isStale = true
                    if case .key(let key) = news { _ = scroll.move(key, page: max(1, Terminal.size.rows - 4)) }
                }
            }
        } catch {
            // The last table is printed on the main screen, so that it stays readable.
            session.output.write(text())
            throw error
        }
    }

    private func take(_ news: Watcher.News) throws {
        isStale = true
        switch news {
        case .interrupted(let error): table.interrupted("\(error)")
        case .resumed(let isSnapshot): table.resumed(isSnapshot: isSnapshot)
        case .event(let message):
            if case .event(_, let event) = try decoder.decode(message) { table.take(event, at: MonotonicTime.now) }
        }
    }

    private func text() -> String {
        let size = Terminal.size
        return table.text(columns: size.columns, rows: size.rows, scroll: &scroll, session.output.style)
    }

    private func draw(on screen: LiveScreen, at now: Double) {
        screen.draw(text())
        lastDrawn = now
        isStale = false
    }
}
