import AttributeValues
import Glibc

/// A figure that each line of the configuration reports. The text of a case is its help. Its name in the file is in
/// snake case.
enum Metric: String, CaseIterable {
    case natsConnected = "1 if the line has a connection to NATS."
    case daemonConnected = "1 if the line has a connection to the daemon."
    case failuresTotal = "Calls to NATS that failed and were or will be repeated."
    case leaseHeld = "1 if this link may publish the site."
    case transactionsPublishedTotal = "Transactions that were sent to NATS."
    case transactionsMergedTotal = "Transactions that were merged with later ones, because NATS was slow or away."
    case publishedBytesTotal = "Bytes of transactions that were sent to NATS."
    case messagesUnderWay = "Messages that NATS has not acknowledged yet."
    case snapshotsPublishedTotal = "Snapshots that were sent to NATS."
    case writesPerformedTotal = "Writes of other machines that were passed to the owner."
    case siteLive = "1 if the owner of the mirrored site was heard within live-time."
    case siteLagSeconds = "Seconds since the mirror was last as new as its owner."
    case transactionsAppliedTotal = "Transactions of the owner that the mirror has got."
    case snapshotsReadTotal = "Snapshots that the mirror has read: the first one, and one for each gap."
    case writesForwardedTotal = "Writes that were sent to the owners of mirrored sites."

    var name: String { "\(self)".reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) } }
    var isCounter: Bool { name.hasSuffix("_total") }
}

struct Sample: Sendable {
    var metric: Metric
    /// The line of the configuration, as `publish hosts/web-01`.
    var line: String
    /// Of a mirrored site; nil for what concerns the whole line.
    var site: String?
    var value: Double
}

/// A file in the text format of Prometheus.
enum MetricsFile {
    /// Seconds between two versions of the file.
    static let interval = 5.0

    static func text(_ samples: [Sample]) -> String {
        var text = ""
        for metric in Metric.allCases {
            let lines = samples.filter { $0.metric == metric }
            guard !lines.isEmpty else { continue }
            let name = "agd_link_\(metric.name)"
            text += "# HELP \(name) \(metric.rawValue)\n# TYPE \(name) \(metric.isCounter ? "counter" : "gauge")\n"
            for sample in lines {
                let site = sample.site.map { ",site=\"\(escaped($0))\"" } ?? ""
                let value = sample.value == sample.value.rounded() ? "\(Int64(sample.value))" : "\(sample.value)"
                text += "\(name){line=\"\(escaped(sample.line))\"\(site)} \(value)\n"
            }
        }
        return text
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    /// Replaces the file at once, so that nobody reads a part of it.
    /// - Returns: the errno if it failed.
    static func write(_ samples: [Sample], to path: String) -> Int32? {
        let new = path + ".new"
        guard let file = fopen(new, "we") else { return errno }
        let isWritten = fputs(text(samples), file) >= 0
        let code = errno
        guard fclose(file) == 0 else { return errno }
        guard isWritten else { return code }
        return rename(new, path) == 0 ? nil : errno
    }
}
