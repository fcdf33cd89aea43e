/// Counts by duration, for metrics.
public struct Histogram {
    /// Upper bounds of the buckets, in seconds, in the form of metrics. The last bucket has no bound.
    private static let bounds = [
        "0.00001", "0.000025", "0.00005", "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025",
        "0.05", "0.1", "0.25", "0.5", "1.0",
    ]
    private static let seconds = bounds.compactMap { Double($0) }

    public struct Counts {
        private(set) var buckets = [UInt64](repeating: 0, count: Histogram.bounds.count + 1)
        private(set) var sum = 0.0

        public init() {}

        public mutating func add(_ count: UInt64, _ seconds: Double, in bucket: Int) {
            buckets[bucket] += count
            sum += Double(count) * seconds
        }
    }

    /// The bucket of a duration. Linear search: most durations are in one of the first buckets.
    public static func bucket(of seconds: Double) -> Int {
        var bucket = 0
        while bucket < Histogram.seconds.count, seconds > Histogram.seconds[bucket] { bucket += 1 }
        return bucket
    }

    let name: String
    let help: String
    let counts: Counts

    public init(name: String, help: String, counts: Counts) {
        self.name = name
        self.help = help
        self.counts = counts
    }

    /// The histogram in the text format of OpenMetrics.
    var openMetrics: String {
        var text = "# HELP agd_\(name) \(help)\n# TYPE agd_\(name) histogram\n"
        var total: UInt64 = 0
        for (position, count) in counts.buckets.enumerated() {
            total += count
            let bound = position < Histogram.bounds.count ? Histogram.bounds[position] : "+Inf"
            text += "agd_\(name)_bucket{le=\"\(bound)\"} \(total)\n"
        }
        return text + "agd_\(name)_count \(total)\nagd_\(name)_sum \(counts.sum)\n"
    }
}
