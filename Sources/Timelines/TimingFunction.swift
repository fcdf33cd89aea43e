/// The shape of a curve of fixed length: progress as a function of the fraction of time passed.
public enum TimingFunction: Hashable, Sendable {
    case linear
    case easeIn
    case easeOut
    case easeInOut
    case bezier(CubicBezier)
    case circularEaseIn
    case circularEaseOut
    case circularEaseInOut

    /// The functions without parameters. Each is written as its case.
    static let named: [TimingFunction] = [
        .linear, .easeIn, .easeOut, .easeInOut, .circularEaseIn, .circularEaseOut, .circularEaseInOut,
    ]

    /// The Bézier curve that equals this function; nil if it is circular.
    public var bezier: CubicBezier? {
        switch self {
        case .linear: CubicBezier(0, 0, 1, 1)
        case .easeIn: CubicBezier(0.42, 0, 1, 1)
        case .easeOut: CubicBezier(0, 0, 0.58, 1)
        case .easeInOut: CubicBezier(0.42, 0, 0.58, 1)
        case .bezier(let curve): curve
        case .circularEaseIn, .circularEaseOut, .circularEaseInOut: nil
        }
    }

    /// Progress and its slope at the fraction `u`. Outside 0...1, progress is 0 or 1 with slope 0.
    public func sample(at u: Double) -> (value: Double, slope: Double) {
        if u < 0 { return (0, 0) }
        if u > 1 { return (1, 0) }
        switch self {
        case .linear: return (u, 1)
        case .easeIn: return CubicBezier(0.42, 0, 1, 1).sample(at: u)
        case .easeOut: return CubicBezier(0, 0, 0.58, 1).sample(at: u)
        case .easeInOut: return CubicBezier(0.42, 0, 0.58, 1).sample(at: u)
        case .bezier(let curve): return curve.sample(at: u)
        case .circularEaseIn: return TimingFunction.arc(u)
        case .circularEaseOut:
            let (value, slope) = TimingFunction.arc(1 - u)
            return (1 - value, slope)
        case .circularEaseInOut:
            if u < 0.5 {
                let (value, slope) = TimingFunction.arc(2 * u)
                return (value / 2, slope)
            }
            let (value, slope) = TimingFunction.arc(2 - 2 * u)
            return (1 - value / 2, slope)
        }
    }

    /// 1 − √(1 − u²) and its slope, without cancellation near 0.
    private static func arc(_ u: Double) -> (value: Double, slope: Double) {
        let root = ((1 - u) * (1 + u)).squareRoot()
        return (u * u / (1 + root), root == 0 ? .infinity : u / root)
    }
}
