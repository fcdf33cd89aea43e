import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

/// Counts the gateway's answers and measures their times, for `/metrics`.
package final class Meter {
    /// Upper bounds of the histogram's buckets, in seconds.
    private static let bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5]
    /// All other addresses are counted as pages, so that clients cannot create series.
    private static let addresses: Set<String> = [
        "/value", "/watch", "/rpc", "/past", "/metrics", "/write", "/api/v2/write",
    ]

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
        let name = Meter.addresses.contains(path) ? path : path.hasPrefix("/hook/") ? "/hook" : "/"
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

    /// The values of `get`, by path: numbers and bools as gauges, and texts as infos.
    static func attributes(_ values: ValueMap) -> String {
        var gauges = """
            # HELP agd_attribute Values of the attributes that the request names.
            # TYPE agd_attribute gauge

            """
        var texts = ""
        for (path, content) in values {
            guard let path = path.string, let value = content.map?["value"] else { continue }
            if let number = number(value) {
                gauges += "agd_attribute{path=\"\(escaped(path))\"} \(number)\n"
            } else if case .string(let text) = value, text.utf8.count <= longestText {
                texts += "agd_attribute_text_info{path=\"\(escaped(path))\",value=\"\(escaped(text))\"} 1\n"
            }
        }
        if texts.isEmpty { return gauges }
        return gauges + """
            # HELP agd_attribute_text Texts of the attributes that the request names.
            # TYPE agd_attribute_text info

            """ + texts
    }

    /// Bytes. Each text is a series of its own.
    private static let longestText = 256

    /// The titles and units that panels give to attributes.
    /// - Parameter board: the answer of `board`.
    static func panels(_ values: ValueMap, _ board: Value?) -> String {
        var text = ""
        var told: Set<String> = []
        for row in board?["rows"]?.list ?? [] {
            for card in row["cards"]?.list ?? [] {
                guard let path = card["path"]?.string, values[path]?.map?["value"].flatMap(number) != nil,
                    told.insert(path).inserted
                else { continue }
                let unit = card["panel"]?["unit"]?.string ?? ""
                let title = card["title"]?.string ?? ""
                guard !unit.isEmpty || !title.isEmpty else { continue }
                text += "agd_attribute_panel_info{path=\"\(escaped(path))\",title=\"\(escaped(title))\""
                text += ",unit=\"\(escaped(unit))\"} 1\n"
            }
        }
        if text.isEmpty { return "" }
        return """
            # HELP agd_attribute_panel Titles and units of the attributes that the request names.
            # TYPE agd_attribute_panel info

            """ + text
    }

    /// The node around all paths.
    static func commonNode(_ paths: [String]) -> String {
        var common: [Name]?
        for path in paths {
            let nodes: [Name]
            if let pattern = try? PathPattern(path) {
                nodes = pattern.segments.prefixOfNames
            } else {
                nodes = (try? AttributePath(path))?.nodes ?? []
            }
            common = common.map { zip($0, nodes).prefix { $0 == $1 }.map(\.0) } ?? nodes
        }
        return AttributePath.describe(nodes: common ?? [])
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private static func number(_ value: Value) -> String? {
        switch value {
        case .bool(let flag): flag ? "1" : "0"
        case .int(let number): "\(number)"
        case .uint(let number): "\(number)"
        case .double(let number):
            number.isNaN ? "NaN" : number.isInfinite ? (number < 0 ? "-Inf" : "+Inf") : "\(number)"
        // In JSON, the daemon writes them as texts.
        case .string("Infinity"): "+Inf"
        case .string("-Infinity"): "-Inf"
        case .string("NaN"): "NaN"
        default: nil
        }
    }
}

extension [PathPattern.Segment] {
    /// The names before the first wildcard.
    fileprivate var prefixOfNames: [Name] {
        var names: [Name] = []
        for case .id(let name) in self.prefix(while: { if case .id = $0 { true } else { false } }) {
            names.append(name)
        }
        return names
    }
}
