import AttributeValues
import RuleLanguage

// Reads `clock`: `every 1s`, `everyMinute`, `animation`, a list of dates, or the long forms of these.
extension PartReader {
    private static let clockForms =
        "every 1s, everyMinute, animation, a list of dates, {every: 1s, start: date}, "
        + "or {at: \"03:00\", on: [mon, tue]}"

    /// - Parameter scope: the names that a period can come from.
    func readClock(_ node: DocumentNode, in scope: LexicalScope) -> ClockSchedule? {
        if let dates = node.list { return self.dates(dates, node) }
        if let entries = node.map { return longSchedule(entries, node, in: scope) }
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

    private func longSchedule(_ entries: [DocumentEntry], _ node: DocumentNode, in scope: LexicalScope)
        -> ClockSchedule?
    {
        if node["at"] != nil { return daily(entries, node) }
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
        cursor.checkKeys(entries, of: "a clock", allowed: ["every", "start", "animation", "at", "on", "timeZone"])
        guard let every = node["every"] else { return cursor.refuse("a clock is \(PartReader.clockForms)", at: node) }
        if case .reference(let text) = every.form {
            return cursor.at("every") {
                guard let found = expressions.resolve(text, in: scope, at: every) else { return nil }
                guard found.type.admits(.duration) || found.type.admits(.string) else {
                    return cursor.refuse(
                        .typeMismatch, "the period of a clock is a duration, not \(found.type.withArticle)", at: every)
                }
                if let start = node["start"] {
                    cursor.fault(
                        "a clock whose period comes from a state has no start", at: start, hint: "leave it out")
                }
                return .everyValue(found.reference)
            }
        }
        guard let span = cursor.at("every", { span(Substring(every.text), every) }) else { return nil }
        guard let start = node["start"] else { return .every(span, start: nil) }
        return cursor.at("start") { date(start).map { .every(span, start: $0) } }
    }

    /// `{at: "03:00", on: [mon, tue], timeZone: Europe/Berlin}`
    private func daily(_ entries: [DocumentEntry], _ node: DocumentNode) -> ClockSchedule? {
        cursor.checkKeys(entries, of: "a clock", allowed: ["at", "on", "timeZone"])
        guard let at = node["at"] else { return nil }
        var made = DailySchedule(times: [])
        cursor.at("at") {
            for one in at.list ?? [at] {
                guard let time = time(one) else {
                    cursor.fault(
                        "\(one.summary) is no time of the day", at: one, hint: "write it in quotes, as at: \"03:00\"")
                    continue
                }
                made.times.append(time)
            }
        }
        if let on = node["on"] {
            made.days = 0
            cursor.at("on") {
                for one in on.list ?? [on] {
                    guard let day = DailySchedule.dayNames.firstIndex(of: one.text) else {
                        cursor.fault(
                            "\(one.summary) is no day", at: one,
                            hint: "the days are \(DailySchedule.dayNames.joined(separator: ", "))")
                        continue
                    }
                    made.days |= 1 << day
                }
            }
        }
        if let zone = node["timeZone"] {
            made.timeZone = zone.text
            if LocalClock(zone.text) == nil {
                cursor.fault(
                    under: "timeZone", "unknown time zone \(zone.text)", at: zone, hint: "such as Europe/Berlin")
            }
        }
        made.times = Array(Set(made.times)).sorted()
        guard !made.times.isEmpty, made.days != 0 else {
            return cursor.refuse("the clock never ticks", at: node, hint: "write at: \"03:00\"")
        }
        guard made.times.count <= SceneLimits.dates else {
            return cursor.refuse(.limit, "a clock has at most \(SceneLimits.dates) times", at: at)
        }
        return .daily(made)
    }

    /// Seconds after midnight of `HH:MM` or `HH:MM:SS`.
    private func time(_ node: DocumentNode) -> Int? {
        let parts = node.text.split(separator: ":", omittingEmptySubsequences: false).map { part in
            part.utf8.count == 2 && part.utf8.allSatisfy(\.isDigit) ? Int(part) : nil
        }
        guard node.string != nil, parts.count == 2 || parts.count == 3, let hours = parts[0], let minutes = parts[1],
            hours < 24, minutes < 60, let seconds = parts.count == 3 ? parts[2] : 0, seconds < 60
        else { return nil }
        return hours * 3600 + minutes * 60 + seconds
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
