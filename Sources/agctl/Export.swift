import AGClient
import AttributeValues
import CommandArguments
import SceneModel
import WireProtocol

struct ExportCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "export", summary: "Write the tree as a scene that makes it again.",
        discussion: """
            States are written with their present values. Applied to an empty graph, the scene makes an equal tree.

            The scene of a part begins with the node itself: apply it with --at and the node's parent. If the node \
            exists, --merge updates it, and its states keep their values. To restore the values of the scene, remove \
            the node first. --replace would also remove the node's siblings.

            Examples:
              agctl export > backup.yaml
              agctl export /player > player.yaml
              agctl remove /player && agctl apply -f player.yaml
              agctl export /panels/cpu > cpu.yaml
              agctl apply -f cpu.yaml --at /panels --merge
              agctl export /home --layer board > board.yaml

            With --layer, the scene is what a layer says at the node: apply it with --at and --layer.
            """)

    @Argument(help: "The node to begin at; / is the whole tree.", completion: Suggestions.nodes)
    var path = "/"

    @Option(help: ArgumentHelp("Only what the layer of this name at the node says.", valueName: "name"))
    var layer: String?

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let result = try session.connection().call(.dump(path: path, format: .scene, layer: layer))
        guard let document = result.map?["document"] else { throw Complaint(.software, "the daemon sent no document") }
        if session.isJSON {
            session.output.json(document)
        } else {
            session.output.write(DocumentWriter.yaml(document))
        }
    }
}
