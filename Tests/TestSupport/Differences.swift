import AttributeValues

/// Where two trees differ, by path.
public func differences(_ a: Value, _ b: Value, _ path: String = "") -> [String] {
    if a == b { return [] }
    switch (a, b) {
    case (.map(let x), .map(let y)):
        return Set((x.keys + y.keys).compactMap(\.string)).sorted().flatMap {
            differences(x[$0] ?? .null, y[$0] ?? .null, "\(path).\($0)")
        }
    case (.list(let x), .list(let y)) where x.count == y.count:
        return zip(x, y).enumerated().flatMap { differences($1.0, $1.1, "\(path)[\($0)]") }
    default: return ["\(path): \(a.jsonText) ≠ \(b.jsonText)"]
    }
}
