import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct DumpCommand: DaemonVerb {
    enum Format: String, CaseIterable, ArgumentValue { case json, dot }

    static let help = VerbHelp(
        name: "dump", summary: "Write the dependency graph, whole or below a node.",
        discussion: """
            Examples:
              agctl dump --format dot | dot -Tsvg > graph.svg
              agctl dump /player
            """)

    @Argument(help: "The node to begin at.", completion: Suggestions.nodes)
    var path = "/"

    @Option(help: "json, or dot for Graphviz.")
    var format = Format.json

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let kind: Request.DumpFormat = format == .dot ? .dot : .json
        let result = try session.connection().call(.dump(path: path, format: kind))
        if !session.isJSON, let text = result.map?["dot"]?.string {
            session.output.write(text.printableLines)
        } else {
            session.output.json(result)
        }
    }
}
