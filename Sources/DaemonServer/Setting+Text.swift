import AttributeValues
import GraphRuntime
import Logging
import StateStore

extension Setting {
    /// Assigns the value of a line to a configuration.
    /// - Throws: `invalid` with the expected form.
    func assign(_ text: String, to configuration: inout Configuration, _ accounts: Accounts) throws(Failure) {
        switch kind {
        case .text(let place): configuration[keyPath: place] = text
        case .texts(let place): configuration[keyPath: place].append(text)
        case .mode(let place):
            guard let mode = UInt32(text, radix: 8), mode <= 0o777 else {
                throw expected("an octal mode, as 0660", text)
            }
            configuration[keyPath: place] = mode
        case .size(let place, let least):
            guard let size = Setting.size(text) else { throw expected("a size, as 16 MiB or 4096", text) }
            guard size >= least else { throw expected("at least \(Setting.text(size: least))", text) }
            configuration[keyPath: place] = size
        case .count(let place, let least, let most):
            guard let count = Int(text) else { throw expected("a number", text) }
            guard count >= least, count <= most else { throw expected("a number from \(least) to \(most)", text) }
            configuration[keyPath: place] = count
        case .seconds(let place):
            guard let seconds = Setting.seconds(text), seconds > 0 else {
                throw expected("a time, as 30 s or 500 ms", text)
            }
            configuration[keyPath: place] = seconds
        case .rate(let place):
            guard let rate = Double(text), rate > 0, rate <= 10_000 else {
                throw expected("a number per second, up to 10000", text)
            }
            configuration[keyPath: place] = rate
        case .durability(let place): configuration[keyPath: place] = try word(text)
        case .level(let place): configuration[keyPath: place] = try word(text)
        case .access(let place):
            guard configuration[keyPath: place].count < AccessRules.maximumCount else {
                throw Failure(.invalid, "there are more than \(AccessRules.maximumCount) access lines")
            }
            configuration[keyPath: place].append(try AccessRule(text, accounts))
        }
    }

    /// The value in the file's notation; nil if it is not set.
    func valueText(in configuration: Configuration) -> String? {
        switch kind {
        case .text(let place): configuration[keyPath: place]
        case .texts(let place):
            configuration[keyPath: place].isEmpty ? nil : configuration[keyPath: place].joined(separator: ", ")
        case .mode(let place): "0" + String(configuration[keyPath: place], radix: 8)
        case .size(let place, _): Setting.text(size: configuration[keyPath: place])
        case .count(let place, _, _): String(configuration[keyPath: place])
        case .seconds(let place): Setting.text(number: configuration[keyPath: place]) + " s"
        case .rate(let place): Setting.text(number: configuration[keyPath: place])
        case .durability(let place): configuration[keyPath: place].rawValue
        case .level(let place): configuration[keyPath: place].rawValue
        case .access(let place):
            configuration[keyPath: place].isEmpty
                ? nil : configuration[keyPath: place].map(\.description).joined(separator: ", ")
        }
    }

    private func word<Word: RawRepresentable & CaseIterable>(_ text: String) throws(Failure) -> Word
    where Word.RawValue == String {
        if let word = Word(rawValue: text) { return word }
        let words = Word.allCases.map(\.rawValue)
        throw expected("one of " + words.joined(separator: ", "), text, hint: NearestName.hint(text, among: words))
    }

    private func expected(_ what: String, _ text: String, hint: String? = nil) -> Failure {
        Failure(.invalid, "\(name) takes \(what), not \"\(text)\"", hint: hint)
    }

    // Numbers with units.

    private static let sizeUnits: [(name: String, bytes: Int)] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    private static func size(_ text: String) -> Int? {
        for unit in sizeUnits where text.hasSuffix(unit.name) {
            guard let number = Int(text.dropLast(unit.name.count).trimmed) else { return nil }
            let (size, overflow) = number.multipliedReportingOverflow(by: unit.bytes)
            return overflow || number < 0 ? nil : size
        }
        return Int(text)
    }

    private static func text(size: Int) -> String {
        for unit in sizeUnits where size >= unit.bytes && size % unit.bytes == 0 {
            return "\(size / unit.bytes) \(unit.name)"
        }
        return "\(size) B"
    }

    private static func seconds(_ text: String) -> Double? {
        for (unit, seconds) in [("ms", 0.001), ("min", 60.0), ("h", 3600.0), ("s", 1.0)] where text.hasSuffix(unit) {
            return Double(text.dropLast(unit.count).trimmed).map { $0 * seconds }.flatMap { $0.isFinite ? $0 : nil }
        }
        return nil
    }

    private static func text(number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }
}
