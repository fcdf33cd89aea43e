import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct ListCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "list", summary: "List what is in a node: children and attributes.",
        discussion: """
            On a terminal, attributes are shown with kind and value. In a pipe, each line is a path.

            Examples:
              agctl list /player
              agctl list --nodes /hosts | xargs -d '\\n' agctl remove
            """,
        aliases: ["ls"])

    @Argument(help: "The node.", completion: Suggestions.nodes)
    var path = "/"

    @Flag(help: "Nodes only, without attributes.")
    var nodes = false

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let result = try session.connection().call(.describe(path: path, depth: 1))
        guard let node = result.map, node["id"] != nil else {
            throw Complaint(.data, "\(path) is an attribute, not a node", hint: "agctl get \(path)")
        }
        if session.isJSON { return session.output.json(result) }
        show(node, session.output)
    }

    private func show(_ node: ValueMap, _ output: Output) {
        let parent = node["path"]?.string ?? self.path
        let children = (node["children"]?.list ?? []).compactMap(\.map)
        let attributes = nodes ? ValueMap() : node["attributes"]?.map ?? ValueMap()
        func path(of attribute: Value) -> String { "\(parent).\(AttributePath.quoteIfNeeded(attribute.string ?? ""))" }
        guard output.isTerminal else {
            for child in children { output.writeLine(child["path"]?.string ?? "") }
            for name in attributes.keys { output.writeLine(path(of: name)) }
            return
        }
        let style = output.style
        var rows = children.map { child in
            [
                style.bold((child["path"]?.string ?? "").printable),
                style.dim(child["component"]?.string ?? child["kind"]?.string ?? ""), "",
            ]
        }
        for (name, attribute) in attributes {
            let text = ContentRow.describe(ContentRow.content(of: attribute))
            rows.append([style.yellow(path(of: name).printable), style.dim(attribute.map?["kind"]?.string ?? ""), text])
        }
        // The value gets the rest of the line.
        let used = (0...1).map { column in rows.map { DisplayWidth.of($0[column]) }.max() ?? 0 }.reduce(4, +)
        let left = max(8, Terminal.size.columns - used)
        for row in rows.indices { rows[row][2] = DisplayWidth.cut(rows[row][2], to: left) }
        output.write(TextTable(rows: rows).text())
    }
}
