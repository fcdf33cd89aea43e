import AGClient
import AttributeValues
import WireProtocol

/// The values that the graph of a running daemon has.
final class PresentValues {
    private var connection: Connection?
    /// Seconds: an editor shows nothing while it waits.
    private static let patience = 0.5

    /// The value of an attribute and why it has it, as Markdown; nil if there is no daemon, or no such attribute.
    func describe(_ path: String) -> String? {
        // A connection may have ended with its daemon.
        for _ in 0..<2 {
            do throws(ClientError) {
                if connection == nil {
                    connection = try Connection(name: "agctl lsp", timeout: PresentValues.patience)
                }
                guard let connection else { return nil }
                return text(try connection.call(.explain(path: path, revision: nil)).map ?? ValueMap())
            } catch {
                if error.failure != nil { return nil }
                guard connection != nil else { return nil }
                connection = nil
            }
        }
        return nil
    }

    private func text(_ map: ValueMap) -> String {
        var lines: [String] = []
        if let error = map["error"]?.map?["message"]?.string {
            lines.append("now: error: \(error)")
        } else {
            lines.append("now: `\((map["value"] ?? .null).jsonText)`")
        }
        if let changed = map["changed"]?.map, let time = changed["time"]?.string {
            let writes = (changed["writes"]?.list ?? []).compactMap(\.string)
            lines.append(
                "since \(time)" + (writes.isEmpty ? "" : ", after a write of \(writes.joined(separator: ", "))"))
        }
        let reads = (map["dependencies"]?.list ?? []).compactMap(\.string)
        if !reads.isEmpty { lines.append("reads \(reads.joined(separator: ", "))") }
        return lines.joined(separator: "\n\n")
    }
}
