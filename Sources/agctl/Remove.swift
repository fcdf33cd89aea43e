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

            With --layer, the layer of this name at the node is withdrawn, and the node stays.

            Examples:
              agctl remove /player
              agctl remove --layer heating /kitchen
              agctl remove /hosts/web-01 /hosts/web-02
            """,
        aliases: ["rm"])

    @Argument(help: ArgumentHelp("Nodes.", valueName: "path"), completion: Suggestions.nodes)
    var paths: [String]

    @Option(help: ArgumentHelp("Withdraw this layer.", valueName: "name")) var layer: String?

    @OptionGroup var write: WriteOptions
    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let options = write.makeOptions()
        for path in paths {
            if let layer {
                session.report(
                    revision: try session.connection().call(.withdraw(layer: layer, at: path, options)))
                continue
            }
            do throws(ClientError) {
                session.report(revision: try session.connection().call(.remove(path: path, options)))
            } catch { throw Complaint(error).explaining(removalOf: path) }
        }
    }
}
