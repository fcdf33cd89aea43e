import AGClient
import CommandArguments
import WireProtocol

struct RemoveCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "remove", summary: "Remove nodes with all below them.",
        discussion: """
            Removes a node with its attributes, children, subscriptions and animations. Several nodes are removed one \
            after the other, each in a transaction of its own: if one is refused, those before it are removed and \
            those after it stay. To take an element out of a value: agctl transact 'remove /app.items[0]'.

            Examples:
              agctl remove /player
              agctl remove /hosts/web-01 /hosts/web-02
            """,
        aliases: ["rm"])

    @Argument(help: ArgumentHelp("Nodes.", valueName: "path"), completion: Suggestions.nodes)
    var paths: [String]

    @OptionGroup var write: WriteOptions
    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let options = write.makeOptions()
        for path in paths {
            do throws(ClientError) {
                session.report(revision: try session.connection().call(.remove(path: path, options)))
            } catch { throw Complaint(error).explaining(removalOf: path) }
        }
    }
}
