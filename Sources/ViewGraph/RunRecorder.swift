import AttributeGraph
import AttributeValues

/// One run of a rule. Times are in seconds.
public struct RuleRun {
    public let attribute: AttributeID
    public let start: Double
    public let time: Double
    /// The part of `time` in rules that ran because this one read them.
    public let innerTime: Double
}

/// Reports every run of a rule, with the time that it took. While a graph has no recorder, no clock is read.
public final class RunRecorder {
    private let now: () -> Double
    private let tell: (RuleRun) -> Void
    /// Seconds in inner runs so far, for each run in progress.
    private var inner: [Double] = []

    /// - Parameters:
    ///   - now: reads a clock, in seconds.
    ///   - tell: called at the end of each run, inner ones first. Not called for runs that the engine gives up.
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
