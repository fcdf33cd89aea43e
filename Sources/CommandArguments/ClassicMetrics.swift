/// Metrics in Prometheus' text format 0.0.4. Programs that do not know OpenMetrics read it, as node-exporter's text
/// collector: without it they lose the types.
package enum ClassicMetrics {
    /// - Parameter openMetrics: the same metrics as OpenMetrics, which names counters without `_total` in comments, and
    ///   ends with a mark.
    package static func text(_ openMetrics: String) -> String {
        let lines = openMetrics.split(separator: "\n")
        let counters = Set(
            lines.filter { $0.hasPrefix("# TYPE ") && $0.hasSuffix(" counter") }.map { $0.split(separator: " ")[2] })
        var text = ""
        for line in lines where line != "# EOF" {
            let words = line.split(separator: " ", maxSplits: 3)
            if words.count == 4, words[0] == "#", counters.contains(words[2]), !words[2].hasSuffix("_total") {
                text += "# \(words[1]) \(words[2])_total \(words[3])\n"
            } else {
                text += line + "\n"
            }
        }
        return text
    }
}
