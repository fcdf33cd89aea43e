import AGClient
import AttributeValues
import CommandArguments
import Glibc
import SceneModel
import WireProtocol

struct DiffCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "diff", summary: "Show how a scene differs from the graph, or the graph from the past.",
        discussion: """
            Shows what 'agctl apply --replace' would change in the nodes of the scene. Their siblings, and the present \
            values of states, do not count. With --layer, it shows what 'agctl apply --layer' would change. Nothing \
            changes. Ends with status 1 if there are differences.

            With --from, it shows how a node with all below it, or an attribute, differs between two moments, and \
            which transactions made it differ. It asks agd-past. A time is as for 'agctl log'.

            Examples:
              agctl diff player.yaml
              agctl diff panel.yaml --at /host
              agctl diff heating.yaml --at /kitchen --layer heating
              agctl diff player.yaml || agctl apply -f player.yaml --merge
              agctl diff --from 03:00 --to 03:30 /host
              agctl diff --from 1h
            """)

    @Argument(
        help: ArgumentHelp(
            "The scene, YAML or JSON; - is standard input. With --from: a node or an attribute (/).",
            valueName: "file"), completion: .files)
    var file: String?

    @Option(help: ArgumentHelp("Compare this moment with a later one.", valueName: "time")) var from: String?

    @Option(help: ArgumentHelp("The later moment (now).", valueName: "time")) var to: String?

    @Option(
        help: ArgumentHelp("The node below which the scene's nodes are made.", valueName: "path"),
        completion: Suggestions.nodes) var at = "/"

    @Option(help: ArgumentHelp("The layer that the scene is to be.", valueName: "name")) var layer: String?

    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        if from == nil, to != nil { throw UsageError("--to needs --from") }
        if from == nil, file == nil { throw UsageError("<file> is missing", hint: "--from compares two moments") }
        if from != nil, at != "/" || layer != nil {
            throw UsageError("--from compares no scene: leave --at and --layer out")
        }
    }

    func run(_ session: Session) throws {
        if let from { return try compare(file ?? "/", from, session) }
        let document = try SceneText(file: file ?? "-")
        var result = try document.apply(
            at: at, layer == nil ? .replace : .create, layer: layer, dryRun: true, TransactionOptions(), session)
        var map = result.map ?? ValueMap()
        if layer == nil {
            // The scene says nothing about nodes that are not below its own.
            let roots = try document.listRoots(at: at)
            let removed = (map["removed"]?.list ?? []).filter { path in
                roots.contains { path.string?.utf8.starts(with: ($0 + "/").utf8) == true }
            }
            map["removed"] = .list(removed)
        }
        result = .map(map)
        let differs = ["added", "removed", "changed", "differences"].contains { map[$0]?.list?.isEmpty == false }
        if session.isJSON { session.output.json(result) } else { AppliedText(result).show(session.output) }
        if differs { throw EndOfCommand(status: .different) }
    }

    private func compare(_ path: String, _ from: String, _ session: Session) throws {
        let now = Timestamp(seconds: Int64(time(nil)), nanoseconds: 999_999_999) ?? .epoch
        let found = try MomentDifferences(
            path, from: try PastTime(words: from), to: try to.map { try PastTime(words: $0) } ?? .time(now),
            session)
        if session.isJSON {
            for transaction in found.json { session.output.json(transaction) }
        } else {
            session.output.write(found.text(session.output.style))
        }
        if !found.differences.isEmpty { throw EndOfCommand(status: .different) }
    }
}

struct SceneText {
    var text: String
    var name: String
    /// The scene with all its imports; nil if it imports nothing.
    private var bundle: Value?

    init(text: String, name: String) {
        self.text = text
        self.name = name
    }

    /// - Parameter file: the file of the scene; `-` is standard input.
    init(file: String) throws {
        do {
            let files = try SceneImports.collect(file) { try InputText.read($0) }
            self.init(text: files.last?.text ?? "", name: InputText.title(of: file))
            if files.count > 1 { bundle = try SceneImports.bundle(files) }
        } catch let error as SceneFaults { throw Complaint(.data, error.description) }
    }

    /// - Throws: the faults of the scene with their source lines.
    func apply(
        at place: String, _ mode: Request.ApplyMode, layer: String? = nil, dryRun: Bool, _ options: TransactionOptions,
        _ session: Session
    ) throws -> Value {
        do throws(ClientError) {
            var apply = Request.Apply(
                document: bundle ?? .string(text), at: place, mode: mode, dryRun: dryRun, options: options)
            apply.layer = layer
            return try session.connection().call(.apply(apply))
        } catch {
            guard case .refused(let fault) = error else { throw error }
            var complaint = DocumentFaults.makeComplaint(fault.failure, text: text, file: name, session.errors.style)
            if fault.failure.code == .conflict, mode == .create, layer == nil {
                complaint.hint =
                    "--merge updates nodes that exist; --replace also removes nodes that the scene leaves out"
            }
            throw complaint
        }
    }

    /// The unchecked document.
    func document() throws(Complaint) -> ValueMap {
        do throws(SceneFaults) {
            return try SceneReader.value(text: text, file: name).map ?? ValueMap()
        } catch { throw Complaint(.data, error.description) }
    }

    /// The paths of the scene's own nodes.
    func listRoots(at place: String) throws(Complaint) -> [String] {
        (try document()["nodes"]?.list ?? []).compactMap { $0.map?["id"]?.string }.map {
            SceneText.path(of: $0, below: place)
        }
    }

    static func path(of id: String, below parent: String) -> String {
        (parent == "/" ? "/" : parent + "/") + AttributePath.quoteIfNeeded(id)
    }
}

/// The answer of `apply`. In a pipe: `added`, `removed` or `changed`, tab, path. On a terminal: with signs. A dry run
/// also shows the changes of existing nodes.
struct AppliedText {
    private let result: ValueMap
    /// For example `2 added, 1 changed`; empty if nothing changes.
    private(set) var summary = ""

    private static let kinds = ["added", "removed", "changed"]

    init(_ result: Value) {
        self.result = result.map ?? ValueMap()
        let counts = Self.kinds.map { ($0, paths($0).count) }.filter { $0.1 > 0 }
        summary = counts.map { "\($1) \($0)" }.joined(separator: ", ")
    }

    private func paths(_ kind: String) -> [String] { (result[kind]?.list ?? []).compactMap(\.string) }

    func show(_ output: Output) {
        let style = output.style
        for kind in Self.kinds {
            for path in paths(kind) {
                output.writeLine(output.isTerminal ? paint("\(Self.sign(kind)) \(path)", style) : "\(kind)\t\(path)")
            }
        }
        for line in paths("differences") {
            output.writeLine(output.isTerminal ? "  \(paint(line, style))" : "difference\t\(line)")
        }
        for path in paths("unset") {
            output.writeLine(
                output.isTerminal ? style.yellow("? \(path): there is no state for the value") : "unset\t\(path)")
        }
    }

    private static func sign(_ kind: String) -> String {
        switch kind {
        case "added": "+"
        case "removed": "-"
        default: "~"
        }
    }

    private func paint(_ line: String, _ style: Style) -> String {
        switch line.first {
        case "+": style.green(line)
        case "-": style.red(line)
        default: style.yellow(line)
        }
    }
}
