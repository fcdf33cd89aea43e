import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

/// Counts the gateway's answers and measures their times, for `/metrics`.
package final class Meter {
    /// Upper bounds of the histogram's buckets, in seconds.
    private static let bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5]
    /// All other addresses are counted as pages, so that clients cannot create series.
    private static let addresses: Set<String> = ["/value", "/watch", "/rpc", "/metrics"]

    private struct Series {
        /// One for each bound, and one for longer times.
        var counts = [Int](repeating: 0, count: Meter.bounds.count + 1)
        var sum = 0.0
    }
    private var series: [String: Series] = [:]
    /// The longest turn of the loop, in seconds of processor time, and the number of long ones.
    private var longestTurn = 0.0
    private var longTurns = 0
    private var turnBegin: Double?
    /// Calls of `/rpc`. Only methods that the gateway has are counted.
    private var calls: [String: Int] = [:]

    func note(_ path: String, seconds: Double) {
        let name = Meter.addresses.contains(path) ? path : "/"
        let bucket = Meter.bounds.firstIndex { seconds <= $0 } ?? Meter.bounds.count
        series[name, default: Series()].counts[bucket] += 1
        series[name, default: Series()].sum += seconds
    }

    /// Called before each sleep of the loop.
    package func endTurn(at processorTime: Double) {
        if let turnBegin {
            longestTurn = max(longestTurn, processorTime - turnBegin)
            if processorTime - turnBegin > 0.1 { longTurns += 1 }
        }
        turnBegin = processorTime
    }

    func note(method: String) { calls[method, default: 0] += 1 }

    /// OpenMetrics without the end mark.
    var text: String {
        var text = """
            # HELP agd_gateway_build Version of the gateway.
            # TYPE agd_gateway_build gauge
            agd_gateway_build{version="\(Release.version)"} 1
            # HELP agd_gateway_resident_memory_bytes Memory that the gateway uses.
            # TYPE agd_gateway_resident_memory_bytes gauge
            agd_gateway_resident_memory_bytes \(Meter.residentMemory)
            # HELP agd_gateway_longest_turn_seconds Longest turn since the start, in processor time.
            # TYPE agd_gateway_longest_turn_seconds gauge
            agd_gateway_longest_turn_seconds \(longestTurn)
            # HELP agd_gateway_turns_over_100ms Turns of more than 100 ms of processor time.
            # TYPE agd_gateway_turns_over_100ms counter
            agd_gateway_turns_over_100ms_total \(longTurns)
            # HELP agd_gateway_calls Calls of methods by pages.
            # TYPE agd_gateway_calls counter

            """
        for (method, count) in calls.sorted(by: { $0.key < $1.key }) {
            text += "agd_gateway_calls_total{method=\"\(method)\"} \(count)\n"
        }
        text += """
            # HELP agd_gateway_answer_seconds Time until a request is answered, or its stream begins.
            # TYPE agd_gateway_answer_seconds histogram

            """
        for (path, one) in series.sorted(by: { $0.key < $1.key }) {
            var sum = 0
            for (bound, count) in zip(Meter.bounds.map { "\($0)" } + ["+Inf"], one.counts) {
                sum += count
                text += "agd_gateway_answer_seconds_bucket{path=\"\(path)\",le=\"\(bound)\"} \(sum)\n"
            }
            text += "agd_gateway_answer_seconds_sum{path=\"\(path)\"} \(one.sum)\n"
            text += "agd_gateway_answer_seconds_count{path=\"\(path)\"} \(sum)\n"
        }
        return text
    }

    static let openType = "application/openmetrics-text"

    /// The same metrics in Prometheus' older format.
    static func classic(_ answer: Answer) -> Answer {
        guard answer.status == .ok else { return answer }
        let text = ClassicMetrics.text(String(decoding: answer.body, as: UTF8.self))
        return Answer(status: .ok, type: "text/plain; version=0.0.4; charset=utf-8", body: Array(text.utf8))
    }

    private static var residentMemory: Int {
        let words = ((try? TextFile.read("/proc/self/statm")) ?? "").split(separator: " ")
        return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The numbers and bools among the values of `get`, by path, as gauges.
    static func gauges(_ values: ValueMap) -> String {
        var text = """
            # HELP agd_attribute Values of the attributes that the request names.
            # TYPE agd_attribute gauge

            """
        for (path, content) in values {
            guard let path = path.string, let number = content.map?["value"].flatMap(number) else { continue }
            let label = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            text += "agd_attribute{path=\"\(label)\"} \(number)\n"
        }
        return text
    }

    private static func number(_ value: Value) -> String? {
        switch value {
        case .bool(let flag): flag ? "1" : "0"
        case .int(let number): "\(number)"
        case .uint(let number): "\(number)"
        case .double(let number): "\(number)"
        default: nil
        }
    }
}
