import AttributeValues

/// An operator over the past of an attribute, as a rule uses it: `average(load, duration('1m'))`.
///
/// The compiler makes an input of the program from each use. The host binds that input to something that watches the
/// attribute; a rule itself has no memory.
public struct TimeOperator: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        case previous, changed, reported, held, rate, increase, average, least, greatest, sum, smoothed, debounced,
            throttled
        /// Not a function of rules: the record of an attribute with `history`.
        case history
        /// Not a function of rules: the last reports of the entries of a map with `entries`.
        case entries
    }

    public let kind: Kind
    /// The window or delay; zero for operators without one.
    public let span: TimeSpan
    /// For operators over counters.
    public let falls: Falls
    /// The window is a period of the calendar; then the span is zero.
    public let period: Period?
    /// How many periods before the present one.
    public let back: Int
    /// The attribute, or the place in one, that gives the window, as the rule names it; then the span is zero.
    public let spanName: String?

    public init(
        _ kind: Kind, span: TimeSpan = TimeSpan(nanoseconds: 0), falls: Falls = Falls(), period: Period? = nil,
        back: Int = 0, spanName: String? = nil
    ) {
        self.spanName = spanName
        self.kind = kind
        self.span = span
        self.falls = falls
        self.period = period
        self.back = back
    }

    /// The periods of the calendar, by local time.
    public enum Period: String, CaseIterable, Sendable {
        case hour, day, month

        static let names = allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    static let mostBack: Int64 = 100

    /// The falls of a counter that are mistakes of its meter. After any other fall it has begun again at 0.
    public struct Falls: Hashable, Sendable {
        /// A fall by at most this part of the value is ignored.
        public var dip = 0.1
        /// So many reports of 0 in a row are ignored, if the value is back after them.
        public var zeros = 1

        public init() {}

        /// The names of the members in rules.
        static let names = ["dip", "zeros"]
        static let mostZeros: Int64 = 1000
    }

    /// The shortest and the longest window, in nanoseconds: 10 milliseconds and 31 days.
    public static let shortestSpan: Int64 = 10_000_000
    public static let longestSpan: Int64 = 31 * 86_400_000_000_000

    init?(name: String) {
        guard let kind = Kind(rawValue: name), kind != .history, kind != .entries else { return nil }
        self.init(kind)
    }

    var hasFalls: Bool { kind == .rate || kind == .increase }
    /// True if the window can be a period.
    var hasPeriod: Bool {
        switch kind {
        case .increase, .sum, .average, .least, .greatest: true
        default: false
        }
    }
    var hasSpan: Bool { kind != .previous && !isDate }

    /// True if the result is the date of something that happened to the operand.
    public var isDate: Bool { kind == .changed || kind == .reported }

    /// The fault of a window; nil if it is valid.
    public static func fault(of span: TimeSpan) -> String? {
        if span.nanoseconds < shortestSpan {
            return "a window is at least \(TimeSpan(nanoseconds: shortestSpan)), not \(span)"
        }
        if span.nanoseconds > longestSpan { return "a window is at most 31d, not \(span)" }
        return nil
    }
}

extension TimeOperator: CustomStringConvertible {
    public var description: String { hasSpan ? "\(kind.rawValue) \(window)\(falls.description)" : kind.rawValue }

    private var window: String {
        period.map { "'\($0.rawValue)'" + (back > 0 ? ", \(back)" : "") } ?? spanName ?? span.description
    }

    /// The operator's use as a rule writes it.
    public func text(of operand: String) -> String {
        hasSpan ? "\(kind.rawValue)(\(operand), \(window)\(falls.description))" : "\(kind.rawValue)(\(operand))"
    }
}

extension TimeOperator.Falls: CustomStringConvertible {
    /// As the end of an operator's arguments; empty for the standard.
    public var description: String {
        self == TimeOperator.Falls() ? "" : ", {'dip': \(dip), 'zeros': \(zeros)}"
    }
}
