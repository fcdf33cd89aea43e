import AttributeValues

/// A system of units that people are used to.
enum Units: String {
    case metric, us, uk

    /// Units of the same quantity. The first fitting row counts.
    private static let table: [(metric: String, imperial: String, factor: Double, offset: Double, isInUK: Bool)] = [
        ("°C", "°F", 1.8, 32, false),
        ("km/h", "mph", 0.621371, 0, true), ("m/s", "mph", 2.236936, 0, true), ("km", "mi", 0.621371, 0, true),
        ("m", "ft", 3.280840, 0, false), ("cm", "in", 0.393701, 0, false), ("mm", "in", 0.0393701, 0, false),
        ("kg", "lb", 2.204623, 0, false), ("g", "oz", 0.0352740, 0, false),
        ("l", "gal", 0.264172, 0, false), ("L", "gal", 0.264172, 0, false), ("hPa", "inHg", 0.0295300, 0, false),
    ]

    /// The system of a country. `en_US` is the locale of an environment in which nobody has chosen one, so it says
    /// nothing.
    init?(locale: String) {
        let parts = locale.prefix { $0 != "." && $0 != "@" }.split { $0 == "_" || $0 == "-" }
        guard locale != "en_US", let country = parts.dropFirst().last else { return nil }
        switch country {
        case "US", "LR", "MM": self = .us
        case "GB": self = .uk
        default: self = .metric
        }
    }

    /// The panel with its unit, and with the `conversion` of its numbers if it has another unit than before.
    func convert(_ panel: ValueMap) -> ValueMap {
        guard let unit = panel["unit"]?.string, (panel["format"] ?? "number") == "number" else { return panel }
        let fitting = Units.table.first { row in
            let isUsed = self == .us || self == .uk && row.isInUK
            return unit.hasSameBytes(as: isUsed ? row.metric : row.imperial)
        }
        guard let row = fitting else { return panel }
        let isToMetric = unit.hasSameBytes(as: row.imperial)
        let factor = isToMetric ? 1 / row.factor : row.factor
        let offset = isToMetric ? -row.offset / row.factor : row.offset
        var panel = panel
        panel["unit"] = .string(isToMetric ? row.metric : row.imperial)
        panel["conversion"] = ["factor": .double(factor), "offset": .double(offset)]
        return panel
    }
}
