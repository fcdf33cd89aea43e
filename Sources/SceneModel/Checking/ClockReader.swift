import AttributeValues

// Reads `clock`: `every 1s`, `everyMinute`, `animation`, a list of dates, or the long forms of these.
extension PartReader {
    private static let clockForms = "every 1s, everyMinute, animation, a list of dates, or {every: 1s, start: date}"

    func readClock(_ node: DocumentNode) -> ClockSchedule? {
        if let dates = node.list { return self.dates(dates, node) }
        if let entries = node.map { return longSchedule(entries, node) }
        switch node.string {
        case "everyMinute": return .everyMinute
        case "animation": return .animation(minimumInterval: nil)
        case let text? where text.hasPrefix("every "):
            return span(text.dropFirst(6).drop { $0 == " " }, node).map { .every($0, start: nil) }
        default:
            return cursor.refuse(
                "\(node.summary) is not a clock", at: node, hint: "a clock is \(PartReader.clockForms)")
        }
    }

    private func longSchedule(_ entries: [DocumentEntry], _ node: DocumentNode) -> ClockSchedule? {
        if let animation = node["animation"] {
            cursor.checkKeys(entries, of: "a clock", allowed: ["animation"])
            cursor.checkKeys(cursor.readEntries(animation, "animation"), of: "animation", allowed: ["minimumInterval"])
            guard let interval = animation["minimumInterval"] else { return .animation(minimumInterval: nil) }
            return cursor.at("animation") {
                cursor.at("minimumInterval") {
                    span(Substring(interval.text), interval).map { .animation(minimumInterval: $0) }
                }
            }
        }
        cursor.checkKeys(entries, of: "a clock", allowed: ["every", "start", "animation"])
        guard let every = node["every"] else { return cursor.refuse("a clock is \(PartReader.clockForms)", at: node) }
        guard let span = cursor.at("every", { span(Substring(every.text), every) }) else { return nil }
        guard let start = node["start"] else { return .every(span, start: nil) }
        return cursor.at("start") { date(start).map { .every(span, start: $0) } }
    }

    private func span(_ text: Substring, _ node: DocumentNode) -> TimeSpan? {
        guard let span = TimeSpan(text) else {
            return cursor.refuse("'\(text)' is not a length of time", at: node, hint: "such as 1s, 500ms, 1m30s")
        }
        guard span.nanoseconds >= SceneLimits.shortestTick else {
            return cursor.refuse(
                .limit,
                "the shortest time between ticks is \(TimeSpan(nanoseconds: SceneLimits.shortestTick)), not \(span)",
                at: node)
        }
        return span
    }

    private func date(_ node: DocumentNode) -> Timestamp? {
        if case .scalar(.timestamp(let date)) = node.content { return date }
        if let text = node.string, let date = Timestamp(text) { return date }
        return cursor.refuse("\(node.summary) is not a date", at: node, hint: "such as 2026-01-31T12:00:00Z")
    }

    private func dates(_ nodes: [DocumentNode], _ list: DocumentNode) -> ClockSchedule? {
        guard nodes.count <= SceneLimits.dates else {
            return cursor.refuse(.limit, "a clock has at most \(SceneLimits.dates) dates, not \(nodes.count)", at: list)
        }
        var dates: [Timestamp] = []
        var isRight = true
        cursor.visit(nodes) { node in
            guard let date = date(node) else {
                isRight = false
                return
            }
            if let last = dates.last, date <= last {
                cursor.fault("the dates of a clock must be in order: \(date) is not later than \(last)", at: node)
                isRight = false
            }
            dates.append(date)
        }
        return isRight ? .dates(dates) : nil
    }
}
