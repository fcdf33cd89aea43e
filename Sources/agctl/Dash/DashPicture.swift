import AttributeValues
import CommandArguments
import SceneModel
import WireProtocol

/// A board as lines of text: cards in a grid.
struct DashPicture {
    private static let leastWidth = 28
    private static let gap = 2
    private static let mostRows = 12

    struct Place {
        var card: DashCard
        var lines: Range<Int>
        /// The first column, for moving up and down.
        var column: Int
    }

    let board: DashBoard
    let values: DashValues
    let style: Style
    let columns: Int
    let now: Double
    /// The path of the chosen card.
    var chosen: Name?
    private(set) var lines: [String] = []
    private(set) var places: [Place] = []

    init(_ board: DashBoard, _ values: DashValues, chosen: Name?, columns: Int, _ style: Style, at now: Double) {
        self.board = board
        self.values = values
        self.chosen = chosen
        self.columns = max(20, columns)
        self.style = style
        self.now = now
        let count = max(1, (self.columns + DashPicture.gap) / (DashPicture.leastWidth + DashPicture.gap))
        let width = (self.columns - DashPicture.gap * (count - 1)) / count
        for row in board.rows {
            if let title = row.title {
                let text = DisplayWidth.cut(title, to: self.columns - 4)
                let rest = String(repeating: "─", count: max(0, self.columns - DisplayWidth.of(text) - 1))
                lines += [style.bold(text) + " " + style.dim(rest)]
            }
            lay(row.cards, count, width)
        }
        if board.omitted > 0 { lines.append("\(board.omitted) more cards are not shown; name a part of the tree") }
        if board.rows.isEmpty { lines.append("No values are here yet. 'agctl apply -f FILE' adds a scene.") }
    }

    private typealias Drawn = (card: DashCard, width: Int, column: Int, text: [String])

    /// Puts cards side by side, in order.
    private mutating func lay(_ cards: [DashCard], _ count: Int, _ width: Int) {
        var line: [Drawn] = []
        var used = 0
        for card in cards {
            let span = min(count, card.span)
            if used + span > count {
                add(line)
                (line, used) = ([], 0)
            }
            let own = width * span + DashPicture.gap * (span - 1)
            line.append((card, own, used * (width + DashPicture.gap), draw(card, own)))
            used += span
        }
        add(line)
    }

    /// All cards of a line are as high as its highest.
    private mutating func add(_ line: [Drawn]) {
        let height = line.map(\.text.count).max() ?? 0
        guard height > 0 else { return }
        for each in line {
            places.append(Place(card: each.card, lines: lines.count..<lines.count + height, column: each.column))
        }
        let space = String(repeating: " ", count: DashPicture.gap)
        for index in 0..<height {
            let parts = line.map { index < $0.text.count ? $0.text[index] : edge($0.card, $0.width) }
            lines.append(parts.joined(separator: space))
        }
        lines.append("")
    }

    // MARK: Cards

    private static let shapes = ["ok": "●", "warn": "▲", "critical": "◆", "stale": "◌"]

    private func paint(_ text: String, _ status: String?) -> String {
        switch status {
        case "warn": style.yellow(text)
        case "critical": style.red(text)
        case "stale": style.dim(text)
        default: text
        }
    }

    private func status(of card: DashCard) -> String? {
        if let number = values.content(of: card)?.value?.number, let status = card.status(of: number) { return status }
        guard card.kind == .status else { return values.status(of: card) }
        let value = values.content(of: card)?.value
        if case .bool(let flag)? = value { return flag ? "ok" : "critical" }
        return value?.string
    }

    /// The left edge of a card. It shows the status, or that the card is chosen.
    private func mark(_ card: DashCard) -> String {
        if Name(card.path) == chosen { return style.cyan("▌") }
        let status = status(of: card)
        return status == nil || status == "ok" ? style.dim("│") : paint("▌", status)
    }

    private func edge(_ card: DashCard, _ width: Int) -> String {
        mark(card) + String(repeating: " ", count: width - 1)
    }

    private func draw(_ card: DashCard, _ width: Int) -> [String] {
        let inner = width - 2
        let edge = mark(card) + " "
        let icon = card.panel["icon"]?.string?.printable ?? ""
        // The page draws icons with names. A terminal shows signs alone.
        let isSign = !icon.isEmpty && icon.utf8.allSatisfy { $0 >= 0x80 }
        let title = DisplayWidth.cut(isSign ? "\(icon) \(card.title)" : card.title, to: inner)
        var lines = [Name(card.path) == chosen ? style.bold(title) : style.dim(title)]
        lines += body(card, inner)
        if values.interruptedAt != nil, let age = values.age(of: card, at: now) {
            lines.append(style.yellow(DisplayWidth.cut("\(DashText.duration(age)) ago", to: inner)))
        }
        return lines.map { edge + DisplayWidth.pad($0, to: inner) }
    }

    private func body(_ card: DashCard, _ width: Int) -> [String] {
        func line(_ text: String, _ paint: (String) -> String = { $0 }) -> String {
            paint(DisplayWidth.cut(text, to: width))
        }
        if let fault = card.fault { return wrap(fault, width).map { line($0, style.red) } }
        if card.kind == .link { return [line("→ \(card.panel["link"]?.string?.printable ?? "")", style.cyan)] }
        if let rows = card.rows { return table(rows, card, width) }
        if card.kind == .markdown, let text = card.panel["text"]?.string { return markdown(text, card, width) }
        guard let content = values.content(of: card) else { return [line("–", style.dim)] }
        guard case .value(let value) = content else {
            let message = ContentRow.describe(content)
            return wrap(message, width).map { line($0, style.red) }
        }
        let status = status(of: card)
        let figures = DisplayWidth.cut(DashText.plain(value, card.panel), to: width)
        switch card.kind {
        case .bar, .gauge, .slider:
            guard let number = value.number else { return [line("this card needs a number", style.red)] }
            let shown = values.displayedNumber(of: card) ?? number
            return [note(figures, status, width), bar(card, shown, status, width)]
        case .sparkline, .chart:
            guard value.number != nil, let past = values.past(of: card, at: now) else { return [style.bold(figures)] }
            return [note(figures, status, width)] + curve(card, past, card.kind == .chart ? 4 : 1, width)
        case .status:
            let shape = status.flatMap { DashPicture.shapes[$0] } ?? "○"
            let said = value.string.map(DashText.spellOut) ?? DashText.plain(value)
            return [line("\(shape) \(said)") { status == "ok" ? style.green($0) : paint($0, status) }]
        case .toggle:
            return [line(words(card, value)) { value == true ? style.cyan($0) : style.dim($0) }]
        case .light:
            let shown = line(words(card, value)) { value == true ? style.cyan($0) : style.dim($0) }
            guard let part = card.part("level"), let level = values.content(of: part)?.value?.number else {
                return [shown]
            }
            return [shown, bar(part, values.displayedNumber(of: part) ?? level, value == true ? nil : "stale", width)]
        case .thermostat:
            func number(_ name: String) -> Double? {
                card.part(name).flatMap { values.content(of: $0)?.value?.number }
            }
            func flag(_ name: String) -> Bool? {
                card.part(name).flatMap { values.content(of: $0)?.value }.map { $0 == true }
            }
            let now = number("current").map { "now \(DashText.formatNumber($0, card.panel))" }
            let said = flag("switch") == false ? "off" : flag("active") == true ? "active" : nil
            return [
                line("− \(figures) +", style.bold),
                line([now, said].compactMap { $0 }.joined(separator: " · "), style.dim),
            ]
        case .stepper: return [line("− \(DashText.plain(value, card.panel)) +", style.bold)]
        case .button:
            let label = card.panel["label"]?.string?.printable ?? card.title
            let isAction = DashCard.isAction(value)
            let missing = isAction ? DashCard.missing(value) : []
            let said =
                !missing.isEmpty
                ? "needs \(missing.joined(separator: ", "))".printable
                : isAction ? "" : DashText.plain(value, card.panel)
            return [line("[ \(label) ]", missing.isEmpty ? style.cyan : style.dim), line(said, style.dim)]
        case .picker:
            let choices = card.options
            let all = choices.map { $0.value == value ? style.cyan("‹\($0.title)›") : style.dim(" \($0.title) ") }
                .joined(separator: " ")
            let title = choices.first { $0.value == value }?.title ?? DashText.plain(value)
            return [DisplayWidth.of(all) <= width ? all : line("‹\(title)›", style.cyan)]
        case .color: return [line("■ \(DashText.plain(value))", style.bold)]
        case .text: return wrap(DashText.plain(value), width).map { line($0) }
        case .markdown: return markdown(value.string ?? DashText.plain(value), card, width)
        case .table, .list, .log: return entries(value, card, width)
        default: return [style.bold(figures)]
        }
    }

    /// The state of a switch.
    private func words(_ card: DashCard, _ value: Value) -> String {
        let isOn = value == true
        let said = card.panel[isOn ? "on" : "off"]?.string ?? (isOn ? "On" : "Off")
        return "\(isOn ? "━●" : "●━") \(said.printable)"
    }

    /// A text without its marks, with the values of the attributes that it names.
    private func markdown(_ text: String, _ card: DashCard, _ width: Int) -> [String] {
        let filled = Placeholders.pieces(of: text).map { piece -> String in
            switch piece {
            case .text(let text): return String(text)
            case .name(let name):
                guard let part = card.part(String(name)) else { return "{\(name)}" }
                switch values.content(of: part) {
                case .value(let value)?: return Markdown.escape(DashText.plain(value, format(card, String(name))))
                case .failure(let failure)?: return Markdown.escape(failure.message)
                case nil: return "–"
                }
            }
        }.joined()
        let lines = Markdown.lines(of: filled).flatMap { line in
            let wrapped = line.text.printable.brokenAtWords(to: width, measure: DisplayWidth.of)
            return wrapped.map { line.isHeading ? style.bold($0) : $0 }
        }
        return Array(lines.prefix(DashPicture.mostRows)).map { DisplayWidth.cut($0, to: width) }
    }

    /// The figures, with the status in words on the right.
    private func note(_ figures: String, _ status: String?, _ width: Int) -> String {
        guard let status, status != "ok", let shape = DashPicture.shapes[status] else { return style.bold(figures) }
        let mark = "\(shape) \(DashText.spellOut(status))"
        let space = width - DisplayWidth.of(figures) - DisplayWidth.of(mark)
        guard space > 0 else { return paint(figures, status) }
        return style.bold(figures) + String(repeating: " ", count: space) + paint(mark, status)
    }

    private func bar(_ card: DashCard, _ number: Double, _ status: String?, _ width: Int) -> String {
        let (least, most) = card.scale
        let part = most == least ? 0 : min(1, max(0, (number - least) / (most - least)))
        let halves = part.isFinite ? Int((part * Double(width) * 2).rounded()) : 0
        let full = String(repeating: "━", count: halves / 2) + (halves % 2 == 1 ? "╸" : "")
        let used = (halves + 1) / 2
        var bar = status == nil || status == "ok" ? style.cyan(full) : paint(full, status)
        for column in used..<max(used, width) {
            // A threshold marks its column of the scale.
            let level = ["critical", "warn"].first { name in
                guard let limit = card.panel[name]?.number, most != least else { return false }
                let place = (limit - least) / (most - least) * Double(width)
                return place >= Double(column) && place < Double(column + 1)
            }
            bar += level == nil ? style.dim("─") : paint("┼", level)
        }
        return bar
    }

    private func curve(_ card: DashCard, _ past: DashValues.Past, _ height: Int, _ width: Int) -> [String] {
        let ranges = past.rangesByColumn(width)
        let known = ranges.compactMap { $0 }
        var least = card.panel["min"]?.number ?? known.map(\.lowerBound).min() ?? 0
        var most = card.panel["max"]?.number ?? known.map(\.upperBound).max() ?? 1
        if most <= least { (least, most) = (least - 0.5, least + 0.5) }
        let glyphs = Array(" ▁▂▃▄▅▆▇█")
        var before: Double?
        // Each column shows one of its extremes: the one that is farther from the level of the last column.
        let levels = ranges.map { range -> Int? in
            guard let range else { return nil }
            let last = before ?? range.upperBound
            let shown = range.upperBound - last >= last - range.lowerBound ? range.upperBound : range.lowerBound
            before = shown
            let part = min(1, max(0, (shown - least) / (most - least)))
            return 1 + (part.isFinite ? Int((part * Double(height * 8 - 1)).rounded()) : 0)
        }
        var lines = (0..<height).map { row in
            let base = (height - 1 - row) * 8
            return style.cyan(String(levels.map { level in level.map { glyphs[min(8, max(0, $0 - base))] } ?? " " }))
        }
        if height > 1 {
            let ends = "\(DashText.plain(.double(least), card.panel)) to \(DashText.plain(.double(most), card.panel))"
            lines.append(style.dim(DisplayWidth.cut("\(ends), last \(DashText.duration(card.window))", to: width)))
        }
        return lines
    }

    private func wrap(_ text: String, _ width: Int) -> [String] {
        Array(text.brokenAtWords(to: width, measure: DisplayWidth.of).prefix(DashPicture.mostRows))
    }

    // MARK: Tables

    /// A cell of a table: what it says, and what it is sorted by.
    private typealias Cell = (text: String, value: Value)

    private func table(_ rows: DashCard.Rows, _ card: DashCard, _ width: Int) -> [String] {
        let hasName = rows.columns.contains("name")
        let cells = rows.views.map { view -> [Cell] in
            var cells: [Cell] = hasName ? [] : [(DashText.spellOut(view.id), .string(view.id))]
            for column in rows.columns {
                switch values.contents["\(view.path).\(column)"] {
                case .value(let value)?: cells.append(cell(value, card, column))
                case .failure(let failure)?: cells.append((failure.message.printable, .null))
                case nil: cells.append(("", .null))
                }
            }
            return cells
        }
        let columns = (hasName ? [] : [""]) + rows.columns
        return grid(sorted(cells, columns, card), columns.map(DashText.spellOut), width, more: rows.more)
    }

    private func cell(_ value: Value, _ card: DashCard, _ column: String) -> Cell {
        let format = format(card, column)
        let text = DashText.plain(value, format)
        let status =
            value.number.flatMap { DashCard.status(of: $0, DashCard.levels(format["levels"])) }
            ?? value.string.flatMap { format["colours"]?.map?[$0]?.string }
        guard let status, status != "ok", let shape = DashPicture.shapes[status] else { return (text, value) }
        return ("\(shape) \(text)", value)
    }

    private func format(_ card: DashCard, _ column: String) -> ValueMap {
        card.panel["formats"]?.map?[column]?.map ?? card.panel
    }

    private func sorted(_ cells: [[Cell]], _ columns: [String], _ card: DashCard) -> [[String]] {
        let shown = cells.map { $0.map(\.text) }
        guard let sort = card.sort, let column = columns.firstIndex(where: { $0.hasSameBytes(as: sort.column) }) else {
            return shown
        }
        func isBefore(_ a: Value, _ b: Value) -> Bool {
            switch (a.number, b.number) {
            case (let a?, let b?): a < b
            case (.some, nil): true
            case (nil, .some): false
            default: (a.string ?? a.jsonText) < (b.string ?? b.jsonText)
            }
        }
        let order = cells.indices.sorted { first, second in
            let (a, b) = (cells[first][column].value, cells[second][column].value)
            // Nothing comes last, and equal values keep their order.
            if (a == .null) != (b == .null) { return b == .null }
            if isBefore(a, b) { return !sort.isDescending }
            if isBefore(b, a) { return sort.isDescending }
            return first < second
        }
        return order.map { shown[$0] }
    }

    private func entries(_ value: Value, _ card: DashCard, _ width: Int) -> [String] {
        if let map = value.map, card.kind != .log {
            return grid(
                map.map {
                    [DashText.spellOut($0.key.string ?? $0.key.jsonText), DashText.plain($0.value, card.panel)]
                },
                nil, width)
        }
        let list = value.list?.array ?? [value]
        if card.kind == .log {
            return list.isEmpty
                ? [style.dim("Empty")] : list.suffix(DashPicture.mostRows).map { logLine($0, card, width) }
        }
        let maps = list.compactMap(\.map)
        guard !maps.isEmpty, maps.count == list.count else {
            return grid(list.map { [DashText.plain($0, card.panel)] }, nil, width)
        }
        var columns = card.panel["columns"]?.list?.compactMap(\.string) ?? []
        if columns.isEmpty {
            for key in maps.flatMap({ $0.keys.compactMap(\.string) })
            where columns.count < 6 && !columns.contains(where: { $0.hasSameBytes(as: key) }) {
                columns.append(key)
            }
        }
        let cells = maps.map { map in columns.map { cell(map[$0] ?? .null, card, $0) } }
        return grid(sorted(cells, columns, card), columns.map(DashText.spellOut), width)
    }

    /// A line of a log: a text, or a map with `text` and perhaps `time` and `level`.
    private func logLine(_ value: Value, _ card: DashCard, _ width: Int) -> String {
        guard let map = value.map, let text = map["text"] else {
            return DisplayWidth.cut(DashText.plain(value, card.panel), to: width)
        }
        let level = map["level"]?.string
        let parts = [map["time"]?.string?.printable, level?.printable, DashText.plain(text)]
        let line = DisplayWidth.cut(parts.compactMap { $0 }.joined(separator: "  "), to: width)
        return paint(line, level.flatMap { LogLevel.status[$0.lowercased()] })
    }

    private func grid(_ cells: [[String]], _ head: [String]?, _ width: Int, more: Int = 0) -> [String] {
        guard let first = cells.first else { return [style.dim("Empty")] }
        let shown = cells.prefix(DashPicture.mostRows)
        let rows = (head.map { [$0] } ?? []) + shown
        let isNumber = first.indices.map { column in
            column > 0 && shown.allSatisfy { $0[column].first.map { $0.isNumber || $0 == "−" || $0 == "–" } ?? true }
        }
        var widths = first.indices.map { column in rows.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
        // The widest column is narrowed first.
        while widths.reduce(0, +) + 2 * (widths.count - 1) > width, let most = widths.max(), most > 3,
            let widest = widths.firstIndex(of: most)
        {
            widths[widest] -= 1
        }
        var lines = rows.enumerated().map { index, row in
            let text = row.indices.map { column in
                DisplayWidth.pad(
                    DisplayWidth.cut(row[column], to: widths[column]), to: widths[column], isRight: isNumber[column])
            }.joined(separator: "  ")
            let line = DisplayWidth.cut(text, to: width)
            return index == 0 && head != nil ? style.dim(line) : line
        }
        if case let omitted = cells.count - shown.count + more, omitted > 0 {
            lines.append(style.dim(DisplayWidth.cut("… and \(omitted) more", to: width)))
        }
        return lines
    }
}
