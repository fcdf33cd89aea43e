import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct ApplyCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "apply", summary: "Make a scene part of the graph.",
        discussion: """
            The daemon checks the whole document before it changes anything. It reports faults with file, line and \
            column.

            With --layer, the scene is all that a layer of this name says at the node. The layer lies between the \
            scenes of the daemon and the changes without a layer. Applied again, it keeps its place among the layers, \
            and what the scene no longer has goes.

            Examples:
              agctl apply player.yaml
              agctl apply heating.yaml --at /kitchen --layer heating
              agctl apply panel.yaml --at /host --merge
              agctl apply player.yaml --replace --dry-run
              agctl check player.yaml && agctl apply -f player.yaml --merge
            """)

    @Argument(
        help: ArgumentHelp("The scene, YAML or JSON; - is standard input.", valueName: "file"), completion: .files)
    var scene: String?

    @Option(short: "-f", help: "The same.", completion: .files)
    var file: String?

    @Option(
        help: ArgumentHelp("The node below which the scene's nodes are made.", valueName: "path"),
        completion: Suggestions.nodes) var at = "/"

    @Flag var mode = Request.ApplyMode.create

    @Option(help: ArgumentHelp("The layer that the scene is from now on.", valueName: "name")) var layer: String?

    @Flag(help: "Only check, and show what would change.")
    var dryRun = false

    @OptionGroup var write: WriteOptions
    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        if scene != nil, file != nil { throw UsageError("only one scene is applied: give one file") }
        if layer != nil, mode != .create {
            throw UsageError("a layer takes no mode", hint: "the scene is all that the layer says")
        }
        if scene == nil, file == nil {
            throw UsageError("the file of the scene is missing", hint: "agctl apply scene.yaml")
        }
    }

    func run(_ session: Session) throws {
        let result = try SceneText(file: scene ?? file ?? "-").apply(
            at: at, mode, layer: layer, dryRun: dryRun, write.makeOptions(), session)
        if session.isJSON { session.output.json(result) } else { show(result, session.output) }
    }

    private func show(_ result: Value, _ output: Output) {
        let text = AppliedText(result)
        text.show(output)
        guard output.isTerminal else { return }
        let summary = text.summary.isEmpty ? "nothing to change" : text.summary
        let revision = result.map?["revision"]?.jsonText ?? "?"
        output.writeLine(output.style.dim(dryRun ? "dry run: \(summary)" : "\(summary) (revision \(revision))"))
    }
}
