import AttributeValues
import WireProtocol

/// The watched values as a table: known values, moving values, recent changes. The time is an argument of each
/// function, and nothing is written.
struct WatchTable {
    /// Seconds for which a change is highlighted.
    static let freshness = 0.8

    private var values = WatchedValues()
    /// In the order in which they came.
    private(set) var paths: [String] = []
    /// The ends of highlights.
    private var freshUntil: [Name: Double] = [:]
    private var revision: UInt64?
    private var label: String?
    private var trouble: String?
    let patterns: [String]
    let socket: String

    init(patterns: [String], socket: String) {
        self.patterns = patterns
        self.socket = socket
    }

    mutating func interrupted(_ reason: String) { trouble = reason }

    mutating func resumed(isSnapshot: Bool) {
        trouble = nil
        values.resume(isSnapshot: isSnapshot)
    }

    mutating func take(_ event: Event, at now: Double) {
        if case .update(let revision, _, let label, _, _, _, _) = event {
            (self.revision, self.label) = (revision, label)
        }
        let isFirst = paths.isEmpty
        let (changes, gone) = values.take(event)
        if !gone.isEmpty { paths.removeAll { values.contents[$0] == nil } }
        for path in gone { freshUntil[path] = nil }
        for (change, before) in changes where change.content != before {
            if before == nil { paths.append(change.path) }
            if !isFirst { freshUntil[change.path] = now + WatchTable.freshness }
        }
    }

    /// The end of the next highlight.
    var nextFade: Double? { freshUntil.values.min() }

    /// - Returns: true if a highlight has ended.
    mutating func fade(at now: Double) -> Bool {
        let count = freshUntil.count
        freshUntil = freshUntil.filter { $0.value > now }
        return freshUntil.count < count
    }

    /// A title, as many rows as fit, and the number of rows below them.
    func text(columns: Int, rows height: Int, scroll: inout Scroll, _ style: Style) -> String {
        var lines = [title(columns, style)]
        let space = max(1, height - 2)
        let shown = scroll.clip(paths, space: paths.count > space ? space - 1 : space)
        let width = min(shown.map(DisplayWidth.of).max() ?? 0, columns * 2 / 3)
        for path in shown {
            let cell = DisplayWidth.pad(DisplayWidth.cut(path, to: width), to: width)
            let isFresh = freshUntil[path] != nil
            lines.append("\(isFresh ? style.bold(cell) : cell)  \(content(path, columns - width - 2, style))")
        }
        if shown.count < paths.count {
            let below = paths.count - shown.endIndex
            lines.append(style.dim(below > 0 ? "… and \(below) more" : "the end of \(paths.count)"))
        }
        if paths.isEmpty { lines.append(style.dim("nothing matches yet")) }
        return lines.joined(separator: "\n") + "\n"
    }

    private func title(_ columns: Int, _ style: Style) -> String {
        if let trouble { return style.red(DisplayWidth.cut("\(trouble); waiting for agd", to: columns)) }
        var text = "\(patterns.joined(separator: " "))  \(paths.count) \(paths.count == 1 ? "value" : "values")"
        if let revision { text += "  revision \(revision)" }
        if let label { text += "  \(label)" }
        return style.dim(DisplayWidth.cut(text + "  \(socket)", to: columns))
    }

    private func content(_ path: String, _ width: Int, _ style: Style) -> String {
        guard let content = values.contents[path] else { return "" }
        guard let displayed = values.displayed[path] else { return ContentRow.show(content, style, width: width) }
        let moving = DisplayWidth.cut(WatchTable.rounded(displayed), to: width)
        let target = " → " + ContentRow.describe(content)
        let left = width - DisplayWidth.of(moving)
        return style.paintValue(moving, of: displayed) + (left > 4 ? style.dim(DisplayWidth.cut(target, to: left)) : "")
    }

    /// A moving value with three places: more would only flicker.
    private static func rounded(_ value: Value) -> String {
        switch value {
        case .double(let number): Figure.fixed(number, places: 3)
        case .list(let elements): "[" + elements.map(rounded).joined(separator: ",") + "]"
        default: value.jsonText
        }
    }
}
