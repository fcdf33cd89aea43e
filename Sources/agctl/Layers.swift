import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct LayersCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "layers", summary: "List the layers that were applied under a name.",
        discussion: """
            Lower layers come first. 'waiting' counts the nodes of which a layer says something that does not apply, \
            because there is no such node, or because it does not fit.

            Examples:
              agctl layers
              agctl layers /kitchen
            """)

    @Argument(help: "The node to begin at.", completion: Suggestions.nodes)
    var path = "/"

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let result = try session.connection().call(.layers(path: path))
        if session.isJSON { return session.output.json(result) }
        for layer in (result.map?["layers"]?.list ?? []).compactMap(\.map) {
            let cells = ["name", "at", "revision", "nodes", "waiting"].map { name in
                layer[.string(name)].map { $0.string ?? $0.jsonText } ?? ""
            }
            session.output.writeLine(cells.joined(separator: "\t"))
        }
    }
}
