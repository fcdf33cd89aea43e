import AttributeValues

/// The data with which a browser plays a timeline by itself, with CSS or with the Web Animations API.
///
/// value(t) = from + (to − from) · easing(t), plus velocity · velocityScale · velocityEasing(t) if there is one; then
/// play the two as additive animations. They depend only on the animation, so a page can cache them.
public struct TimelineCSS: Equatable, Sendable {
    /// Milliseconds of one pass. There are `iterations` passes.
    public var duration: Double
    /// Milliseconds before it starts.
    public var delay: Double
    /// A CSS easing function.
    public var easing: String
    /// Infinite for an endless repetition. An iteration is one run through `keyframes`.
    public var iterations = 1.0
    /// CSS `alternate`.
    public var alternates = false
    /// Progress at equally spaced keyframes, with `easing` between each two: [0, 1], or [0, 1, 0] for mirrored passes.
    public var keyframes: [Double] = [0, 1]
    /// The easing, from 0 to 0, of the motion that the initial velocity adds.
    public var velocityEasing: String?
    /// Seconds.
    public var velocityScale = 0.0

    /// The form in an event. `duration` and `delay` are written as in CSS, `818.747ms`.
    public var json: Value {
        var object = ValueMap()
        object["duration"] = .string(TimelineCSS.milliseconds(duration))
        object["easing"] = .string(easing)
        if delay != 0 { object["delay"] = .string(TimelineCSS.milliseconds(delay)) }
        if iterations != 1 { object["iterations"] = iterations.isFinite ? .wholeOrDouble(iterations) : "infinite" }
        if alternates { object["direction"] = "alternate" }
        if keyframes != [0, 1] { object["keyframes"] = .list(keyframes.map(Value.wholeOrDouble)) }
        if let velocityEasing {
            object["velocityEasing"] = .string(velocityEasing)
            object["velocityScale"] = .double(velocityScale)
        }
        return .map(object)
    }

    private static func milliseconds(_ number: Double) -> String { fixedText(number, decimals: 3) + "ms" }
}

extension CubicBezier {
    /// The CSS easing function.
    public var css: String { "cubic-bezier(" + [x1, y1, x2, y2].map(shortText).joined(separator: ", ") + ")" }
}

extension TimingFunction {
    /// The CSS easing function; nil for circular curves, which CSS has only as `linear()`.
    var css: String? { self == .linear ? "linear" : bezier?.css }
}
