import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct PruneCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "prune", summary: "Delete the stored rows of nodes that do not exist.",
        discussion: """
            When a scene no longer defines a node, or a list no longer has an element, the store keeps the values and \
            changes of the node. The daemon uses them again if the node returns. The daemon counts them as absent_rows \
            in its statistics and names them in its log at a start.

            Examples:
              agctl stats | grep absent_rows
              agctl prune
            """)

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let result = try session.connection().call(.prune)
        if session.isJSON { return session.output.json(result) }
        let count = result.map?["pruned"]?.jsonText ?? "0"
        session.output.writeLine("\(count) row\(count == "1" ? "" : "s") deleted")
    }
}
