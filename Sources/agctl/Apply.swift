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

            Examples:
              agctl apply player.yaml
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

    @Flag(help: "Only check, and show what would change.")
    var dryRun = false

    @OptionGroup var write: WriteOptions
    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        if scene != nil, file != nil { throw UsageError("only one scene is applied: give one file") }
        if scene == nil, file == nil {
            throw UsageError("the file of the scene is missing", hint: "agctl apply scene.yaml")
        }
    }

    func run(_ session: Session) throws {
        let result = try SceneText(file: scene ?? file ?? "-").apply(
            at: at, mode, dryRun: dryRun, write.makeOptions(), session)
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
