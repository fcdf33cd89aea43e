/// Metrics in Prometheus' text format 0.0.4. Programs that do not know OpenMetrics read it, as node-exporter's text
/// collector: without it they lose the types.
package enum ClassicMetrics {
    /// - Parameter openMetrics: the same metrics as OpenMetrics, which names counters without `_total` and infos
    ///   without `_info` in comments, and ends with a mark.
    package static func text(_ openMetrics: String) -> String {
        let lines = openMetrics.split(separator: "\n")
        func names(_ type: String) -> Set<Substring> {
            Set(lines.filter { $0.hasPrefix("# TYPE ") && $0.hasSuffix(type) }.map { $0.split(separator: " ")[2] })
        }
        let (counters, infos) = (names(" counter"), names(" info"))
        var text = ""
        for line in lines where line != "# EOF" {
            let words = line.split(separator: " ", maxSplits: 3)
            if words.count == 4, words[0] == "#", counters.contains(words[2]), !words[2].hasSuffix("_total") {
                text += "# \(words[1]) \(words[2])_total \(words[3])\n"
            } else if words.count == 4, words[0] == "#", infos.contains(words[2]) {
                // This format has no infos.
                text += "# \(words[1]) \(words[2])_info \(words[1] == "TYPE" ? "gauge" : words[3])\n"
            } else {
                text += line + "\n"
            }
        }
        return text
    }
}
