/// The time to wait before the next attempt. It doubles each time, up to a limit.
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

    /// Call this after a success: the next wait begins with `first` again.
    public mutating func reset() { next = first }
}
