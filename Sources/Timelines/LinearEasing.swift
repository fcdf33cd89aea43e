/// A curve as straight lines: the stops of CSS `linear()`.
///
/// Stops lie on the curve where it bends: each line is the longest whose distance from the curve stays within the
/// tolerance. Their positions and values are rounded first to the digits that will be printed, so the printed easing keeps
/// the bound too.
public struct LinearEasing: Hashable, Sendable {
    public struct Stop: Hashable, Sendable {
        /// Fraction of the duration, 0...1.
        public var position: Double
        public var value: Double
    }

    public let stops: [Stop]

    /// Beyond this an easing is of no use to a browser.
    public static let maximumStops = 1000
    /// How far the drawn easing may be from the curve.
    public static let tolerance = 1e-3
    /// What is left of the tolerance after the rounding of what is printed and the gaps between checks.
    private static let working = 0.97e-3
    private static let checks = 12

    /// - Parameters:
    ///   - duration: seconds, > 0, of the curve's part that is drawn.
    ///   - start, end: values that the ends must have.
    ///   - curve: value at a time in seconds.
    /// - Returns: nil if more than `maximumStops` are needed.
    init?(duration: Double, start: Double, end: Double, _ curve: (Double) -> Double) {
        var stops = [Stop(position: 0, value: LinearEasing.rounded(start, 1e5))]
        var length = 1.0 / 32
        while let last = stops.last, last.position < 1 {
            guard stops.count < LinearEasing.maximumStops else { return nil }
            func reach(_ position: Double) -> Stop? {
                let position = position >= 1 ? 1 : LinearEasing.rounded(position, 1e5)
                guard position > last.position else { return nil }
                let value = position == 1 ? end : curve(position * duration)
                let stop = Stop(position: position, value: LinearEasing.rounded(value, 1e5))
                for i in 1..<LinearEasing.checks {
                    let part = Double(i) / Double(LinearEasing.checks)
                    let chord = last.value + (stop.value - last.value) * part
                    let exact = curve((last.position + (position - last.position) * part) * duration)
                    if !((chord - exact).magnitude <= LinearEasing.working) { return nil }
                }
                return stop
            }
            let rest = 1 - last.position
            var step = min(length, rest)
            var low = 0.0
            var high = rest
            var best = reach(last.position + step)
            if best != nil {
                low = step
                while step < rest {
                    step = min(step * 1.6, rest)
                    guard let longer = reach(last.position + step) else { high = step; break }
                    best = longer
                    low = step
                }
            } else {
                high = step
            }
            while high - low > max(low * 0.01, 1e-5), low < rest {
                step = (low + high) / 2
                if let stop = reach(last.position + step) { best = stop; low = step } else { high = step }
            }
            if let best {
                stops.append(best)
                length = max(best.position - last.position, 1e-4)
            } else {
                // A jump: two stops at neighbouring positions.
                let position = min(1, last.position + 1e-5)
                stops.append(Stop(position: position, value: LinearEasing.rounded(position == 1 ? end : curve(position * duration), 1e5)))
            }
        }
        self.stops = stops
    }

    private static func rounded(_ value: Double, _ scale: Double) -> Double { (value * scale).rounded() / scale }

    /// The CSS easing function.
    public var css: String {
        var text = "linear("
        for (i, stop) in stops.enumerated() {
            if i > 0 { text += ", " }
            text += fixedText(stop.value, decimals: 5)
            // The first and the last stop have their positions by themselves.
            if i > 0, i < stops.count - 1 { text += " " + fixedText(stop.position * 100, decimals: 3) + "%" }
        }
        return text + ")"
    }
}
