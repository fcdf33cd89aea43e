import AttributeValues
import WireProtocol

/// The known state of a board's attributes: values, displayed values of moving attributes, and the past of numbers. The
/// time is an argument of each function.
struct DashValues {
    /// The past of one number, in steps of equal length, each with its least and highest value.
    struct Past {
        static let steps = 240

        let step: Double
        private(set) var ranges: [Int: ClosedRange<Double>] = [:]
        private var last: Double?
        private var newest = 0

        init(window: Double) { step = window / Double(Past.steps) }

        mutating func add(_ number: Double, at now: Double) {
            guard number.isFinite else { return }
            fill(to: now)
            let range = ranges[newest] ?? number...number
            ranges[newest] = min(range.lowerBound, number)...max(range.upperBound, number)
            last = number
        }

        /// A value lasts until the next one.
        mutating func fill(to now: Double) {
            let position = Int(now / step)
            guard let last else {
                newest = position
                return
            }
            let first = max(newest + 1, position - Past.steps)
            if first <= position { for each in first...position { ranges[each] = last...last } }
            newest = max(newest, position)
            if ranges.count > Past.steps * 2 { ranges = ranges.filter { $0.key > newest - Past.steps } }
        }

        /// Ends the last value: nothing is known about the time without a connection.
        mutating func interrupt() { last = nil }

        /// The least and greatest value of each column, from old to new; nil if nothing is known.
        func rangesByColumn(_ count: Int) -> [ClosedRange<Double>?] {
            (0..<count).map { column in
                let begin = newest - Past.steps + 1 + column * Past.steps / count
                let end = newest - Past.steps + 1 + (column + 1) * Past.steps / count
                var found: ClosedRange<Double>?
                for position in begin..<max(end, begin + 1) {
                    guard let range = ranges[position] else { continue }
                    found =
                        found.map { min($0.lowerBound, range.lowerBound)...max($0.upperBound, range.upperBound) }
                        ?? range
                }
                return found
            }
        }
    }

    private var watched = WatchedValues()
    private var times: [Name: Double] = [:]
    private var pasts: [Name: Past] = [:]
    /// The time at which the connection was lost; nil while it exists.
    private(set) var interruptedAt: Double?

    var contents: [Name: Content] { watched.contents }

    mutating func interrupted(at now: Double) {
        interruptedAt = interruptedAt ?? now
        for path in Array(pasts.keys) { pasts[path]?.interrupt() }
    }

    mutating func resumed(isSnapshot: Bool) {
        interruptedAt = nil
        watched.resume(isSnapshot: isSnapshot)
    }

    /// - Returns: true if the change may change the cards of the board.
    /// - Parameter layout: the attributes whose change may change the cards.
    mutating func take(_ event: Event, at now: Double, _ layout: Set<Name> = []) -> Bool {
        let (changes, gone) = watched.take(event)
        for path in gone { pasts[path] = nil }
        for (change, _) in changes {
            times[change.path] = change.reported.map { min($0, now) } ?? now
            if let number = change.content.value?.number { pasts[change.path]?.add(number, at: now) }
        }
        switch event {
        case .update(_, _, _, _, let isInitial, let changes, _):
            return isInitial || changes.contains { layout.contains(Name($0.path)) }
        case .structure: return true
        default: return false
        }
    }

    /// Notes a number that the daemon has accepted, before its update arrives, so that a second step obeys the limits.
    mutating func assume(_ number: Value, at card: DashCard) {
        if card.source.steps.isEmpty { watched.assume(number, at: card.source.attribute) }
    }

    /// Begins to record the past of numbers that are drawn as lines, and ends it for others.
    mutating func remember(_ cards: [DashCard], at now: Double) {
        var kept: [Name: Past] = [:]
        for card in cards where card.kind == .sparkline || card.kind == .chart {
            let (attribute, steps) = card.source
            guard steps.isEmpty else { continue }
            let step = card.window / Double(Past.steps)
            var past = pasts[attribute].flatMap { $0.step == step ? $0 : nil } ?? Past(window: card.window)
            if past.ranges.isEmpty, let number = contents[attribute]?.value?.number { past.add(number, at: now) }
            kept[attribute] = past
        }
        pasts = kept
    }

    /// The past up to now.
    func past(of card: DashCard, at now: Double) -> Past? {
        guard var past = pasts[card.source.attribute] else { return nil }
        if interruptedAt == nil { past.fill(to: now) }
        return past
    }

    /// The value or the error of a card; nil if it is not known.
    func content(of card: DashCard) -> Content? {
        let (attribute, steps) = card.source
        guard let content = contents[attribute], case .value(var value) = content else { return contents[attribute] }
        for step in steps { value = value.child(step) ?? .null }
        return .value(value)
    }

    /// The number that a moving bar shows.
    func displayedNumber(of card: DashCard) -> Double? {
        let (attribute, steps) = card.source
        return steps.isEmpty ? (watched.displayed[attribute] ?? contents[attribute]?.value)?.number : nil
    }

    func age(of card: DashCard, at now: Double) -> Double? { times[card.source.attribute].map { now - $0 } }

    /// The status of the card's node. Values below a stale node are stale, too.
    func status(of card: DashCard) -> String? {
        guard let source = card.statusSource, let status = contents[Name(source.path)]?.value?.string else {
            return nil
        }
        return source.isOwn || status == "stale" ? status : nil
    }
}
