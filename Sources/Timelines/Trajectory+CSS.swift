extension Trajectory {
    /// The CSS with which a browser plays the motion from its first value to its last, as one easing. nil if no easing
    /// can: the motion never ends, returns to its first value through changes, or needs too many stops.
    public var css: TimelineCSS? {
        guard timelines.count > 1, let first = timelines.first, let last = timelines.last else {
            var easings = EasingCache()
            return timelines.first.flatMap { easings.css(for: $0) }
        }
        let (from, distance) = (first.from.first, last.to.first - first.from.first)
        let length = (end * 1e6).rounded(.up) / 1e6  // as it is printed
        guard length > 0, length < .infinity, distance != 0, distance.isFinite,
            let easing = LinearEasing(duration: length, start: 0, end: 1, { (state(at: $0).value - from) / distance })
        else { return nil }
        return TimelineCSS(duration: length * 1000, delay: 0, easing: easing.css)
    }
}
