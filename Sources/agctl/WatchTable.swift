import AttributeValues
import WireProtocol

/// The watched values as a table: known values, moving values, recent changes. The time is an argument of each
/// function, and nothing is written.
struct WatchTable {
    /// Seconds for which a change is highlighted.
    static let freshness = 0.8

    struct Row {
        var path: String
        var content: Content
        /// The displayed value during an animation.
        var displayed: Value?
        /// The end of its highlight.
        var freshUntil = 0.0
    }

    private(set) var rows: [Row] = []
    private var positions: [String: Int] = [:]
    private var revision: UInt64?
    private var label: String?
    private var trouble: String?
    private var awaitsSnapshot = false
    let patterns: [String]
    let socket: String

    init(patterns: [String], socket: String) {
        self.patterns = patterns
        self.socket = socket
    }

    mutating func interrupted(_ reason: String) { trouble = reason }

    mutating func resumed(isSnapshot: Bool) {
        trouble = nil
        awaitsSnapshot = isSnapshot
    }

    mutating func take(_ event: Event, at now: Double) {
        switch event {
        case .update(let revision, _, let label, _, let isInitial, let changes, _):
            self.revision = revision
            self.label = label
            let isFirst = rows.isEmpty
            if isInitial, awaitsSnapshot {
                awaitsSnapshot = false
                let kept = Swift.Set(changes.map(\.path))
                rows.removeAll { !kept.contains($0.path) }
                positions = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1.path, $0) })
            }
            for change in changes { put(change, freshUntil: isFirst ? 0 : now + WatchTable.freshness) }
        case .frames(_, let values):
            for (path, value) in values {
                guard let position = positions[path] else { continue }
                // When the motion has come to rest, the model value is shown again.
                rows[position].displayed = rows[position].content.value == value ? nil : value
            }
        default: break
        }
    }

    private mutating func put(_ change: Change, freshUntil: Double) {
        if case .failure(let failure) = change.content, failure.code == .removed { return remove(change.path) }
        guard let position = positions[change.path] else {
            positions[change.path] = rows.count
            rows.append(Row(path: change.path, content: change.content, freshUntil: freshUntil))
            return
        }
        if rows[position].content != change.content { rows[position].freshUntil = freshUntil }
        // The displayed value stays until the first frame, so that the row does not jump ahead.
        if change.timeline == nil {
            rows[position].displayed = nil
        } else if rows[position].displayed == nil {
            rows[position].displayed = rows[position].content.value
        }
        rows[position].content = change.content
    }

    private mutating func remove(_ path: String) {
        guard let position = positions.removeValue(forKey: path) else { return }
        rows.remove(at: position)
        for later in position..<rows.count { positions[rows[later].path] = later }
    }

    /// The end of the next highlight.
    var nextFade: Double? { rows.lazy.map(\.freshUntil).filter { $0 > 0 }.min() }

    /// - Returns: true if a highlight has ended.
    mutating func fade(at now: Double) -> Bool {
        var hasFaded = false
        for position in rows.indices where rows[position].freshUntil > 0 && rows[position].freshUntil <= now {
            rows[position].freshUntil = 0
            hasFaded = true
        }
        return hasFaded
    }

    /// A title, as many rows as fit, and the number of rows below them.
    func text(columns: Int, rows height: Int, scroll: inout Scroll, _ style: Style) -> String {
        var lines = [title(columns, style)]
        let room = max(1, height - 2)
        let shown = scroll.clip(rows, room: rows.count > room ? room - 1 : room)
        let width = min(shown.map { DisplayWidth.of($0.path) }.max() ?? 0, columns * 2 / 3)
        for row in shown {
            let path = DisplayWidth.pad(DisplayWidth.cut(row.path, to: width), to: width)
            let isFresh = row.freshUntil > 0
            lines.append("\(isFresh ? style.bold(path) : path)  \(content(row, columns - width - 2, style))")
        }
        if shown.count < rows.count {
            let below = rows.count - shown.endIndex
            lines.append(style.dim(below > 0 ? "… and \(below) more" : "the end of \(rows.count)"))
        }
        if rows.isEmpty { lines.append(style.dim("nothing matches yet")) }
        return lines.joined(separator: "\n") + "\n"
    }

    private func title(_ columns: Int, _ style: Style) -> String {
        if let trouble { return style.red(DisplayWidth.cut("\(trouble); waiting for agd", to: columns)) }
        var text = "\(patterns.joined(separator: " "))  \(rows.count) \(rows.count == 1 ? "value" : "values")"
        if let revision { text += "  revision \(revision)" }
        if let label { text += "  \(label)" }
        return style.dim(DisplayWidth.cut(text + "  \(socket)", to: columns))
    }

    private func content(_ row: Row, _ width: Int, _ style: Style) -> String {
        guard let displayed = row.displayed else { return ContentRow.show(row.content, style, width: width) }
        let moving = DisplayWidth.cut(WatchTable.rounded(displayed), to: width)
        let target = " → " + ContentRow.describe(row.content)
        let left = width - DisplayWidth.of(moving)
        return style.value(moving, of: displayed) + (left > 4 ? style.dim(DisplayWidth.cut(target, to: left)) : "")
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
