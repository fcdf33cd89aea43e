import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct DashCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "dash", summary: "Show a board of cards.",
        discussion: """
            The same board as the dashboard's page: containers are rows, and the container value panel describes a \
            card. On a terminal it is live. Arrows choose a card, Enter operates it (a switch, a button, the next \
            choice of a picker), + and - step sliders and steppers, page keys scroll, q ends. In a pipe it is printed \
            once, as text or with --json.

            Without a path it shows the only node at the top of the tree, or all.

            Examples:
              agctl dash
              agctl dash /host
              agctl dash /host | grep Memory
            """)

    @Argument(help: "The node whose board is shown.", completion: Suggestions.nodes)
    var path: String?

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let link = DashLink(session: session)
        let root = try path ?? link.board(of: "/").root
        let isLive = session.output.isTerminal && !session.isJSON
        // No pattern matches both "/" and everything below it, but the root has no attributes.
        let request = Request.Subscribe(
            patterns: [root == "/" ? "/**" : "\(root)/**"], events: [.update, .structure],
            frameRate: isLive ? DashScreen.rate : nil, reports: true)
        let screen = DashScreen(root, session.newWatcher(request, name: "agctl dash"), link, session)
        if isLive { try screen.run() } else { try screen.printOnce() }
    }
}

/// The requests of a board. After a lost connection the next request makes a new one.
struct DashLink {
    let session: Session

    func ask(_ request: Request) throws(ClientError) -> Value {
        do throws(ClientError) { return try session.connection(name: "agctl dash").call(request) } catch {
            if error.failure == nil { session.disconnect() }
            throw error
        }
    }

    /// The cards of a node and all below it. A tree with a single node at its top has the board of this node.
    func board(of path: String) throws(ClientError) -> DashBoard {
        DashBoard(try ask(.board(path: path, panel: ValueMap())))
    }
}

/// A board on a terminal, or printed once.
final class DashScreen {
    /// Pictures per second.
    static let rate = 15.0
    /// Seconds from a change of the structure to its description.
    private static let describePause = 0.1

    private let root: String
    private let watcher: Watcher
    private let link: DashLink
    private let session: Session
    private let decoder = MessageDecoder()
    private var values = DashValues()
    private var board: DashBoard?
    private var chosen: Name?
    private var scroll = Scroll()
    private var space = 1
    /// A message about the last write.
    private var notice: String?
    private var isStale = true
    private var lastDrawn = 0.0
    /// The time at which the structure must be read anew.
    private var describeAt: Double?

    init(_ root: String, _ watcher: Watcher, _ link: DashLink, _ session: Session) {
        self.root = root
        self.watcher = watcher
        self.link = link
        self.session = session
    }

    // MARK: Printing

    func printOnce() throws {
        try begin()
        guard let board else { return }
        if session.isJSON { return session.output.json(json(board)) }
        let picture = DashPicture(board, values, chosen: nil, columns: 80, session.output.style, at: MonotonicTime.now)
        for line in picture.lines { session.output.writeLine(line.trimmingEnd) }
    }

    private func json(_ board: DashBoard) -> Value {
        let rows = board.rows.map { row -> Value in
            let cards = row.cards.map { card -> Value in
                var map: ValueMap = ValueMap([
                    ("path", .string(card.path)), ("title", .string(card.title)),
                    ("kind", .string(card.kind.rawValue)),
                ])
                switch values.content(of: card) {
                case .value(let value)?: map["value"] = value
                case .failure(let failure)?: map["error"] = ["message": .string(failure.message)]
                case nil: break
                }
                return .map(map)
            }
            return ["title": row.title.map { .string($0) } ?? .null, "cards": .list(cards)]
        }
        return ["title": .string(board.title), "rows": .list(rows)]
    }

    /// Waits for the first values.
    private func begin() throws {
        while board == nil {
            guard let news = try watcher.next() else { continue }
            try take(news)
        }
    }

    // MARK: Living

    func run() throws {
        // The first news comes before the screen, so that a refusal is printed where it stays readable.
        try begin()
        let screen = try LiveScreen()
        while true {
            let now = MonotonicTime.now
            if let due = describeAt, due <= now { describe() }
            // Once a second, because lines move on and ages grow.
            if isStale && now - lastDrawn >= 1 / DashScreen.rate || now - lastDrawn >= 1 { draw(on: screen, at: now) }
            let next = isStale ? lastDrawn + 1 / DashScreen.rate : lastDrawn + 1
            let pause = max(0, min(next, describeAt ?? next) - now)
            if let news = try watcher.next(timeout: pause, interrupt: screen.descriptor) { try take(news) }
            for news in try screen.news() {
                isStale = true
                if case .key(let key) = news { press(key) }
            }
        }
    }

    private func take(_ news: Watcher.News) throws {
        let now = MonotonicTime.now
        switch news {
        case .interrupted: values.interrupted(at: now)
        case .resumed(let isSnapshot):
            values.resumed(isSnapshot: isSnapshot)
            describeAt = now
        case .event(let message):
            guard case .event(_, let event) = try decoder.decode(message) else { return }
            guard values.take(event, at: now, board?.layout ?? []) else { break }
            if board == nil {
                lay(try link.board(of: root))
            } else {
                describeAt = describeAt ?? now + DashScreen.describePause
            }
        }
        isStale = true
    }

    private func describe() {
        describeAt = nil
        do {
            lay(try link.board(of: root))
        } catch {
            // The daemon or the root has gone. The watcher reports both; until then the last board stays.
            if values.interruptedAt == nil { describeAt = MonotonicTime.now + 1 }
        }
    }

    private func lay(_ board: DashBoard) {
        values.remember(board.rows.flatMap(\.cards), at: MonotonicTime.now)
        self.board = board
        isStale = true
    }

    private func picture(at now: Double) -> DashPicture? {
        guard let board else { return nil }
        return DashPicture(board, values, chosen: chosen, columns: Terminal.size.columns, session.output.style, at: now)
    }

    private func draw(on screen: LiveScreen, at now: Double) {
        guard let picture = picture(at: now), let board else { return }
        let size = Terminal.size
        space = max(1, size.rows - 3)
        let style = session.output.style
        let state =
            values.interruptedAt.map { style.red("no connection for \(DashText.duration(now - $0))") }
            ?? style.green("live")
        let left = max(2, size.columns - DisplayWidth.of(state))
        let title = style.bold(DisplayWidth.cut(board.title, to: left - 1))
        var lines = [DisplayWidth.pad(title, to: left) + state, ""]
        let shown = scroll.clip(picture.lines, space: space)
        lines += shown
        lines += Array(repeating: "", count: max(0, space - shown.count))
        lines.append(footer(picture, size.columns))
        screen.draw(lines.prefix(size.rows).joined(separator: "\n"))
        lastDrawn = now
        isStale = false
    }

    private func footer(_ picture: DashPicture, _ columns: Int) -> String {
        let style = session.output.style
        if let notice { return style.red(DisplayWidth.cut(notice, to: columns)) }
        var keys = "↑ ↓ ← → choose   q end"
        if let chosen, let card = picture.places.first(where: { Name($0.card.path) == chosen })?.card {
            let action =
                switch card.kind {
                case .light: card.stepped == nil ? "   Enter operates" : "   Enter operates   + and - step"
                case .toggle, .button, .picker: "   Enter operates"
                case .slider, .stepper, .thermostat: "   + and - step"
                default: ""
                }
            keys = "\(card.path)\(action)   q end"
        }
        let hidden = picture.lines.count - space
        if hidden > 0 { keys += "   \(min(100, (scroll.offset + space) * 100 / picture.lines.count)) %" }
        return style.dim(DisplayWidth.cut(keys, to: columns))
    }

    // MARK: Keys

    private func press(_ key: Keyboard.Key) {
        notice = nil
        guard let picture = picture(at: MonotonicTime.now) else { return }
        switch key {
        case .up, .down, .left, .right: choose(key, picture.places)
        case .enter: operate()
        case .character("+"), .character("="): step(1)
        case .character("-"): step(-1)
        default: _ = scroll.move(key, page: max(1, space - 2))
        }
    }

    private func choose(_ key: Keyboard.Key, _ places: [DashPicture.Place]) {
        guard let now = places.firstIndex(where: { Name($0.card.path) == chosen }) else {
            // The first visible one.
            let first = places.first { $0.lines.lowerBound >= scroll.offset } ?? places.first
            chosen = first.map { Name($0.card.path) }
            return
        }
        let place = places[now]
        func nearest(_ line: Int?) -> Int? {
            places.indices.filter { places[$0].lines.lowerBound == line }
                .min { abs(places[$0].column - place.column) < abs(places[$1].column - place.column) }
        }
        let next: Int? =
            switch key {
            case .left: now - 1
            case .right: now + 1
            case .up: nearest(places.map(\.lines.lowerBound).last { $0 < place.lines.lowerBound })
            default: nearest(places.map(\.lines.lowerBound).first { $0 > place.lines.lowerBound })
            }
        guard let next, places.indices.contains(next) else { return }
        chosen = Name(places[next].card.path)
        // The heading above the first line stays visible.
        scroll.show(max(0, places[next].lines.lowerBound - 1)..<places[next].lines.upperBound, space: space)
    }

    private var chosenCard: DashCard? { board?.rows.lazy.flatMap(\.cards).first { Name($0.path) == self.chosen } }

    private func operate() {
        guard let card = chosenCard else { return }
        switch card.kind {
        case .toggle, .light: write(Mutation(operation: .toggle, path: card.path), card)
        case .button:
            if DashCard.isAction(values.content(of: card)?.value) {
                callAction(card)
            } else if card.panel["toggle"] == true {
                write(Mutation(operation: .toggle, path: card.path), card)
            } else if let value = card.panel["add"] {
                write(Mutation(operation: .add, path: card.path, value: value), card)
            } else {
                write(Mutation(operation: .set, path: card.path, value: card.panel["set"] ?? true), card)
            }
        case .picker:
            let options = card.options
            let now = options.firstIndex { $0.value == values.content(of: card)?.value } ?? -1
            guard !options.isEmpty else { return }
            write(Mutation(operation: .set, path: card.path, value: options[(now + 1) % options.count].value), card)
        case .stepper, .slider, .thermostat: step(1)
        case .field, .color: notice = "agctl set '\(card.path)' VALUE writes it"
        default: notice = "\(card.title) only shows a value"
        }
    }

    private func step(_ sign: Double) {
        guard let card = chosenCard?.stepped, let number = values.content(of: card)?.value?.number else { return }
        let isOpen = card.kind == .stepper
        let least = card.panel["min"]?.number ?? (isOpen ? -.infinity : card.scale.least)
        let most = card.panel["max"]?.number ?? (isOpen ? .infinity : card.scale.most)
        // The daemon adds, so that no step is lost when two people press at the same time.
        let by = min(most, max(least, number + sign * card.step)) - number
        guard by != 0 else { return }
        let isWhole = card.isInteger && by == by.rounded() && abs(by) < 1e15
        let value: Value = isWhole ? .int(Int64(by)) : .double(by)
        if write(Mutation(operation: .add, path: card.path, value: value), card) {
            values.assume(isWhole ? .int(Int64(number + by)) : .double(number + by), at: card)
        }
    }

    /// Calls an action without arguments.
    private func callAction(_ card: DashCard) {
        let missing = DashCard.missing(values.content(of: card)?.value)
        guard missing.isEmpty else {
            let arguments = missing.map { "\($0)=VALUE" }.joined(separator: " ")
            notice = "agctl do '\(card.path)' \(arguments) calls it".printable
            return
        }
        send(.do(path: RequestPath(card.path), arguments: ValueMap(), options(card)), card)
    }

    @discardableResult
    private func write(_ mutation: Mutation, _ card: DashCard) -> Bool {
        send(.transact([mutation], options(card)), card)
    }

    private func options(_ card: DashCard) -> TransactionOptions {
        TransactionOptions(animation: card.panel["animation"] ?? "smooth", label: "agctl dash")
    }

    /// - Returns: true if the daemon has accepted it.
    @discardableResult
    private func send(_ request: Request, _ card: DashCard) -> Bool {
        do {
            _ = try link.ask(request)
            return true
        } catch {
            notice = "\(card.title): \(Complaint(error).message)".printable
            return false
        }
    }
}

extension String {
    /// Without spaces at the end.
    fileprivate var trimmingEnd: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
