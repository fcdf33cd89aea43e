import AttributeValues
import WireProtocol

/// The cards of a part of the tree, in rows. It follows the containers and panels as the page does
/// (`dashboard/board.js`): containers are rows, the container value `panel` describes a card, and a node without one
/// gets cards that suit its attributes.
struct DashBoard {
    struct Row {
        var key: String
        /// nil for the first row, and for featured cards.
        var title: String?
        var cards: [DashCard]
    }

    /// A direct subview of a container.
    private struct Entry {
        var node: DashNode
        var panel: ValueMap
        var values: ValueMap
        var section: DashNode?

        var isContainer: Bool {
            node.children?.isEmpty == false && panel["value"] == nil && panel["values"] == nil
        }
    }

    static let mostCards = 500
    /// Maximum depth below a container.
    private static let mostDepth = 100

    private let tree: DashNode
    private let nodes: [Name: DashNode]
    /// The subviews of containers for which only `eval` can tell them, by path.
    private let subviews: [Name: ValueList]
    private let values: [Name: Content]
    private(set) var rows: [Row] = []
    private var featured: [DashCard] = []
    /// True if panels describe the cards below a node, by path.
    private var arranging: [Name: Bool] = [:]
    /// Cards beyond the limit.
    private(set) var omitted = 0

    init(_ tree: DashNode, subviews: [Name: ValueList], values: [Name: Content]) {
        self.tree = tree
        self.subviews = subviews
        self.values = values
        nodes = tree.others.merging([Name(tree.path): tree]) { $1 }
        lay()
    }

    var title: String {
        if tree["title"] != nil, let title = values[tree.place(of: "title")]?.value?.string, !title.isEmpty {
            return title.printable
        }
        return tree.path == "/" ? "agd" : DashText.spellOut(tree.id)
    }

    /// The containers whose subviews must be found with `eval`: those without the attribute `cards`.
    static func containers(_ tree: DashNode) -> [String] {
        tree.all.filter {
            // A component that shows other nodes inside its body shows the body itself.
            $0.children != nil && !$0.isTransparent && $0["cards"] == nil && !($0.component != nil && $0.hasPlaces)
        }.map(\.path)
    }

    /// True if a change of the attribute may change the rows.
    static func isLayout(_ path: String) -> Bool { path.hasSuffix(".cards") || path.hasSuffix(".title") }

    // MARK: Rows

    private mutating func lay() {
        addRows(of: tree, key: "", title: nil, prefix: "")
        if !featured.isEmpty { rows.insert(Row(key: "featured", title: nil, cards: featured), at: 0) }
        rows.removeAll { $0.cards.isEmpty }
        var left = DashBoard.mostCards
        for position in rows.indices {
            omitted += max(0, rows[position].cards.count - left)
            rows[position].cards = Array(rows[position].cards.prefix(left))
            left -= rows[position].cards.count
        }
        rows.removeAll { $0.cards.isEmpty }
    }

    private mutating func addRows(of node: DashNode, key: String, title: String?, prefix: String) {
        let loose = rows.count
        // The environment of the whole graph is no part of a board.
        let own =
            node.path == "/" ? [] : cards(of: node, ValueMap(), DashText.spellOut(node.id), isRoot: true)
        rows.append(Row(key: key, title: title, cards: own))
        let entries = entries(of: node)
        for entry in entries where entry.panel["hidden"] != true {
            let words = DashText.spellOut(entry.node.id)
            let title = text(entry.panel["title"]) ?? text(entry.values["title"]) ?? words
            if let section = entry.section {
                let cards = allCards(of: entry.node, entry.panel, title)
                if let position = rows.firstIndex(where: { $0.key.hasSameBytes(as: section.path) }) {
                    rows[position].cards += cards
                } else {
                    rows.append(Row(key: section.path, title: prefix + heading(of: section), cards: cards))
                }
            } else if entry.isContainer {
                let isCard = entry.panel["kind"] != nil
                let heading = isCard ? text(entry.values["title"]) ?? words : title
                var panel = entry.panel
                if !isCard { panel["title"] = nil }
                // Several boards stand below each other, with rows of their own. So does one that is alone.
                let isBoard = key.isEmpty && (tree.path == "/" || entries.count == 1) && !isCard && hasRows(entry.node)
                if isBoard {
                    addRows(of: entry.node, key: entry.node.path, title: heading, prefix: "\(heading) · ")
                } else {
                    let cards = allCards(of: entry.node, panel, heading)
                    rows.append(Row(key: entry.node.path, title: prefix + heading, cards: cards))
                }
            } else {
                rows[loose].cards += allCards(of: entry.node, entry.panel, title)
            }
        }
    }

    /// True if a node contains containers of cards.
    private func hasRows(_ node: DashNode) -> Bool {
        entries(of: node).contains { $0.isContainer && $0.panel["kind"] == nil && $0.panel["hidden"] != true }
    }

    private func text(_ value: Value?) -> String? {
        guard let text = value?.string, !text.isEmpty else { return nil }
        return text.printable
    }

    private func heading(of section: DashNode) -> String {
        let header = section.children?.first { $0["text"] != nil }
        return text(header.flatMap { values[$0.place(of: "text")]?.value }) ?? DashText.spellOut(section.id)
    }

    /// The direct subviews of a container, in the order of its rule.
    private func entries(of node: DashNode) -> [Entry] {
        let ruled = node["cards"] == nil ? nil : values[node.place(of: "cards")]?.value?.list
        guard let given = ruled ?? subviews[node.path] else {
            return (node.children ?? []).map { Entry(node: $0, panel: ValueMap(), values: ValueMap(), section: nil) }
        }
        return given.compactMap { each in
            guard let id = each.map?["id"]?.string, let found = node.subview(id, in: nodes) else { return nil }
            let values = each.map?["containerValues"]?.map ?? ValueMap()
            return Entry(
                node: found, panel: each.map?["panel"]?.map ?? values["panel"]?.map ?? ValueMap(), values: values,
                section: section(of: node, id))
        }
    }

    /// The section of a container that contains a subview.
    private func section(of container: DashNode, _ id: String) -> DashNode? {
        let parts = id.split(separator: "/")
        for length in stride(from: parts.count - 1, to: 0, by: -1) {
            let node = nodes[container.path(to: parts.prefix(length).joined(separator: "/"))]
            if let node, node.kind == "section" { return node }
        }
        return nil
    }

    // MARK: Cards

    /// The cards of a view and of everything below it. Featured ones are set apart.
    private mutating func allCards(of node: DashNode, _ panel: ValueMap, _ title: String, depth: Int = 0) -> [DashCard]
    {
        if panel["hidden"] == true || depth > DashBoard.mostDepth { return [] }
        var cards = cards(of: node, panel, title)
        if panel["kind"] != "table", panel["kind"] != "list", node.children != nil {
            for entry in entries(of: node) {
                let own =
                    text(entry.panel["title"]) ?? text(entry.values["title"])
                    ?? (entry.node.id == "gauge" ? title : DashText.spellOut(entry.node.id))
                cards += allCards(of: entry.node, entry.panel, own, depth: depth + 1)
            }
        }
        guard panel["featured"] == true else { return cards }
        featured += cards
        return []
    }

    private mutating func cards(of node: DashNode, _ panel: ValueMap, _ title: String, isRoot: Bool = false)
        -> [DashCard]
    {
        let value = text(panel["value"])
        let shown = text(panel["title"]) ?? title
        if panel["kind"] == "table" || panel["kind"] == "list", value == nil, node.children != nil {
            return [
                DashCard(
                    path: node.path, kind: panel["kind"] == "table" ? .table : .list, panel: panel, title: shown,
                    rows: table(of: node, panel))
            ]
        }
        // Each of several values has a card of its own.
        let several = value == nil ? series(of: panel) : []
        let isGiven = value != nil || !several.isEmpty
        // A node that arranges cards has none of its own.
        if !isGiven, node.children != nil, arranges(node) { return [] }
        let given = value.map { [$0] } ?? several.map { $0.name }
        let names = isGiven ? given : DashBoard.shownNames(of: node)
        let isAlone = names.count == 1 && node.children == nil
        let cards = names.map { name -> DashCard in
            let path = node.place(of: name)
            let base = name.prefix { $0 != "." && $0 != "[" }
            guard let attribute = node[String(base)] else {
                return DashCard(
                    path: path, kind: .value, panel: panel, title: shown,
                    fault: "\(node.path) has no attribute \(name)")
            }
            var kind: DashCard.Kind? = DashCard.Kind(name, attribute)
            if let given = panel["kind"]?.string { kind = DashCard.Kind(panel: given) }
            let isAction = attribute.kind == "action"
            if kind?.isControl == true, !attribute.isWritable, !(isAction && kind == .button) { kind = .value }
            let own =
                isRoot || node.children != nil
                ? DashText.spellOut(name) : "\(title): \(DashText.spellOut(name).lowercased())"
            let isTitled = isAlone || name == "percent" || isGiven
            let part = several.first { $0.name == name }
            let heading = part.map { "\(shown): \($0.title)" } ?? (isTitled ? shown : own)
            var panel = isGiven ? panel : ValueMap()
            if kind == .bar || kind == .gauge, panel["unit"] == nil, panel["max"] == nil, panel["format"] == nil {
                panel["unit"] = "%"
            }
            return DashCard(
                path: path, kind: kind, panel: panel, title: heading,
                isInteger: attribute.plainType == "int", isAction: isAction,
                fault: kind == nil ? "there is no card of the kind \(panel["kind"]?.string ?? "")".printable : nil)
        }
        return isGiven ? cards : cards.sorted { ($0.kind?.rank ?? 0) < ($1.kind?.rank ?? 0) }
    }

    /// The attributes that a panel shows together, each as its name or with a title.
    private func series(of panel: ValueMap) -> [(name: String, title: String)] {
        (panel["values"]?.list ?? ValueList()).compactMap { each -> (name: String, title: String)? in
            guard let name = text(each.map?["value"] ?? each) else { return nil }
            let last = name.split(separator: ".").last ?? ""
            return (name: name, title: text(each.map?["title"]) ?? DashText.spellOut(String(last)))
        }
    }

    /// The attributes of a node that get a card if there is no panel.
    private static func shownNames(of node: DashNode) -> [String] {
        let names = Set(node.attributes.map(\.name))
        let isView = node.component != nil || node.children?.isEmpty ?? true
        if isView, names.contains("percent") { return ["percent"] }
        let hasGauge = node.children?.contains { $0.id == "gauge" } ?? false
        let hasList = node.children?.contains { $0.kind == "forEach" } ?? false
        return node.attributes.compactMap { name, attribute in
            if ["clock", "inherit"].contains(attribute.kind) { return nil }
            if attribute.kind == "binding", attribute.type == "dyn" { return nil }
            if ["index", "elements", "cards", "severity"].contains(name) { return nil }
            if name == "percent", hasGauge { return nil }
            if attribute.type.hasPrefix("list"), attribute.kind == "state", hasList { return nil }
            if name == "isStale", names.contains("status") { return nil }
            // Unprocessed values of a feeder are only inputs of rules.
            let isRaw = ["map", "list", "dyn"].contains { attribute.type.hasPrefix($0) }
            return attribute.isTransient && isRaw && names.count > 2 ? nil : name
        }
    }

    /// True if panels describe the cards below a node.
    private mutating func arranges(_ node: DashNode, depth: Int = 0) -> Bool {
        if let known = arranging[node.path] { return known }
        if depth > DashBoard.mostDepth { return false }
        var isSo = node["cards"] != nil
        for entry in isSo ? [] : entries(of: node) {
            let describes = entry.panel.keys.contains { $0 != "hidden" && $0 != "title" }
            if describes || entry.node.children != nil && arranges(entry.node, depth: depth + 1) {
                isSo = true
                break
            }
        }
        arranging[node.path] = isSo
        return isSo
    }

    /// A row for each subview below a container.
    private func table(of node: DashNode, _ panel: ValueMap) -> DashCard.Rows {
        var views: [DashNode] = []
        var pending = Array((node.children ?? []).reversed())
        while let next = pending.popLast() {
            if next.isTransparent { pending += (next.children ?? []).reversed() } else { views.append(next) }
        }
        var columns = panel["columns"]?.list?.compactMap(\.string) ?? []
        if columns.isEmpty {
            for view in views {
                for (name, attribute) in view.attributes where columns.count < 6 && !columns.contains(name) {
                    // The element of a list is a binding or a value without a rule. The view says what to show of it.
                    let isElement =
                        attribute.type == "dyn"
                        && (attribute.kind == "binding" || attribute.kind == "let" && !attribute.hasRule)
                    if name != "index", !["clock", "action"].contains(attribute.kind), !isElement {
                        columns.append(name)
                    }
                }
            }
        }
        return DashCard.Rows(columns: columns, views: views.map { ($0.id, $0.path) })
    }
}
