import AGClient
import ArgumentParser
import AttributeValues
import WireProtocol

struct ApplyCommand: ParsableCommand {
    enum Mode: String, EnumerableFlag {
        case create, merge, replace

        static func help(for value: Mode) -> ArgumentHelp? {
            switch value {
            case .create: "Refuse nodes that exist already."
            case .merge: "Update nodes that exist; their states keep their values."
            case .replace:
                """
                Make nodes that exist what the scene says, and remove what it leaves out, also the nodes that stand beside its own \
                at --at; states that stay keep their values.
                """
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Make a scene part of the graph.",
        discussion: """
            The daemon checks the document whole before any of it takes effect. Faults are told with file, line and column.

            Examples:
              agctl apply -f player.yaml
              agctl apply -f panel.yaml --at /host --merge
              agctl apply -f player.yaml --replace --dry-run
              agctl check player.yaml && agctl apply -f player.yaml --merge
            """)

    @Option(name: .shortAndLong, help: "The scene, YAML or JSON; - is standard input.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The node below which the scene's nodes stand.", valueName: "path"))
    var at = "/"

    @Flag(exclusivity: .exclusive) var mode = Mode.create

    @Flag(help: "Only check, and tell what would change.")
    var dryRun = false

    @OptionGroup var write: WriteOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let text = try InputText.read(file)
        try perform(common) { session in
            let request = Request.apply(
                .init(
                    document: .string(text), at: at, mode: Request.ApplyMode(rawValue: mode.rawValue) ?? .create,
                    dryRun: dryRun,
                    options: write.writing().options))
            let result: Value
            do throws(ClientError) { result = try session.connection().call(request) } catch {
                guard case .refused(let fault) = error else { throw error }
                throw DocumentFaults.complaint(
                    fault.failure, text: text, file: InputText.title(of: file), session.errors.style)
            }
            if session.settings.isJSON { session.output.json(result) } else { show(result, session.output) }
        }
    }

    /// In a pipe: `added`, `removed` or `changed`, tab, path. On a terminal: with signs and a summary. A dry run also
    /// shows the changes of existing nodes.
    private func show(_ result: Value, _ output: Output) {
        let kinds: [(name: String, sign: String, paint: (String) -> String)] = [
            ("added", "+", output.style.green), ("removed", "-", output.style.red),
            ("changed", "~", output.style.yellow),
        ]
        var counts: [String] = []
        for kind in kinds {
            let paths = (result.map?[kind.name]?.list ?? []).compactMap(\.string)
            if !paths.isEmpty { counts.append("\(paths.count) \(kind.name)") }
            for path in paths {
                output.line(output.isTerminal ? kind.paint("\(kind.sign) \(path)") : "\(kind.name)\t\(path)")
            }
        }
        for line in (result.map?["differences"]?.list ?? []).compactMap(\.string) {
            output.line(output.isTerminal ? "  \(paint(line, output.style))" : "difference\t\(line)")
        }
        for path in (result.map?["unset"]?.list ?? []).compactMap(\.string) {
            output.line(
                output.isTerminal ? output.style.yellow("? \(path): no state takes the value") : "unset\t\(path)")
        }
        guard output.isTerminal else { return }
        let summary = counts.isEmpty ? "nothing to change" : counts.joined(separator: ", ")
        let revision = result.map?["revision"]?.jsonText ?? "?"
        output.line(output.style.dim(dryRun ? "dry run: \(summary)" : "\(summary) (revision \(revision))"))
    }

    private func paint(_ line: String, _ style: Style) -> String {
        switch line.first {
        case "+": style.green(line)
        case "-": style.red(line)
        default: style.yellow(line)
        }
    }
}
