import AttributeValues
import CommandArguments
import SceneModel

struct CheckCommand: Verb {
    static let help = VerbHelp(
        name: "check", summary: "Check scenes, without a daemon.",
        discussion: """
            Reports every fault with file, line and column, and warns of texts that are names of attributes. --with \
            names a scene whose keys, types and components the scenes use, as boards use those of panels.yaml. A scene \
            for a node inside a graph may use names that only the graph has: check it with 'agctl apply --at PATH \
            --dry-run'.

            Examples:
              agctl check player.yaml
              agctl check scenes/*.yaml
              agctl check --with dashboard/panels.yaml board.yaml
              generate-scene | agctl check -
            """)

    @Argument(help: ArgumentHelp("Scenes, YAML or JSON; - is standard input.", valueName: "file"), completion: .files)
    var files: [String]

    @Option(
        help: ArgumentHelp("A scene whose declarations the others use. May be repeated.", valueName: "file"),
        completion: .files) var with: [String] = []

    @Flag(help: "Write JSON: a list of faults and warnings.")
    var json = false

    @OptionGroup var coloring: ColorOption

    func run() throws {
        let output = Output(color: coloring.color)
        let style = ErrorForm(isJSON: json, color: coloring.color).style
        var isFaulty = false
        try output.flushing {
            var listed: [Value] = []
            // The list is also printed if a file in the middle cannot be read.
            defer { if json { output.json(.list(listed)) } }
            var context = SceneContext()
            context.refusesCycles = true
            // The faults of a file that several scenes import are reported once.
            var faulty: Swift.Set<Name> = []
            for (number, file) in (with + files).enumerated() {
                var known = context
                do {
                    let parts = try SceneImports.collect(file) { try InputText.read($0) }
                    for part in parts where !faulty.contains(part.path) {
                        faulty.insert(part.path)
                        let scene = try SceneReader.read(
                            text: part.text, file: InputText.title(of: part.path), context: known)
                        faulty.remove(part.path)
                        known.declarations.add(scene.declarations)
                        if let warnings = scene.warnings {
                            tell(warnings, file: InputText.title(of: part.path), style, &listed)
                        }
                    }
                    if parts.contains(where: { faulty.contains($0.path) }) { continue }
                    if number < with.count {
                        context = known
                    } else if !json, output.isTerminal {
                        output.writeLine("\(InputText.title(of: file)): \(output.style.green("ok"))")
                    }
                } catch let error as SceneFaults {
                    isFaulty = true
                    tell(error, file: InputText.title(of: file), style, &listed)
                }
            }
        }
        if isFaulty { throw EndOfCommand(status: .data) }
    }

    private func tell(_ faults: SceneFaults, file: String, _ style: Style, _ listed: inout [Value]) {
        if json {
            listed += faults.faults.map { $0.json(file: faults.file ?? file) }
        } else {
            Terminal.write(Self.paint(faults.draw(style.draw), style), to: .standardError)
        }
    }

    /// Colours the positions of a report.
    private static func paint(_ report: String, _ style: Style) -> String {
        guard style.isOn else { return report }
        return report.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            if let range = line.firstRange(of: ": warning: ") {
                return style.bold(String(line[..<range.lowerBound]) + ":") + " warning: " + line[range.upperBound...]
            }
            if let range = line.firstRange(of: ": error: ") {
                return style.bold(String(line[..<range.lowerBound]) + ":") + " " + style.red("error:") + " "
                    + line[range.upperBound...]
            }
            return String(line)
        }.joined(separator: "\n")
    }
}

extension Declarations {
    /// Adds the declarations of another document, for checks of documents that follow it.
    fileprivate mutating func add(_ other: Declarations) {
        environment.merge(other.environment) { $1 }
        container.merge(other.container) { $1 }
        preference.merge(other.preference) { $1 }
        types.merge(other.types) { $1 }
        components.merge(other.components) { $1 }
        functions.merge(other.functions) { $1 }
    }
}
