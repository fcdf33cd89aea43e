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

    /// A point of the curve, and the stop for it.
    private struct Point {
        var stop: Stop
        var value: Double
        var slope: Double
    }

    /// Draws any curve. The distance of each line from the curve is sampled, so a stop needs some dozens of samples.
    /// - Parameters:
    ///   - duration: seconds, > 0, of the part of the curve that is drawn.
    ///   - start, end: required values at the ends.
    ///   - curve: value at a time in seconds.
    /// - Returns: nil if more than `maximumStops` stops or `maximumSamples` samples are needed.
    init?(duration: Double, start: Double, end: Double, _ curve: (Double) -> Double) {
        var samples = 0
        func sample(_ time: Double) -> Double {
            samples += 1
            return curve(time)
        }
        self.init(duration, start, end, LinearEasing.maximumStops, { (sample($0), 0) }) { a, b in
            guard samples < LinearEasing.maximumSamples else { return nil }
            let error = LinearEasing.worst { part in
                let time = (a.stop.position + (b.stop.position - a.stop.position) * part) * duration
                return a.stop.value + (b.stop.value - a.stop.value) * part - sample(time)
            }
            // The curve may have a kink between two checks, which is farther away than they are.
            return error * Double(LinearEasing.checks) / Double(LinearEasing.checks - 1)
        }
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
        self.init(duration, start, end, maximumStops, curve) { a, b in
            let seconds = (b.stop.position - a.stop.position) * duration
            let error = LinearEasing.distance(of: a, b, fromCubicOver: seconds)
            guard error <= LinearEasing.working else { return error }
            let middle = curve((a.stop.position + b.stop.position) / 2 * duration).value
            let cubic = (a.value + b.value) / 2 + (a.slope - b.slope) * seconds / 8
            return error + (middle - cubic).magnitude
        }
    }

    /// Draws a curve line by line, and tries for each several lengths.
    /// - Parameter error: distance of the line between two points from the curve; nil to give up.
    private init?(
        _ duration: Double, _ start: Double, _ end: Double, _ maximumStops: Int,
        _ curve: (Double) -> (value: Double, slope: Double), error: (Point, Point) -> Double?
    ) {
        func point(at position: Double) -> Point {
            let (value, slope) = curve(position * duration)
            let drawn = position == 0 ? start : position == 1 ? end : value
            return Point(
                stop: Stop(position: position, value: LinearEasing.rounded(drawn, 1e5)), value: value, slope: slope)
        }
        var last = point(at: 0)
        var stops = [last.stop]
        var length = 1.0 / 32
        while last.stop.position < 1 {
            guard stops.count < maximumStops else { return nil }
            let from = last.stop.position
            // Stops are printed with five digits. Closer stops would be a jump.
            let nearest = min(1, LinearEasing.rounded(from + 1e-5, 1e5))
            var best: Point?
            var tooLong = Double.infinity
            for _ in 0..<LinearEasing.tries {
                let position = min(1, max(nearest, LinearEasing.rounded(from + length, 1e5)))
                if let best, position <= best.stop.position { break }
                let next = point(at: position)
                guard let error = error(last, next) else { return nil }
                if error <= LinearEasing.working {
                    best = next
                    if position == 1 || error >= LinearEasing.working * 0.86 { break }
                } else if position == nearest {
                    break
                } else {
                    tooLong = position - from
                }
                // Where the curve bends evenly, the error of a chord is proportional to the square of its length.
                let scale = (LinearEasing.working * 0.95 / error).squareRoot()
                length = (position - from) * min(max(scale, 0.25), 3)
                if length >= tooLong { length = ((best?.stop.position ?? from) - from + tooLong) / 2 }
            }
            // Without a length that is short enough, the curve jumps here, or almost does.
            last = best ?? point(at: nearest)
            length = max(last.stop.position - from, 1e-4)
            stops.append(last.stop)
        }
        self.stops = stops
    }

    /// Maximum number of lengths that are tried for one line.
    private static let tries = 12

    /// The greatest distance of the line between two stops from the cubic between the curve's states there.
    private static func distance(of a: Point, _ b: Point, fromCubicOver seconds: Double) -> Double {
        let chord = (b.value - a.value) / seconds
        let (bend, unbend) = ((a.slope - chord) * seconds, (b.slope - chord) * seconds)
        let (before, after) = (a.stop.value - a.value, b.stop.value - b.value)
        return worst { s in before + (after - before) * s - s * (1 - s) * (bend * (1 - s) - unbend * s) }
    }

    /// The greatest magnitude of a distance along a line. A distance that is not a number counts as too far.
    private static func worst(_ distance: (_ part: Double) -> Double) -> Double {
        var worst = 0.0
        for check in 1..<checks {
            let distance = distance(Double(check) / Double(checks)).magnitude
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
        var (rest, digits) = (whole.magnitude, decimals)
        while digits > 0, rest % 10 == 0 {
            rest /= 10
            digits -= 1
        }
        let start = text.count
        repeat {
            text.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
            digits -= 1
            if digits == 0 { text.append(UInt8(ascii: ".")) }
        } while rest > 0 || digits >= 0
        text[start...].reverse()
    }

    private static func pow10(_ exponent: Int) -> Double { (0..<exponent).reduce(1) { power, _ in power * 10 } }
}
