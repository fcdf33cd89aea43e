import AttributeValues

/// Describes one card: what it shows, and how.
struct BoardCard {
    /// The kinds of cards, by their names in answers. Scenes may also use the names of `aliases`.
    enum Kind: String {
        // Without panels, cards stand in this order: displays first, then controls, then lists.
        case status, gauge, bar, sparkline, value, chart, toggle, field, color, button, table, list
        case slider, stepper, picker, thermostat, light, image, text, markdown, log, timeline, link, unknown

        private static let aliases: [String: Kind] = ["colour": .color, "line": .chart, "textField": .field]

        /// The kind with a name in scenes; `unknown` if there is none.
        init(panel name: String) { self = Kind.aliases[name] ?? Kind(rawValue: name) ?? .unknown }

        /// The kind that suits an attribute.
        init(_ attribute: BoardNode.Attribute) {
            let type = attribute.plainType
            self =
                switch true {
                case attribute.kind == .action: .button
                case attribute.name == "percent": .bar
                case attribute.name == "status": .status
                case type == "bool": attribute.isWritable ? .toggle : .value
                case attribute.isNumber: .sparkline
                case type == "color": .color
                case type.hasPrefix("map"): .table
                case type.hasPrefix("list"): .list
                case type == "string": attribute.isWritable ? .field : .value
                default: .value
                }
        }

        var isControl: Bool {
            [.toggle, .slider, .stepper, .field, .picker, .button, .thermostat, .light].contains(self)
        }

        /// The members of a panel that name further attributes of the card.
        var parts: [Value] {
            switch self {
            case .thermostat: ["current", "active", "switch"]
            case .light: ["level"]
            default: []
            }
        }

        /// The columns of a card without a `span`.
        var span: Int64 { [.chart, .timeline, .table, .list, .log, .text, .markdown].contains(self) ? 2 : 1 }

        /// Kinds that show the status of their node.
        var showsStatus: Bool { [.bar, .gauge, .status, .sparkline].contains(self) }

        var rank: Int { Kind.order.firstIndex(of: self) ?? Kind.order.count }

        private static let order: [Kind] = [
            .status, .gauge, .bar, .sparkline, .value, .chart, .toggle, .field, .color, .button, .table, .list,
        ]
    }

    /// The path of the attribute, or of a part of its value.
    let path: String
    let node: String
    let kind: Kind
    private let panel: ValueMap
    private let title: String
    var type = "dyn"
    /// The attribute that gives its status; nil if thresholds do, or nothing does.
    var status: (path: String, isOwn: Bool)?
    /// `{path, title, tint?}` of each value of a chart with several.
    var series: [Value] = []
    /// `{path, type, isWritable}` of further attributes, by the member of the panel or the name in a text.
    var parts = ValueMap()
    /// The rows of a table of subviews.
    var rows: Value?
    /// Why there is nothing to show.
    var fault: String?
    /// True if a layer at the root of the board can say another panel.
    var isEditable = false
    /// True if the node has no panel for this attribute: `cards` of its panel can say something of it.
    var isAutomatic = false

    init(_ node: BoardNode, _ path: String, _ kind: Kind, _ panel: ValueMap, _ title: String) {
        (self.node, self.path, self.kind, self.title) = (node.path, path, kind, title)
        var panel = panel
        if kind == .bar || kind == .gauge, panel["unit"] == nil, panel["max"] == nil, panel["format"] == nil {
            panel["unit"] = "%"
        }
        self.panel = panel.changingFormats(BoardCard.column)
        if kind == .unknown {
            fault = "There is no card of the kind \(panel["kind"]?.jsonText ?? "")."
        } else if let link = panel["link"], !BoardCard.mayLink(to: link) {
            fault = "A link is the path of a node, or an address that begins with https://."
        }
    }

    private static func mayLink(to link: Value) -> Bool {
        guard let text = link.string else { return false }
        return ["/", "https://", "http://"].contains { text.hasPrefix($0) } && !text.hasPrefix("//")
    }

    /// True if thresholds of the panel give the status.
    var hasLevels: Bool { !levels.isEmpty }

    /// The thresholds, the worst one last. Values that must not fall have `to`, others `from`.
    private var levels: [Value] { BoardCard.levels(panel) }

    private static func levels(_ panel: ValueMap) -> [Value] {
        let limits = ["warn", "critical"].compactMap { name in panel[.string(name)]?.number.map { (name, $0) } }
        let isFalling = limits.count == 2 && limits[1].1 < limits[0].1
        return limits.map { name, limit in [isFalling ? "to" : "from": .double(limit), "status": .string(name)] }
    }

    /// How a column of a table is shown: its format, with the ends of its bars and its thresholds.
    private static func column(_ format: ValueMap) -> ValueMap {
        var format = format
        if format["bar"] == true {
            format["min"] = format["min"] ?? 0
            // Without an end, the greatest value of the column fills its bar.
            let end: Value? = format["format"] == "percent" ? 1 : format["unit"] == "%" ? 100 : nil
            format["max"] = format["max"] ?? end
        }
        if case let levels = levels(format), !levels.isEmpty { format["levels"] = .list(ValueList(levels)) }
        return format
    }

    /// The order of the rows of a table: `size`, or `-size` with the greatest first.
    private var sort: Value? {
        guard let text = panel["sort"]?.string, text != "", text != "-" else { return nil }
        let isDescending = text.hasPrefix("-")
        return [
            "column": .string(isDescending ? String(text.dropFirst()) : text), "isDescending": .bool(isDescending),
        ]
    }

    /// The place of a card in its section, or of a section in its board, from 1; nil lets the order of the tree decide.
    var position: Int? { BoardCard.position(panel) }

    /// The path of the section in which the card stands, if not in that of its node.
    var section: String? { panel["section"]?.string }

    static func position(_ panel: ValueMap) -> Int? {
        guard let place = panel["position"]?.number, place >= 1, place <= Double(Board.mostNodes) else { return nil }
        return Int(place)
    }

    private func whole(_ name: String, _ range: ClosedRange<Double>) -> Int64? {
        panel[.string(name)]?.number.map { Int64(min(range.upperBound, max(range.lowerBound, $0.isNaN ? 1 : $0))) }
    }

    /// As `board` answers it.
    var value: Value {
        var map = ValueMap([
            ("path", .string(path)), ("node", .string(node)), ("kind", .string(kind.rawValue)),
            ("title", .string(title)), ("type", .string(type)), ("panel", .map(panel)),
            ("span", .int(whole("span", 1...4) ?? kind.span)),
        ])
        if panel["width"] == "full" { map["isFull"] = true }
        if let height = whole("height", 1...6) { map["height"] = .int(height) }
        if isEditable {
            map["isEditable"] = true
            if isAutomatic { map["isAutomatic"] = true }
        }
        if case let levels = levels, !levels.isEmpty { map["levels"] = .list(ValueList(levels)) }
        if let status {
            map["status"] = ["path": .string(status.path), "isOwn": .bool(status.isOwn)]
        }
        if !series.isEmpty { map["series"] = .list(ValueList(series)) }
        if !parts.isEmpty { map["parts"] = .map(parts) }
        if let rows { map["rows"] = rows }
        if let sort { map["sort"] = sort }
        if let fault { map["fault"] = .string(fault) }
        return .map(map)
    }
}

extension ValueMap {
    /// The panel with other formats of its columns.
    func changingFormats(_ change: (ValueMap) -> ValueMap) -> ValueMap {
        guard let formats = self["formats"]?.map else { return self }
        var changed = formats
        for (column, format) in formats {
            if let format = format.map { changed[column] = .map(change(format)) }
        }
        var panel = self
        panel["formats"] = .map(changed)
        return panel
    }
}
