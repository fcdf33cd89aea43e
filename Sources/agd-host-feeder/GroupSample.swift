/// The control groups at one moment.
struct GroupSample: Sendable {
    /// Nanoseconds on the monotonic clock.
    var monotonic: Int64
    var groups: [ControlGroup]
}

extension GroupSample {
    init(_ sys: SystemFolder) { self.init(monotonic: Sample.monotonicTime, groups: ControlGroup.read(sys)) }
}
