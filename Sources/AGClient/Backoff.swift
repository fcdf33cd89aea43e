/// How long to wait before trying again: each time twice as long, up to a limit.
public struct Backoff: Hashable, Sendable {
    /// Seconds.
    public var first: Double
    public var longest: Double
    private var next: Double

    public init(first: Double = 0.05, longest: Double = 2) {
        self.first = first
        self.longest = longest
        next = first
    }

    public mutating func pause() -> Double {
        defer { next = min(next * 2, longest) }
        return next
    }

    /// It worked: the next trouble begins anew.
    public mutating func reset() { next = first }
}
