import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct TreeCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "tree", summary: "Draw the tree with attributes and values.",
        discussion: """
            Examples:
              agctl tree
              agctl tree /player
              agctl tree --depth 1 --nodes
              agctl tree / --json
            """)

    @Argument(help: "The node to begin at.", completion: Suggestions.nodes)
    var path = "/"

    @Option(help: ArgumentHelp("Levels of children.", valueName: "n"))
    var depth: Int?

    @Flag(help: "Nodes only, without attributes.")
    var nodes = false

    @Flag(help: "Name the layers that say something of each node.")
    var layers = false

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let result = try session.connection().call(.describe(path: path, depth: depth))
        if session.isJSON { return session.output.json(result) }
        let columns = session.output.isTerminal ? Terminal.size.columns : Int.max
        session.output.write(
            TreeDrawing(
                style: session.output.style, columns: columns, showsAttributes: !nodes, showsLayers: layers
            ).text(result))
    }
}

/// A described tree, drawn as lines of text.
struct TreeDrawing {
    var style: Style
    /// The column at which lines are cut.
    var columns: Int
    var showsAttributes: Bool
    var showsLayers = false

    private enum Item {
        case node(ValueMap)
        /// The cells without colour, and the attribute's content.
        case attribute(name: String, kind: String, ValueMap)
        case note(String)
    }

    /// - Parameter root: a node from `describe`, or an attribute.
    func text(_ root: Value) -> String {
        guard let map = root.map else { return "" }
        guard let path = map["path"]?.string, map["id"] != nil else { return attributeLine("", "", map, 0, 0) }
        var text = title(map, name: path) + "\n"
        // Deep trees are drawn without recursion, with a stack of items and the lines that lead to them.
        var pending: [(lead: String, isLast: Bool, item: Item, widths: (Int, Int))] = []
        func push(_ node: ValueMap, _ lead: String) {
            let items = self.items(of: node)
            let widths = self.widths(items)
            for (position, item) in items.enumerated().reversed() {
                pending.append((lead, position == items.count - 1, item, widths))
            }
        }
        push(map, "")
        while let next = pending.popLast() {
            let branch = style.dim(next.lead + (next.isLast ? "└─ " : "├─ "))
            let indent = DisplayWidth.of(next.lead) + 3
            switch next.item {
            case .node(let node):
                let id = AttributePath.quoteIfNeeded(node["id"]?.string ?? "").printable
                text += branch + title(node, name: id) + "\n"
                push(node, next.lead + (next.isLast ? "   " : "│  "))
            case .attribute(let name, let kind, let content):
                text +=
                    branch
                    + attributeLine(
                        DisplayWidth.pad(name, to: next.widths.0), DisplayWidth.pad(kind, to: next.widths.1), content,
                        indent, next.widths.0 + next.widths.1)
            case .note(let note): text += branch + style.dim(note) + "\n"
            }
        }
        return text
    }

    private func title(_ node: ValueMap, name: String) -> String {
        let component = node["component"]?.string.map { " " + style.blue($0) } ?? ""
        let kind = node["kind"]?.string ?? ""
        let unshown = node["isUnshown"] == true ? style.dim(" not shown") : ""
        return style.bold(name) + (kind == "view" || kind == "container" ? "" : " " + style.dim(kind)) + component
            + unshown + layers(node)
    }

    /// The layers that say something of a node, lower ones first.
    private func layers(_ node: ValueMap) -> String {
        guard showsLayers, let layers = node["layers"]?.list else { return "" }
        let names = layers.compactMap { layer in
            layer.map.map { ($0["name"]?.string ?? "") + " at " + ($0["at"]?.string ?? "") }
        }
        return style.dim(" (" + names.joined(separator: ", ").printable + ")")
    }

    private func items(of node: ValueMap) -> [Item] {
        var items: [Item] = []
        if showsAttributes {
            for (name, attribute) in node["attributes"]?.map ?? ValueMap() {
                guard let map = attribute.map else { continue }
                items.append(.attribute(name: "." + (name.string ?? "").printable, kind: label(map), map))
            }
        }
        for choice in node["choices"]?.list ?? [] {
            if let note = choice.map.flatMap({ note(ofChoice: $0) }) { items.append(.note(note)) }
        }
        if let shown = node["shown"]?.list {
            let text = shown.compactMap(\.string).joined(separator: ", ")
            items.append(.note(ContentRow.oneLine("shows " + (text.isEmpty ? "nothing" : text))))
        }
        for child in node["children"]?.list ?? [] { if let map = child.map { items.append(.node(map)) } }
        if case .int(let count)? = node["childCount"], count > 0 {
            items.append(.note("\(count) more \(count == 1 ? "node" : "nodes")"))
        }
        return items
    }

    /// `if isPlaying: then`, or why it shows nothing else. A `place` only tells its errors: the nodes that it shows are
    /// drawn at the node.
    private func note(ofChoice choice: ValueMap) -> String? {
        let keywords = ["if", "switch", "place", "slot"]
        guard let keyword = keywords.first(where: { choice[$0] != nil }), let condition = choice[keyword] else {
            return nil
        }
        let error = choice["error"]?.map?["message"]?.string.map { ", error: \($0)" } ?? ""
        let text = condition.string ?? condition.jsonText
        if keyword == "place" || keyword == "slot" {
            return error.isEmpty ? nil : ContentRow.oneLine("\(keyword) \(text)\(error)")
        }
        return ContentRow.oneLine("\(keyword) \(text): \(choice["shows"]?.string ?? "nothing")\(error)")
    }

    private func widths(_ items: [Item]) -> (Int, Int) {
        items.reduce(into: (0, 0)) { widths, item in
            guard case .attribute(let name, let kind, _) = item else { return }
            widths = (max(widths.0, DisplayWidth.of(name)), max(widths.1, DisplayWidth.of(kind)))
        }
    }

    /// Kind and type, as `state bool`.
    private func label(_ attribute: ValueMap) -> String {
        [attribute["kind"]?.string, attribute["type"]?.string].compactMap { $0 }.joined(separator: " ")
    }

    private func attributeLine(_ name: String, _ kind: String, _ attribute: ValueMap, _ indent: Int, _ used: Int)
        -> String
    {
        var left = columns == .max ? Int.max : max(8, columns - indent - used - 4)
        let content = ContentRow.content(of: .map(attribute))
        let text = DisplayWidth.cut(ContentRow.describe(content), to: left)
        if left != .max { left -= DisplayWidth.of(text) }
        var source = ""
        if let target = attribute["target"]?.string { source = "→ " + target }
        if let rule = attribute["rule"]?.string { source = "= " + ContentRow.oneLine(rule) }
        if !source.isEmpty, left > 8 {
            source = "  " + style.dim(DisplayWidth.cut(source, to: left == .max ? .max : left - 2))
        } else {
            source = ""
        }
        let label = name.isEmpty ? style.dim(self.label(attribute)) : style.yellow(name) + "  " + style.dim(kind)
        return "\(label)  \(style.content(text, of: content))\(source)\n"
    }
}
