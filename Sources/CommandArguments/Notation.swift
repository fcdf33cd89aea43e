import AttributeValues

/// How values of a setting are written.
package struct Notation<Value> {
    /// The expected values in words, for messages: "takes" precedes it.
    private let form: String
    /// All values, if they are words.
    private let words: [String]
    private let parse: (String) -> Value?
    let write: (Value) -> String

    package init(
        _ form: String, words: [String] = [], write: @escaping (Value) -> String, parse: @escaping (String) -> Value?
    ) {
        (self.form, self.words, self.write, self.parse) = (form, words, write, parse)
    }

    func read(_ text: String, of name: String) throws(Failure) -> Value {
        if let value = parse(text) { return value }
        throw Failure(
            .invalid, "\(name) takes \(form), not \"\(text)\"", hint: NearestName.hint(text, among: words))
    }
}

extension Notation<String> {
    package static var text: Notation { Notation("a text", write: { $0 }) { $0 } }
}

extension Notation where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    package static var word: Notation {
        let words = Value.allCases.map(\.rawValue)
        return Notation("one of " + words.joined(separator: ", "), words: words, write: \.rawValue) {
            Value(rawValue: $0)
        }
    }
}

extension Notation<Int> {
    package static func count(_ range: ClosedRange<Int>) -> Notation {
        Notation("a number from \(range.lowerBound) to \(range.upperBound)", write: { "\($0)" }) { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Bytes: `16 MiB`.
    package static func size(_ range: ClosedRange<Int>) -> Notation {
        let most = range.upperBound == .max ? "" : " and at most \(written(size: range.upperBound))"
        return Notation(
            "a size of at least \(written(size: range.lowerBound))\(most), as 16 MiB or 4096", write: written
        ) { text in
            size(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    private static let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)]

    private static func size(_ text: String) -> Int? {
        for (unit, bytes) in units where text.hasSuffix(unit) {
            let (size, overflow) =
                Int(text.dropLast(unit.count).trimmed)?.multipliedReportingOverflow(by: bytes) ?? (0, true)
            return overflow ? nil : size
        }
        return Int(text)
    }

    private static func written(size: Int) -> String {
        let (unit, bytes) = units.first { size >= $0.1 && size % $0.1 == 0 } ?? ("B", 1)
        return "\(size / bytes) \(unit)"
    }
}

extension Notation<Double> {
    /// `30 s`
    /// - Parameter range: nil for any time above 0.
    package static func seconds(_ range: ClosedRange<Double>? = nil) -> Notation {
        let bounds = range.map { " from \(written($0.lowerBound)) to \(written($0.upperBound))" } ?? ""
        return Notation("a time\(bounds), as 30 s or 500 ms", write: written) { text in
            seconds(text).flatMap { range?.contains($0) ?? ($0 > 0 && $0.isFinite) ? $0 : nil }
        }
    }

    private static func seconds(_ text: String) -> Double? {
        for (unit, seconds) in [("ms", 0.001), ("min", 60.0), ("h", 3600.0), ("d", 86_400.0), ("s", 1.0)]
        where text.hasSuffix(unit) {
            return Double(text.dropLast(unit.count).trimmed).map { $0 * seconds }
        }
        return nil
    }

    private static func written(_ seconds: Double) -> String {
        Int64(exactly: seconds).map { "\($0) s" } ?? "\(seconds) s"
    }
}
