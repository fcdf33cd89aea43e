import AGClient
import ArgumentParser
import AttributeValues
import WireProtocol

struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Delete what the store has kept of nodes that are not there.",
        discussion: """
            A scene that no longer defines a node, or a list that nobody feeds, leaves values and changes without a node in the store. They \
            come back with the node. The daemon counts them as absent_rows in its statistics and names them in its log at a start.

            Examples:
              agctl stats | grep absent_rows
              agctl prune
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        try perform(common) { session in
            let result = try session.connection().call(.prune)
            if session.settings.isJSON { return session.output.json(result) }
            let count = result.map?["pruned"]?.jsonText ?? "0"
            session.output.line("\(count) row\(count == "1" ? "" : "s") deleted")
        }
    }
}
