import CommandArguments

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

    var name: String { MetricsFile.name(self, of: "agd_link") }
}

struct Sample: Sendable {
    var metric: Metric
    /// The line of the configuration, as `publish hosts/web-01`.
    var line: String
    /// The mirrored site that the value is of; nil: the whole line.
    var site: String?
    var value: Double
}

extension [Sample] {
    /// In the text format of Prometheus.
    var text: String {
        var text = ""
        for metric in Metric.allCases {
            let samples = filter { $0.metric == metric }
            guard !samples.isEmpty else { continue }
            text += MetricsFile.head(metric.name, metric.rawValue)
            for sample in samples {
                var labels = [(name: "line", value: sample.line)]
                if let site = sample.site { labels.append((name: "site", value: site)) }
                text += MetricsFile.line(metric.name, labels, sample.value)
            }
        }
        return text
    }
}
