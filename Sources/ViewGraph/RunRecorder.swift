import AttributeGraph
import AttributeValues

/// A rule that ran, as a stretch of time in seconds.
public struct RuleRun {
    public let attribute: AttributeID
    public let start: Double
    public let time: Double
    /// Of it in rules that ran because this one read them.
    public let innerTime: Double
}

/// Tells of every run of a rule, with the time that it took. While a graph has none, no clock is read.
public final class RunRecorder {
    private let now: () -> Double
    private let tell: (RuleRun) -> Void
    /// Seconds in inner runs so far, for each run that goes on.
    private var inner: [Double] = []

    /// - Parameters:
    ///   - now: reads a clock, in seconds.
    ///   - tell: called at the end of each run, inner ones first. Runs that the engine gives up are none.
    public init(now: @escaping () -> Double, tell: @escaping (RuleRun) -> Void) {
        self.now = now
        self.tell = tell
    }

    func record(_ attribute: AttributeID, _ run: () throws -> Content) throws -> Content {
        let start = now()
        inner.append(0)
        var isWhole = false
        defer {
            let time = now() - start
            let innerTime = inner.removeLast()
            if let outer = inner.indices.last { inner[outer] += time }
            if isWhole { tell(RuleRun(attribute: attribute, start: start, time: time, innerTime: innerTime)) }
        }
        let content = try run()
        isWhole = true
        return content
    }
}
