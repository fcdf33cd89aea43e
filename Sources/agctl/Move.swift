import AGClient
import CommandArguments
import WireProtocol

struct MoveCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "move", summary: "Move a node to another parent or another position among its siblings.",
        discussion: """
            Examples:
              agctl move /panels/disk --to /sidebar
              agctl move /panels/cpu --index 0
            """,
        aliases: ["mv"])

    @Argument(help: "The node.", completion: Suggestions.nodes)
    var path: String

    @Option(
        help: ArgumentHelp("The new parent; the present one when left out.", valueName: "path"),
        completion: Suggestions.nodes) var to: String?

    @Option(help: ArgumentHelp("The position among the siblings, from 0; the end when left out.", valueName: "n"))
    var index: Int?

    @OptionGroup var write: WriteOptions
    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        if to == nil, index == nil { throw UsageError("where to? Give --to, --index or both") }
    }

    func run(_ session: Session) throws {
        let options = write.makeOptions()
        session.report(revision: try session.connection().call(.move(path: path, to: to, index: index, options)))
    }
}
