/// A curve as straight lines: the stops of CSS `linear()`.
///
/// Stops are on the curve where it bends. Each line is about the longest whose distance from the curve is within the
/// tolerance. Positions and values are first rounded to the digits that will be printed, so the printed easing is
/// within the tolerance too.
public struct LinearEasing: Hashable, Sendable {
    public struct Stop: Hashable, Sendable {
        /// Fraction of the duration, 0...1.
        public var position: Double
        public var value: Double
    }

    public let stops: [Stop]
    /// A longer easing is of no use to a browser.
    public static let maximumStops = 1000
    /// Maximum distance of the lines from the curve. The drawn easing is within 1e-3 of it, after the rounding of
    /// printed numbers and the gaps between checks.
    private static let working = 0.97e-3
    private static let checks = 12
    /// A curve that needs more samples counts as too intricate to be drawn.
    static let maximumSamples = 100_000

    /// Draws any curve by searching, with some hundred samples for each stop.
    /// - Parameters:
    ///   - duration: seconds, > 0, of the part of the curve that is drawn.
    ///   - start, end: required values at the ends.
    ///   - curve: value at a time in seconds.
    /// - Returns: nil if more than `maximumStops` stops or `maximumSamples` samples are needed.
    init?(duration: Double, start: Double, end: Double, _ sample: (Double) -> Double) {
        var samples = 0
        func curve(_ time: Double) -> Double {
            samples += 1
            return sample(time)
        }
        var stops = [Stop(position: 0, value: LinearEasing.rounded(start, 1e5))]
        var length = 1.0 / 32
        while let last = stops.last, last.position < 1 {
            guard stops.count < LinearEasing.maximumStops, samples < LinearEasing.maximumSamples else { return nil }
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
                stops.append(
                    Stop(
                        position: position,
                        value: LinearEasing.rounded(position == 1 ? end : curve(position * duration), 1e5)))
            }
        }
        self.stops = stops
    }

    /// Draws a smooth curve with known slope, with three or four samples for each stop. Between two samples, the curve
    /// is approximated by the cubic with their values and slopes. The middle of each line is sampled too; the cubic's
    /// distance from the curve there counts as part of the error.
    /// - Parameters:
    ///   - duration: seconds, > 0, of the part of the curve that is drawn.
    ///   - start, end: required values at the ends.
    ///   - curve: value and slope per second at a time in seconds.
    /// - Returns: nil if more than `maximumStops` stops are needed.
    init?(
        duration: Double, start: Double, end: Double, maximumStops: Int = LinearEasing.maximumStops,
        smooth curve: (Double) -> (value: Double, slope: Double)
    ) {
        var stops = [Stop(position: 0, value: LinearEasing.rounded(start, 1e5))]
        var (last, state) = (stops[0], curve(0))
        var length = 1.0 / 32
        while last.position < 1 {
            guard stops.count < maximumStops else { return nil }
            // Stops are printed with five digits. Closer stops would be a jump.
            let nearest = min(1, LinearEasing.rounded(last.position + 1e-5, 1e5))
            var best: (stop: Stop, state: (value: Double, slope: Double))?
            var tooLong = Double.infinity
            for _ in 0..<LinearEasing.tries {
                let wanted = last.position + length
                let position = wanted >= 1 ? 1 : max(nearest, LinearEasing.rounded(wanted, 1e5))
                if let best, position <= best.stop.position { break }
                let next = curve(position * duration)
                let stop = Stop(position: position, value: position == 1 ? end : LinearEasing.rounded(next.value, 1e5))
                let seconds = (position - last.position) * duration
                var error = LinearEasing.error(last, state, stop, next, seconds)
                if error <= LinearEasing.working {
                    let middle = curve((last.position + position) / 2 * duration).value
                    let cubic = (state.value + next.value) / 2 + (state.slope - next.slope) * seconds / 8
                    error += (middle - cubic).magnitude
                }
                if error <= LinearEasing.working {
                    best = (stop, next)
                    if position == 1 || error >= LinearEasing.working * 0.86 { break }
                } else {
                    if position == nearest {
                        best = (stop, next)
                        break
                    }
                    tooLong = position - last.position
                }
                // Where the curve bends evenly, the error of a chord is proportional to the square of its length.
                let scale = (LinearEasing.working * 0.95 / error).squareRoot()
                length = (position - last.position) * (scale.isFinite ? min(max(scale, 0.25), 3) : 0.25)
                if length >= tooLong { length = ((best?.stop.position ?? last.position) - last.position + tooLong) / 2 }
            }
            // No length was short enough: the curve jumps here, or almost does.
            if best == nil {
                let next = curve(nearest * duration)
                best = (
                    Stop(position: nearest, value: nearest == 1 ? end : LinearEasing.rounded(next.value, 1e5)), next
                )
            }
            guard let best else { return nil }
            length = max(best.stop.position - last.position, 1e-4)
            (last, state) = best
            stops.append(last)
        }
        self.stops = stops
    }

    /// Maximum number of lengths that are tried for one line.
    private static let tries = 12

    /// The greatest distance of the line between two stops from the cubic between the curve's states there.
    private static func error(
        _ a: Stop, _ from: (value: Double, slope: Double), _ b: Stop, _ to: (value: Double, slope: Double),
        _ seconds: Double
    ) -> Double {
        let chord = (to.value - from.value) / seconds
        let (bend, unbend) = ((from.slope - chord) * seconds, (to.slope - chord) * seconds)
        let (before, after) = (a.value - from.value, b.value - to.value)
        var worst = 0.0
        for check in 1..<checks {
            let s = Double(check) / Double(checks)
            let cubic = s * (1 - s) * (bend * (1 - s) - unbend * s)
            let distance = (before + (after - before) * s - cubic).magnitude
            // NaN counts as too far too.
            if !(distance <= worst) { worst = distance }
        }
        return worst.isNaN ? .infinity : worst
    }

    private static func rounded(_ value: Double, _ scale: Double) -> Double { (value * scale).rounded() / scale }

    /// The CSS easing function.
    public var css: String {
        var text = Array("linear(".utf8)
        text.reserveCapacity(16 * stops.count + 8)
        for (i, stop) in stops.enumerated() {
            if i > 0 { text += [UInt8(ascii: ","), UInt8(ascii: " ")] }
            LinearEasing.append(stop.value * 1e5, decimals: 5, to: &text)
            // The positions of the first and the last stop are implied.
            if i > 0, i < stops.count - 1 {
                text.append(UInt8(ascii: " "))
                LinearEasing.append(stop.position * 1e5, decimals: 3, to: &text)
                text.append(UInt8(ascii: "%"))
            }
        }
        text.append(UInt8(ascii: ")"))
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends a number without trailing zeros. It is given as an integer, in units of its last decimal.
    private static func append(_ scaled: Double, decimals: Int, to text: inout [UInt8]) {
        guard let whole = Int(exactly: scaled.rounded()) else {
            text += fixedText(scaled / pow10(decimals), decimals: decimals).utf8
            return
        }
        if whole < 0 { text.append(UInt8(ascii: "-")) }
        var (rest, places) = (whole.magnitude, decimals)
        while places > 0, rest % 10 == 0 {
            rest /= 10
            places -= 1
        }
        let start = text.count
        repeat {
            text.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
            places -= 1
            if places == 0 { text.append(UInt8(ascii: ".")) }
        } while rest > 0 || places >= 0
        text[start...].reverse()
    }

    private static func pow10(_ exponent: Int) -> Double { (0..<exponent).reduce(1) { power, _ in power * 10 } }
}
