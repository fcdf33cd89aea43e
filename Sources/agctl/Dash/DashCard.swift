import AttributeValues

/// The description of one card: what it shows, and how.
struct DashCard {
    enum Kind: String {
        case value, sparkline, chart, bar, gauge, status, toggle, slider, stepper, field, picker, button, color, image
        case text, table, list, log

        /// The kind by its name in scenes.
        init?(panel name: String) {
            // A terminal shows the present state of a timeline.
            let names = ["colour": "color", "line": "chart", "textField": "field", "timeline": "value"]
            self.init(rawValue: names[name] ?? name)
        }

        /// - Returns: the kind that suits an attribute.
        init(_ name: String, _ attribute: DashNode.Attribute) {
            let type = attribute.plainType
            self =
                switch true {
                case attribute.kind == "action": .button
                case name == "percent": .bar
                case name == "status": .status
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
            switch self {
            case .toggle, .slider, .stepper, .field, .picker, .button: true
            default: false
            }
        }

        /// Columns of a card without a `span`.
        var span: Int {
            switch self {
            case .chart, .table, .list, .log, .text: 2
            default: 1
            }
        }

        /// Without panels: displays first, then controls, then lists.
        var rank: Int {
            let order: [Kind] = [
                .status, .gauge, .bar, .sparkline, .value, .chart, .toggle, .field, .color, .button, .table, .list,
            ]
            return order.firstIndex(of: self) ?? order.count
        }
    }

    /// A table of subviews.
    struct Rows {
        var columns: [String]
        var views: [(id: String, path: String)]
    }

    /// The path of the attribute, or of a part of its value.
    var path: String
    /// nil if the panel names a kind that does not exist.
    var kind: Kind?
    var panel = ValueMap()
    var title: String
    var isInteger = false
    /// True if the card's button calls it.
    var isAction = false
    var rows: Rows?
    /// The reason why there is nothing to show.
    var fault: String?

    var span: Int { min(4, max(1, panel["span"]?.number.flatMap { Int(exactly: $0) } ?? kind?.span ?? 1)) }

    /// The attribute that the daemon reports, and the steps from its value to the shown part.
    var source: (attribute: String, steps: [Substring]) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        guard let dot = path[slash...].firstIndex(of: ".") else { return (path, []) }
        let rest = path.index(after: dot)
        guard let end = path[rest...].firstIndex(where: { $0 == "." || $0 == "[" }) else { return (path, []) }
        return (String(path[..<end]), path[end...].split { ".[]\"".contains($0) })
    }

    /// The ends of a gauge, bar or slider.
    var scale: (least: Double, most: Double) {
        let most = panel["max"]?.number ?? (panel["format"] == "percent" ? 1 : 100)
        return (panel["min"]?.number ?? 0, most)
    }

    /// The size of a step of a slider or stepper.
    var step: Double {
        if let step = panel["step"]?.number { return step }
        return kind == .stepper || isInteger ? 1 : (scale.most - scale.least) / 20
    }

    /// The seconds that a line shows.
    var window: Double { min(86_400, max(1, panel["window"]?.number ?? (kind == .chart ? 300 : 60))) }

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

    /// The status according to the thresholds of the panel; nil without thresholds.
    func status(of number: Double) -> String? {
        let (warn, critical) = (panel["warn"]?.number, panel["critical"]?.number)
        guard warn != nil || critical != nil else { return nil }
        let isFalling = (critical ?? .infinity) < (warn ?? -.infinity)
        func exceeds(_ limit: Double?) -> Bool { limit.map { isFalling ? number <= $0 : number >= $0 } ?? false }
        return exceeds(critical) ? "critical" : exceeds(warn) ? "warn" : "ok"
    }
}
