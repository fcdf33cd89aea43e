import AttributeValues

/// The target of a request: a path, and options whose names may repeat.
package struct Target {
    var path: String
    var options: [(name: String, value: String)]

    /// - Returns: nil if the text is not a target.
    package init?(_ text: String) {
        guard text.hasPrefix("/") else { return nil }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = Target.decode(parts[0], isOption: false) else { return nil }
        self.path = path
        options = []
        for option in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let pair = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Target.decode(pair[0], isOption: true),
                let value = Target.decode(pair.count > 1 ? pair[1] : "", isOption: true)
            else { return nil }
            options.append((name, value))
        }
    }

    package subscript(_ name: String) -> String? { options.first { $0.name == name }?.value }

    func all(_ name: String) -> [String] { options.filter { $0.name == name }.map(\.value) }

    /// - Throws: if there is an option with another name.
    package func allow(_ names: String...) throws(UnreadableOption) {
        for (name, _) in options where !names.contains(name) {
            let known = names.isEmpty ? "\(path) has none" : "there are \(names.joined(separator: ", "))"
            throw UnreadableOption(text: "there is no option '\(name)'; \(known)")
        }
    }

    /// `true` or `false`; nil if the option is missing.
    package func flag(_ name: String) throws(UnreadableOption) -> Bool? {
        switch self[name] {
        case nil: return nil
        case "false"?: return false
        case "true"?: return true
        case let found?: throw UnreadableOption(text: "\(name) is true or false, not '\(found)'")
        }
    }

    /// A rate per second; nil if the option is missing.
    package func rate(_ name: String) throws(UnreadableOption) -> Double? {
        guard let found = self[name] else { return nil }
        guard let rate = Double(found), rate > 0, rate.isFinite else {
            throw UnreadableOption(text: "\(name) is a number above 0, not '\(found)'")
        }
        return rate
    }

    /// An epoch and a revision, as in the `id` of an event.
    package static func position(_ text: String?) -> (epoch: String, revision: Int64)? {
        guard let parts = text?.split(separator: ":"), parts.count == 2, let revision = Int64(parts[1]) else {
            return nil
        }
        return (String(parts[0]), revision)
    }

    private static func decode(_ text: Substring, isOption: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(nibble), let low = rest.popFirst().flatMap(nibble) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where isOption: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func nibble(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}

/// An option of a request that is not allowed or cannot be read.
package struct UnreadableOption: Error { package var text: String }
