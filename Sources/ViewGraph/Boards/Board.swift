import AttributeGraph
import AttributeValues
import SceneModel

/// The cards of a part of the tree, in rows: what the page and `agctl dash` show. Containers are rows, the container
/// value `panel` describes a card, and a node without one gets cards that suit its attributes.
struct Board {
    static let mostNodes = 20_000
    static let mostCards = 500
    static let stepsPerNode = 10
    static let stepsPerAttribute = 2
    /// The number of containers whose subviews are read. Further ones show their cards in the order of the tree.
    private static let mostContainers = 200
    /// Maximum depth below a container.
    private static let mostDepth = 100
    private static let mostColumns = 6
    private static let mostRows = 100

    private struct Row {
        var key: String
        /// nil for the first row of a board.
        var title: String?
        var node: BoardNode
        var panel = ValueMap()
        var isFeatured = false
        var cards: [BoardCard] = []
    }

    /// A direct subview of a container.
    private struct Entry {
        var node: BoardNode
        var panel = ValueMap()
        var values = ValueMap()
        var section: BoardNode?

        var isContainer: Bool { node.hasChildren && panel["value"] == nil && panel["values"] == nil }
    }

    private let description: Description
    fileprivate let tree: BoardTree
    private var rows: [Row] = []
    /// The subviews of containers, by path.
    private var entries: [Name: [Entry]] = [:]
    private var containersRead = 0
    /// True if panels describe the cards below a node, by path.
    private var arranging: [Name: Bool] = [:]
    /// The attributes that were read: another value of them may change the cards.
    private var read: Set<Name> = []
    /// True if the client may put a layer at the root that says other panels.
    private let isEditable: Bool
    /// The nodes whose panels such a layer can say.
    private var editable: Set<Name> = []

    fileprivate init(
        _ description: Description, at row: NodeRow, isWhole: Bool = true, isEditable: Bool = false
    ) throws(Failure) {
        self.description = description
        self.isEditable = isEditable
        tree = try BoardTree(description, at: row, isWhole: isWhole)
    }

    private var graph: Wiring { description.graph }

    // MARK: Answers

    /// `{root, title, rows: [{key, title, heading, node, cards: […]}], omitted, layout}`.
    fileprivate mutating func value() -> ValueMap {
        addRows(of: tree.root, key: "", title: nil, prefix: "")
        moveCards()
        rows.removeAll { $0.cards.isEmpty }
        var left = Board.mostCards
        var omitted = 0
        var list: [Value] = []
        for row in rows {
            let cards = Board.placed(row.cards, \.position).prefix(left).map(\.value)
            omitted += row.cards.count - cards.count
            left -= cards.count
            guard !cards.isEmpty else { continue }
            var map = ValueMap([
                ("key", .string(row.key)), ("node", .string(row.node.path)),
                ("heading", .string(row.title ?? title(of: row.node))), ("cards", .list(ValueList(cards))),
            ])
            if let title = row.title { map["title"] = .string(title) }
            if row.isFeatured { map["isFeatured"] = true }
            if row.panel["width"] == "full" { map["isFull"] = true }
            if editable.contains(Name(row.key)) { map["isEditable"] = true }
            if let position = BoardCard.position(row.panel) { map["position"] = .int(Int64(position)) }
            for name in ["columns", "height"] {
                if let count = row.panel[.string(name)]?.number, count >= 1, count <= 12 {
                    map[.string(name)] = .int(Int64(count))
                }
            }
            list.append(.map(map))
        }
        let title = title(of: tree.root)
        var answer = ValueMap([
            ("root", .string(tree.root.path)), ("title", .string(title)), ("rows", .list(ValueList(list))),
            ("omitted", .int(Int64(omitted))), ("layout", .list(ValueList(read.map { .string($0.text) }))),
            ("boards", .list(ValueList(boards()))),
        ])
        if isEditable { answer["isEditable"] = true }
        return answer
    }

    /// Moves cards into the sections that their panels name. Featured ones stay in their row.
    private mutating func moveCards() {
        let ordinary = rows.indices.filter { !rows[$0].isFeatured }
        let positions = Dictionary(
            ordinary.map { (Name(rows[$0].key.isEmpty ? tree.root.path : rows[$0].key), $0) },
            uniquingKeysWith: { first, _ in first })
        var moved: [Int: [BoardCard]] = [:]
        for position in ordinary {
            rows[position].cards.removeAll { card in
                guard let section = card.section, let target = positions[Name(section)], target != position else {
                    return false
                }
                moved[target, default: []].append(card)
                return true
            }
        }
        for (position, cards) in moved { rows[position].cards += cards }
    }

    /// Puts those with a position at this place, counted from 1. The others keep their order.
    private static func placed<Item>(_ items: [Item], _ position: (Item) -> Int?) -> [Item] {
        var placed = items.filter { position($0) == nil }
        // The last of those with the same position is inserted first.
        let others = items.reversed().compactMap { item in position(item).map { (position: $0, item: item) } }
            .sorted { $0.position < $1.position }
        for (position, item) in others { placed.insert(item, at: min(position - 1, placed.count)) }
        return placed
    }

    /// The boards of the whole tree: the nodes at its top that contain cards.
    private mutating func boards() -> [Value] {
        graph.nodes.visibleChildren(of: .root).filter { row in
            !graph.nodes.visibleChildren(of: row).isEmpty && graph.isVisible(node: row)
        }.map { row in
            let id = graph.nodes[row].id.text
            let given = graph.allAttributes(of: row).first { $0.name == "title" }?.attribute
            let isCards = graph.nodes[row].definition.component == "Cards"
            let isTold = isCards && given.map { graph.isVisible($0) } == true
            let title = isTold ? given.flatMap { graph.content(of: $0).value?.string } : nil
            return [
                "path": .string(graph.nodes.path(of: row)),
                "title": .string(title.flatMap { $0.isEmpty ? nil : $0 } ?? Words.of(id)),
            ]
        }
    }

    // MARK: Rows

    private mutating func addRows(of node: BoardNode, key: String, title: String?, prefix: String) {
        var featured: [BoardCard] = []
        let loose = rows.count
        // The environment of the whole graph is no part of a board.
        let own = node.path == "/" ? [] : cards(of: node, ValueMap(), self.title(of: node), isRoot: true)
        rows.append(Row(key: key, title: title, node: node, cards: own))
        let entries = entries(of: node)
        // The rows of a section or of a board inside this one belong together.
        var groups: [(start: Int, position: Int?)] = []
        for entry in entries where entry.panel["hidden"] != true {
            let count = rows.count
            defer { if rows.count > count { groups.append((count, BoardCard.position(entry.panel))) } }
            let name = self.title(of: entry.node)
            let title = text(entry.panel["title"]) ?? text(entry.values["title"]) ?? name
            if let section = entry.section {
                let cards = allCards(of: entry.node, entry.panel, title, &featured)
                if let position = rows.firstIndex(where: { $0.key.hasSameBytes(as: section.path) }) {
                    rows[position].cards += cards
                } else {
                    rows.append(
                        Row(key: section.path, title: prefix + heading(of: section), node: section, cards: cards))
                }
            } else if entry.isContainer {
                let isCard = entry.panel["kind"] != nil
                let heading = isCard ? text(entry.values["title"]) ?? name : title
                var panel = entry.panel
                if !isCard {
                    for name in ["title", "columns", "width", "height", "position"] { panel[.string(name)] = nil }
                }
                // Several boards stand below each other, with rows of their own. So does one that is alone.
                let isBoard = key.isEmpty && (tree.root.path == "/" || entries.count == 1) && !isCard
                if isBoard && hasRows(entry.node) {
                    addRows(of: entry.node, key: entry.node.path, title: heading, prefix: "\(heading) · ")
                } else {
                    let cards = allCards(of: entry.node, panel, heading, &featured)
                    rows.append(
                        Row(
                            key: entry.node.path, title: prefix + heading, node: entry.node,
                            panel: isCard ? ValueMap() : entry.panel, cards: cards))
                }
            } else {
                rows[loose].cards += allCards(of: entry.node, entry.panel, title, &featured)
            }
        }
        if let first = groups.first?.start {
            let ends = groups.dropFirst().map(\.start) + [rows.count]
            let all = zip(groups, ends).map { (rows: rows[$0.start..<$1], position: $0.position) }
            rows.replaceSubrange(first..., with: Board.placed(all, \.position).flatMap(\.rows))
        }
        guard !featured.isEmpty else { return }
        rows.insert(
            Row(key: "\(key) featured", title: title, node: node, isFeatured: true, cards: featured), at: loose)
        // The name of the board stands once.
        rows[loose + 1].title = nil
    }

    /// True if a node contains containers of cards.
    private mutating func hasRows(_ node: BoardNode) -> Bool {
        entries(of: node).contains { $0.isContainer && $0.panel["kind"] == nil && $0.panel["hidden"] != true }
    }

    private func text(_ value: Value?) -> String? {
        guard let text = value?.string, !text.isEmpty else { return nil }
        return text
    }

    /// The title of a `Cards`, or a name made of the node's id.
    private mutating func title(of node: BoardNode) -> String {
        if node.component == "Cards" || node === tree.root, let title = text(content(of: node, "title")) {
            return title
        }
        return node.id.isEmpty ? "agd" : Words.of(node.id)
    }

    private mutating func heading(of section: BoardNode) -> String {
        let header = section.children?.first { $0["text"] != nil }
        return header.flatMap { text(content(of: $0, "text")) } ?? Words.of(section.id)
    }

    /// The value of an attribute that decides about cards; nil if there is none.
    private mutating func content(of node: BoardNode, _ name: String) -> Value? {
        guard let attribute = node[name] else { return nil }
        read.insert(Name(node.place(of: name)))
        return graph.content(of: attribute.vertex).value
    }

    /// The direct subviews of a container, in the order of its rule.
    private mutating func entries(of node: BoardNode) -> [Entry] {
        if let known = entries[Name(node.path)] { return known }
        let found = readEntries(of: node) ?? (node.children ?? []).map { Entry(node: $0) }
        entries[Name(node.path)] = found
        return found
    }

    private mutating func readEntries(of node: BoardNode) -> [Entry]? {
        guard let given = content(of: node, "cards")?.list ?? subviews(of: node) else { return nil }
        return given.compactMap { (each: Value) -> Entry? in
            guard let id = each.map?["id"]?.string, let found = tree.subview(id, of: node) else { return nil }
            let values = each.map?["containerValues"]?.map ?? ValueMap()
            let panel = each.map?["panel"]?.map ?? values["panel"]?.map ?? ValueMap()
            if isEditable, !isMadeFromData(found) { editable.insert(Name(found.path)) }
            return Entry(node: found, panel: panel, values: values, section: section(of: node, around: found))
        }
    }

    /// The subviews of a container without a rule for its cards.
    private mutating func subviews(of node: BoardNode) -> ValueList? {
        // A component that shows other nodes inside its body shows the body itself.
        let isAsked = node.children != nil && !node.isTransparent && !(node.component != nil && node.hasPlaces)
        guard isAsked, containersRead < Board.mostContainers else { return nil }
        containersRead += 1
        // A view, or the root of the tree, has children without container values.
        let rule = RuleText("subviews", ValueMap(), in: graph)
        guard let content = try? rule.evaluate(at: graph.nodes.nodeID(node.row)) else { return nil }
        return content.value?.list
    }

    /// True if a list or a condition has made the node or one around it. Documents do not reach it.
    private func isMadeFromData(_ node: BoardNode) -> Bool {
        var row = node.row
        while row != tree.root.row, row != .root {
            row = graph.nodes[row].parent
            if graph.nodes[row].kind.isMadeFromData { return true }
        }
        return false
    }

    /// The innermost section of a container that contains a subview.
    private func section(of container: BoardNode, around subview: BoardNode) -> BoardNode? {
        var section: BoardNode?
        var at = subview.parent
        while let node = at {
            if node === container { return section }
            if node.kind == .section, section == nil { section = node }
            at = node.parent
        }
        return nil
    }

    // MARK: Cards

    /// The cards of a view and of everything below it. Featured ones are set apart.
    private mutating func allCards(
        of node: BoardNode, _ panel: ValueMap, _ title: String, _ featured: inout [BoardCard], depth: Int = 0
    ) -> [BoardCard] {
        if panel["hidden"] == true || depth > Board.mostDepth { return [] }
        var found = cards(of: node, panel, title)
        if editable.contains(Name(node.path)) { for position in found.indices { found[position].isEditable = true } }
        if panel["kind"] != "table", panel["kind"] != "list", node.children != nil {
            for entry in entries(of: node) {
                let name = entry.node.id == "gauge" ? title : self.title(of: entry.node)
                let own = text(entry.panel["title"]) ?? text(entry.values["title"]) ?? name
                found += allCards(of: entry.node, entry.panel, own, &featured, depth: depth + 1)
            }
        }
        guard panel["featured"] == true else { return found }
        featured += found
        return []
    }

    private mutating func cards(of node: BoardNode, _ panel: ValueMap, _ title: String, isRoot: Bool = false)
        -> [BoardCard]
    {
        let value = text(panel["value"])
        let shown = text(panel["title"]) ?? title
        if panel["kind"] == "table" || panel["kind"] == "list", value == nil, node.children != nil {
            let kind: BoardCard.Kind = panel["kind"] == "table" ? .table : .list
            var card = BoardCard(node, node.path, kind, inUnits(panel, of: node), shown)
            card.rows = table(of: node, panel)
            return [card]
        }
        if value == nil, panel["kind"] == "markdown" {
            var card = BoardCard(node, node.path, .markdown, panel, shown)
            addParts(to: &card, node, panel["text"]?.string)
            if panel["text"]?.string == nil { card.fault = "A card of the kind markdown needs a text or a value." }
            return [card]
        }
        if value == nil, panel["link"] != nil { return [BoardCard(node, node.path, .link, panel, shown)] }
        if value == nil, panel["values"] != nil { return [severalValues(of: node, panel, shown)] }
        // A node that arranges cards has none of its own.
        if value == nil, node.children != nil, arranges(node) { return [] }
        if let value { return [card(of: node, value, panel, shown)] }
        let attributes = Board.shownAttributes(of: node)
        let isAlone = attributes.count == 1 && node.children == nil
        let isLabelled = isRoot || node.children != nil
        return attributes.compactMap { attribute in
            let name = attribute.name
            let own = isLabelled ? Words.of(name) : "\(title): \(Words.inside(name))"
            var plain = panel["cards"]?.map?[.string(name)]?.map ?? ValueMap()
            if plain["hidden"] == true { return nil }
            plain["kind"] = plain["kind"] ?? panel["kind"]
            let title = text(plain["title"]) ?? (isAlone || name == "percent" ? shown : own)
            var card = card(of: node, name, plain, title)
            card.isAutomatic = true
            return card
        }.sorted { $0.kind.rank < $1.kind.rank }
    }

    /// The card of an attribute, or of a part of its value.
    fileprivate mutating func card(of node: BoardNode, _ name: String, _ panel: ValueMap, _ title: String) -> BoardCard
    {
        let place = node.find(name)
        guard let attribute = place.attribute else {
            var card = BoardCard(node, place.path, .value, panel, title)
            card.fault = place.fault
            return card
        }
        var kind = panel["kind"]?.string.map { BoardCard.Kind(panel: $0) } ?? BoardCard.Kind(attribute)
        let isAction = attribute.kind == .action && kind == .button
        if kind.isControl, !attribute.isWritable, !isAction { kind = .value }
        var card = BoardCard(node, place.path, kind, inUnits(panel, of: node), title)
        card.type = place.type
        if !card.hasLevels { card.status = status(of: node, kind) }
        for member in kind.parts {
            if let name = text(panel[member]) { addPart(to: &card, member, node.find(name)) }
        }
        // The text is read here only for the attributes that it names.
        if kind == .markdown, place.isWhole {
            let text = content(of: node, name)?.string
            addParts(to: &card, node, text)
        }
        return card
    }

    private func addPart(to card: inout BoardCard, _ name: Value, _ place: BoardNode.Place) {
        guard let attribute = place.attribute else {
            card.fault = card.fault ?? place.fault
            return
        }
        card.parts[name] = [
            "path": .string(place.path), "type": .string(place.type), "isWritable": .bool(attribute.isWritable),
        ]
    }

    /// Adds the attributes that a text names: `{name}`, or `{episode.title}` for a part of a value.
    private func addParts(to card: inout BoardCard, _ node: BoardNode, _ text: String?) {
        for name in Placeholders.names(in: text ?? "") where card.parts[.string(name)] == nil {
            addPart(to: &card, .string(name), node.find(name))
        }
    }

    /// The card of several attributes of one node, or of parts of their values.
    private mutating func severalValues(of node: BoardNode, _ panel: ValueMap, _ title: String) -> BoardCard {
        var series: [Value] = []
        var fault: String?
        var hasTexts = false
        for each in panel["values"]?.list ?? [] {
            guard let name = each.string ?? each.map?["value"]?.string else { continue }
            let place = node.find(name)
            guard let attribute = place.attribute else {
                fault = fault ?? place.fault
                continue
            }
            hasTexts = hasTexts || place.isWhole && ["bool", "string"].contains(attribute.plainType)
            let last = name.split(separator: ".").last.map(String.init) ?? name
            var map = ValueMap([
                ("path", .string(place.path)), ("title", .string(text(each.map?["title"]) ?? Words.of(last))),
            ])
            map["tint"] = each.map?["tint"]
            series.append(.map(map))
        }
        let kind = panel["kind"]?.string.map { BoardCard.Kind(panel: $0) } ?? (hasTexts ? .timeline : .chart)
        if series.isEmpty { fault = fault ?? "values of the panel of \(node.path) must be a list of attributes." }
        if kind != .chart, kind != .timeline {
            fault = fault ?? "A \(kind.rawValue) shows one value. Several need the kind line or timeline."
        }
        let path = series.first?.map?["path"]?.string ?? node.path
        var card = BoardCard(node, path, fault == nil ? kind : .value, inUnits(panel, of: node), title)
        card.fault = fault
        if fault == nil { card.series = series }
        return card
    }

    /// A panel with its numbers in the units of the people who see the card.
    private mutating func inUnits(_ panel: ValueMap, of node: BoardNode) -> ValueMap {
        let hasUnits = panel["unit"] != nil || panel["formats"] != nil
        guard hasUnits, panel["conversion"] == nil, let system = units(of: node, panel) else { return panel }
        return system.convert(panel).changingFormats(system.convert)
    }

    /// The panel decides about units, then the environment, then the country of the language; nil leaves them as they
    /// are.
    private mutating func units(of node: BoardNode, _ panel: ValueMap) -> Units? {
        if let name = panel["units"]?.string { return Units(rawValue: name) }
        var at: BoardNode? = node
        while let each = at {
            if let name = content(of: each, "units")?.string { return Units(rawValue: name) }
            if let locale = content(of: each, "locale")?.string { return Units(locale: locale) }
            at = each.parent
        }
        return nil
    }

    /// A status colours the cards of its node. Values below a stale node are stale, too, unless a status nearer to them
    /// says more.
    private func status(of node: BoardNode, _ kind: BoardCard.Kind) -> (path: String, isOwn: Bool)? {
        var at: BoardNode? = node
        while let each = at {
            if each["status"] != nil {
                let isOwn = each === node
                return isOwn && !kind.showsStatus ? nil : (each.place(of: "status"), isOwn)
            }
            at = each.parent
        }
        return nil
    }

    /// The attributes of a node that get a card if there is no panel.
    private static func shownAttributes(of node: BoardNode) -> [BoardNode.Attribute] {
        let isView = node.component != nil || !node.hasChildren
        if isView, let percent = node["percent"] { return [percent] }
        let hasGauge = node.children?.contains { $0.id == "gauge" } ?? false
        let hasList = node.children?.contains { $0.kind == .forEach } ?? false
        return node.attributes.filter { attribute in
            let name = attribute.name
            if [.clock, .inherit].contains(attribute.kind) { return false }
            if attribute.kind == .binding, attribute.type == "dyn" { return false }
            if ["index", "elements", "cards", "severity"].contains(name) { return false }
            if name == "percent", hasGauge { return false }
            if attribute.type.hasPrefix("list"), attribute.kind == .state, hasList { return false }
            if name == "isStale", node["status"] != nil { return false }
            // Unprocessed values of a feeder are only inputs of rules.
            let isRaw = ["map", "list", "dyn"].contains { attribute.type.hasPrefix($0) }
            return !(attribute.isTransient && isRaw && node.attributes.count > 2)
        }
    }

    /// True if panels describe the cards below a node.
    private mutating func arranges(_ node: BoardNode, depth: Int = 0) -> Bool {
        if let known = arranging[Name(node.path)] { return known }
        if depth > Board.mostDepth { return false }
        var isSo = node["cards"] != nil
        for entry in isSo ? [] : entries(of: node) {
            let describes =
                entry.panel["extra"] != true
                && entry.panel.keys.contains { !["hidden", "title", "position", "cards"].contains($0) }
            if describes || entry.node.children != nil && arranges(entry.node, depth: depth + 1) {
                isSo = true
                break
            }
        }
        arranging[Name(node.path)] = isSo
        return isSo
    }

    /// `{columns, views: [{id, path}], more}`: a row for each subview below a container.
    private func table(of node: BoardNode, _ panel: ValueMap) -> Value {
        var views: [BoardNode] = []
        var pending = Array((node.children ?? []).reversed())
        while let next = pending.popLast() {
            if next.isTransparent { pending += (next.children ?? []).reversed() } else { views.append(next) }
        }
        var columns = panel["columns"]?.list?.compactMap(\.string) ?? []
        if columns.isEmpty {
            for view in views {
                for attribute in view.attributes
                where columns.count < Board.mostColumns && !columns.contains(attribute.name) {
                    let isHidden = [.clock, .action].contains(attribute.kind) || attribute.isElement
                    if attribute.name != "index", !isHidden { columns.append(attribute.name) }
                }
            }
        }
        let shown = views.prefix(Board.mostRows)
        return [
            "columns": .list(ValueList(columns.map { .string($0) })),
            "views": .list(ValueList(shown.map { ["id": .string($0.id), "path": .string($0.path)] })),
            "more": .int(Int64(views.count - shown.count)),
        ]
    }
}

extension Description {
    /// The board of a node. A tree with a single node at its top has the board of this node.
    /// - Parameter mayDefine: true if the client may define at a node and below it.
    public func board(of node: NodeID, mayDefine: ([Name]) -> Bool) throws(Failure) -> ValueMap {
        let children = node == .root ? graph.nodes.visibleChildren(of: node.row) : []
        let row = children.count == 1 ? children[0] : node.row
        let hasPanels = graph.declarations.container["panel"] != nil
        var board = try Board(self, at: row, isEditable: hasPanels && mayDefine(graph.nodes.ids(of: row)))
        return board.value()
    }

    /// The card of an attribute, or of a part of its value, with the panel that is given.
    public func card(at path: AttributePath, _ panel: ValueMap) throws(Failure) -> Value {
        _ = try graph.locate(AttributePath(nodes: path.nodes, attribute: path.attribute))
        var board = try Board(self, at: try graph.node(at: path.nodes).row, isWhole: false)
        let name = (path.attribute ?? "") + path.steps.map(\.description).joined()
        return board.card(of: board.tree.root, name, panel, panel["title"]?.string ?? Words.of(name)).value
    }
}
