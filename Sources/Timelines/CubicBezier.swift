/// A cubic Bézier easing from (0,0) to (1,1) with control points (x1,y1) and (x2,y2), as in CSS `cubic-bezier()`.
public struct CubicBezier: Hashable, Sendable {
    public let x1: Double
    public let y1: Double
    public let x2: Double
    public let y2: Double

    /// - Parameters: x1 and x2 lie in 0...1, so that the curve is a function of x; y1 and y2 may be anything finite.
    public init(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
        precondition(x1 >= 0 && x1 <= 1 && x2 >= 0 && x2 <= 1, "a Bézier easing's control points have x in 0...1")
        self.x1 = x1
        self.y1 = y1
        self.x2 = x2
        self.y2 = y2
    }

    /// y and dy/dx at x = `u`. Outside 0...1 the value is that of the nearer end, with slope 0.
    ///
    /// The slope is the one-sided limit at the ends and infinite where the curve is vertical.
    public func sample(at u: Double) -> (value: Double, slope: Double) {
        if u < 0 { return (0, 0) }
        if u > 1 { return (1, 0) }
        if u > 0.5 {  // from the nearer end: there differences to 1 do not cancel
            let (value, slope) = CubicBezier(1 - x2, 1 - y2, 1 - x1, 1 - y1).firstHalf(at: 1 - u)
            return (1 - value, slope)
        }
        return firstHalf(at: u)
    }

    private func firstHalf(at u: Double) -> (value: Double, slope: Double) {
        if u == 0 { return (0, CubicBezier.endSlope(x1, y1, x2, y2)) }
        let s = parameter(at: u)
        let dx = ((3 * ax) * s + 2 * bx) * s + cx
        let dy = ((3 * ay) * s + 2 * by) * s + cy
        let y = ((ay * s + by) * s + cy) * s
        if dx == 0 {
            return (
                y, dy == 0 ? CubicBezier.ratio(6 * ay * s + 2 * by, 6 * ax * s + 2 * bx) : .infinity * (dy < 0 ? -1 : 1)
            )
        }
        return (y, dy / dx)
    }

    /// y at x = `u`. The search begins at the parameter `guess` of a nearby point and stores the result there. It takes
    /// two or three steps instead of five, with the same accuracy.
    func value(at u: Double, near guess: inout Double) -> Double {
        if u <= 0 { return 0 }
        if u >= 1 { return 1 }
        let (a, b, c) = (ax, bx, cx)
        var s = guess
        for _ in 0..<6 {
            let slope = ((3 * a) * s + 2 * b) * s + c
            let step = (((a * s + b) * s + c) * s - u) / slope
            s -= step
            guard s >= 0, s <= 1 else { break }  // also where the slope vanished
            if step * step * ((6 * a * s + 2 * b).magnitude + (6 * a * step).magnitude) <= slope.magnitude * s * 0x1p-53
            {
                guess = s
                return ((ay * s + by) * s + cy) * s
            }
        }
        guess = parameter(at: u)
        return sample(at: u).value
    }

    /// Finds four parameters at once from those of nearby points: two steps of the inverse function's Taylor series to
    /// the third order, each with one division.
    /// - Returns: also a mask of the parameters that are accurate enough. The others, and the curve's ends, must be
    ///   found individually.
    func parameters(at u: SIMD4<Double>, near guess: SIMD4<Double>) -> (
        s: SIMD4<Double>, isFound: SIMDMask<SIMD4<Int64>>
    ) {
        // Types are written out, because the compiler takes seconds to find them among the operators of vectors.
        typealias Numbers = SIMD4<Double>
        let (a, b, c) = (ax, bx, cx)
        let (a3, b2) = (3 * a, 2 * b)
        let isInside = (u .> 0) .& (u .< 1)
        var s = guess
        var isFound = SIMDMask<SIMD4<Int64>>(repeating: false)
        for _ in 0..<2 {
            let slope: Numbers = (a3 * s + b2) * s + c
            let inverse: Numbers = 1 / slope
            let x: Numbers = ((a * s + b) * s + c) * s
            let step: Numbers = (u - x) * inverse
            let second: Numbers = (a3 * s + b) * inverse
            let third: Numbers = a * inverse
            let square: Numbers = step * step
            let cubic: Numbers = (2 * second * second - third) * square
            s += step * (1 - second * step + cubic)
            // The next term of the series must be below the last bit, and the series must converge quickly.
            let next: Numbers = 5 * second * (third - second * second) * square * square
            let bend: Numbers = square * (second * second + third * third * square)
            let isExact = next * next .<= s * s * 0x1p-106
            let isBetween = (s .> 0) .& (s .< 1)
            isFound = isExact .& (bend .<= 0.01) .& isBetween .& isInside
        }
        return (s, isFound)
    }

    /// y at the parameter.
    func value(atParameter s: SIMD4<Double>) -> SIMD4<Double> { ((ay * s + by) * s + cy) * s }

    private var ax: Double { 1 - 3 * (x2 - x1) }
    private var bx: Double { 3 * (x2 - 2 * x1) }
    private var cx: Double { 3 * x1 }
    private var ay: Double { 1 - 3 * (y2 - y1) }
    private var by: Double { 3 * (y2 - 2 * y1) }
    private var cy: Double { 3 * y1 }

    /// The curve's parameter s with x(s) = u. Newton's method inside a bracket that only shrinks, to full convergence.
    private func parameter(at u: Double) -> Double {
        let (a, b, c) = (ax, bx, cx)
        var low = 0.0
        var high = 1.0
        var s = u
        for _ in 0..<128 {
            let error = ((a * s + b) * s + c) * s - u
            if error == 0 { return s }
            if error < 0 { low = s } else { high = s }
            let slope = ((3 * a) * s + 2 * b) * s + c
            let step = error / slope
            let next = s - step
            guard next > low, next < high else {
                let middle = low + (high - low) / 2
                if middle == low || middle == high { return middle }
                s = middle
                continue
            }
            // Newton's next step would correct by step² x″/2x′ + step³ x‴/6x′.
            let bend = (6 * a * s + 2 * b).magnitude + (6 * a * step).magnitude
            if step * step * bend <= slope.magnitude * s * 0x1p-53 || next == s { return next }
            s = next
        }
        return s
    }

    /// dy/dx at the start of the curve with these control points: the ratio of the first derivatives that are not zero.
    private static func endSlope(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> Double {
        if x1 != 0 { return y1 / x1 }
        if y1 != 0 { return .infinity * (y1 < 0 ? -1 : 1) }
        if x2 != 0 { return y2 / x2 }
        if y2 != 0 { return .infinity * (y2 < 0 ? -1 : 1) }
        return 1
    }

    private static func ratio(_ numerator: Double, _ denominator: Double) -> Double {
        denominator == 0 ? .infinity * (numerator < 0 ? -1 : 1) : numerator / denominator
    }
}
