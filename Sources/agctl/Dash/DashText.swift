import AttributeValues
import SceneModel

/// Values in a form for people. The page has the same rules in `dashboard/format.js`.
enum DashText {
    /// An id in words: `busiestCore` becomes "Busiest core".
    static func spellOut(_ id: String) -> String { Words.of(id).printable }

    /// The number of decimals for two or three significant digits, but not more than the value has.
    static func decimals(of number: Double) -> Int {
        guard number.isFinite, number != number.rounded() else { return 0 }
        let size = abs(number)
        let most = [100, 10, 0.1, 0.01].firstIndex { size >= $0 } ?? 4
        let zeros = Figure.fixed(size, places: most).reversed().prefix { $0 == "0" }.count
        return most == 0 ? 0 : max(1, most - zeros)
    }

    /// The number with its unit, by the members `format`, `decimals`, `unit` and `conversion` of a panel.
    static func formatNumber(_ given: Double, _ panel: ValueMap = ValueMap()) -> String {
        let conversion = panel["conversion"]?.map
        let number = given * (conversion?["factor"]?.number ?? 1) + (conversion?["offset"]?.number ?? 0)
        let unit = panel["unit"]?.string?.printable ?? ""
        func joined(_ text: String, _ unit: String) -> String { unit.isEmpty ? text : "\(text) \(unit)" }
        guard number.isFinite else { return joined(number.isNaN ? "not a number" : number < 0 ? "−∞" : "∞", unit) }
        let places = panel["decimals"]?.number.map { Int(min(9, max(0, $0))) }
        func fixed(_ number: Double) -> String {
            Figure.fixed(number, places: places ?? decimals(of: number)).replacing("-", with: "−")
        }
        switch panel["format"]?.string {
        case "duration": return joined(duration(number), unit)
        case "percent": return joined(fixed(number * 100), unit.isEmpty ? "%" : unit)
        case "bytes": return scaled(number, ["B", "kB", "MB", "GB", "TB", "PB"], unit, fixed)
        default:
            guard places == nil, number != 0, abs(number) < 0.001 || abs(number) >= 1e6 else {
                return joined(fixed(number), unit)
            }
            guard abs(number) >= 1e6, abs(number) < 1e15 else {
                let rounded = Double(formatted("%.2e", number)) ?? number
                return joined(rounded.description.replacing("-", with: "−"), unit)
            }
            return scaled(number, ["", "k", "M", "G", "T", "P"], unit, fixed)
        }
    }

    private static func scaled(_ number: Double, _ names: [String], _ unit: String, _ fixed: (Double) -> String)
        -> String
    {
        var (rest, power) = (number, 0)
        while abs(rest) >= 1000, power < names.count - 1 {
            rest /= 1000
            power += 1
        }
        return fixed(rest) + " " + names[power] + unit
    }

    /// Seconds as their two largest units: 2 h 5 min.
    static func duration(_ seconds: Double) -> String {
        guard abs(seconds) < 1e15 else { return seconds.description }
        var parts: [String] = []
        var rest = Int64(abs(seconds).rounded())
        for (unit, size) in [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)] as [(String, Int64)] {
            if rest >= size || unit == "s" && parts.isEmpty { parts.append("\(rest / size) \(unit)") }
            rest %= size
        }
        return (seconds < 0 ? "−" : "") + parts.prefix(2).joined(separator: " ")
    }

    /// Any value as one line of text. Deeper values are written as JSON.
    static func plain(_ value: Value, _ panel: ValueMap = ValueMap(), depth: Int = 0) -> String {
        switch value {
        case .null: return "–"
        case .bool(let flag): return flag ? "Yes" : "No"
        case .string(let text):
            if text.hasSuffix("s"), let seconds = Double(text.dropLast()) { return duration(seconds) }
            return text.printable
        case .list(let list) where depth < 3:
            return list.map { plain($0, panel, depth: depth + 1) }.joined(separator: ", ")
        case .map(let map) where depth < 3:
            return map.map {
                spellOut($0.key.string ?? $0.key.jsonText) + " " + plain($0.value, panel, depth: depth + 1)
            }.joined(separator: " · ")
        default: return value.number.map { formatNumber($0, panel) } ?? value.jsonText.printable
        }
    }
}
