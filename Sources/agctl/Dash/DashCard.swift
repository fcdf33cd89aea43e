import AttributeValues

/// The description of one card: what it shows, and how.
struct DashCard {
    enum Kind: String {
        case value, sparkline, chart, bar, gauge, status, toggle, slider, stepper, field, picker, button, color, image
        case text, table, list, log, link, thermostat, light, markdown, unknown
    }

    /// A table of subviews.
    struct Rows {
        var columns: [String]
        var views: [(id: String, path: String)]
        /// Views that are left out.
        var more = 0
    }

    /// The path of the attribute, or of a part of its value.
    var path: String
    var kind: Kind
    var panel: ValueMap
    var title: String
    var isInteger = false
    /// Columns, 1 to 4.
    var span = 1
    var rows: Rows?
    /// Further attributes, by the member of the panel or the name in a text.
    var parts: [String: (path: String, isInteger: Bool)] = [:]
    /// The order of the rows of a table.
    var sort: (column: String, isDescending: Bool)?
    /// The reason why there is nothing to show.
    var fault: String?
    /// The attribute that gives the status. If it belongs to another node, it only tells that the value is stale.
    var statusSource: (path: String, isOwn: Bool)?
    /// The thresholds, the worst one last.
    var levels: [Level] = []

    /// - Parameter map: a card of the answer of `board`.
    init(_ map: ValueMap) {
        path = map["path"]?.string ?? ""
        // A terminal shows the present state of a timeline.
        kind = map["kind"] == "timeline" ? .value : map["kind"]?.string.flatMap(Kind.init) ?? .unknown
        panel = map["panel"]?.map ?? ValueMap()
        title = map["title"]?.string?.printable ?? ""
        isInteger = map["type"] == "int" || map["type"] == "int?"
        span = map["span"]?.number.map { Int($0) } ?? 1
        fault = map["fault"]?.string?.printable
        if let status = map["status"]?.map, let path = status["path"]?.string {
            statusSource = (path, status["isOwn"] == true)
        }
        levels = DashCard.levels(map["levels"])
        for (name, part) in map["parts"]?.map ?? ValueMap() {
            guard let name = name.string, let path = part.map?["path"]?.string else { continue }
            parts[name] = (path, part.map?["type"] == "int")
        }
        if let sort = map["sort"]?.map, let column = sort["column"]?.string {
            self.sort = (column, sort["isDescending"] == true)
        }
        if let rows = map["rows"]?.map {
            self.rows = Rows(
                columns: (rows["columns"]?.list ?? []).compactMap(\.string),
                views: (rows["views"]?.list ?? []).compactMap(\.map).map {
                    ($0["id"]?.string ?? "", $0["path"]?.string ?? "")
                }, more: rows["more"]?.number.map { Int($0) } ?? 0)
        }
    }

    /// A card of the answer of `board`; several if it shows several values, because a terminal shows each apart.
    static func cards(_ map: ValueMap) -> [DashCard] {
        let card = DashCard(map)
        guard let series = map["series"]?.list else { return [card] }
        return series.compactMap(\.map).map { one in
            var each = card
            each.path = one["path"]?.string ?? ""
            each.title = "\(card.title): \(one["title"]?.string?.printable ?? "")"
            return each
        }
    }

    /// The card of a further attribute.
    func part(_ name: String) -> DashCard? {
        guard let found = parts[name] else { return nil }
        var part = self
        (part.path, part.isInteger) = found
        part.parts = [:]
        return part
    }

    /// The card whose number the keys + and - change; nil if there is none.
    var stepped: DashCard? {
        switch kind {
        case .slider, .stepper, .thermostat: self
        case .light: part("level")
        default: nil
        }
    }

    /// The attribute that the daemon reports, and the steps from its value to the shown part.
    var source: (attribute: String, steps: [AttributePath.Step]) {
        guard let place = try? AttributePath(path), !place.steps.isEmpty else { return (path, []) }
        return (AttributePath(nodes: place.nodes, attribute: place.attribute).description, place.steps)
    }

    /// The ends of a gauge, bar or slider.
    var scale: (least: Double, most: Double) {
        let isThermostat = kind == .thermostat
        let most = panel["max"]?.number ?? (panel["format"] == "percent" ? 1 : isThermostat ? 30 : 100)
        return (panel["min"]?.number ?? (isThermostat ? 5 : 0), most)
    }

    /// The size of a step of a slider or stepper.
    var step: Double {
        if let step = panel["step"]?.number { return step }
        if kind == .thermostat { return 0.5 }
        return kind == .stepper || isInteger ? 1 : (scale.most - scale.least) / 20
    }

    /// The seconds that a line shows.
    var window: Double { min(86_400, max(1, panel["window"]?.number ?? (kind == .chart ? 300 : 60))) }

    /// The value of an action tells its parameters.
    static func isAction(_ value: Value?) -> Bool { value?.map?["parameters"]?.map != nil }

    /// Parameters without a default, from the value of an action.
    static func missing(_ action: Value?) -> [String] {
        (action?.map?["parameters"]?.map ?? ValueMap()).compactMap { name, parameter in
            parameter.map?["default"] == nil ? name.string : nil
        }
    }

    /// The choices of a picker.
    var options: [(value: Value, title: String)] {
        switch panel["options"] {
        case .list(let list)?:
            list.map { each in
                if let map = each.map, let value = map["value"] {
                    return (value, map["title"].map { DashText.plain($0) } ?? DashText.plain(value))
                }
                return (each, DashText.plain(each))
            }
        case .map(let map)?: map.map { ($0.key, DashText.plain($0.value)) }
        default: []
        }
    }

    /// The status according to the thresholds; nil without thresholds.
    func status(of number: Double) -> String? { DashCard.status(of: number, levels) }

    typealias Level = (limit: Double, isFalling: Bool, status: String)

    static func status(of number: Double, _ levels: [Level]) -> String? {
        if levels.isEmpty { return nil }
        return levels.last { $0.isFalling ? number <= $0.limit : number >= $0.limit }?.status ?? "ok"
    }

    static func levels(_ given: Value?) -> [Level] {
        (given?.list ?? []).compactMap(\.map).compactMap { level in
            guard let status = level["status"]?.string, let limit = (level["from"] ?? level["to"])?.number else {
                return nil
            }
            return (limit, level["to"] != nil, status)
        }
    }
}
