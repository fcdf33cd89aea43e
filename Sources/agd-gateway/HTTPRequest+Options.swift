import FlyingFox

/// An option of a request that is not one of those allowed.
struct UnreadableOption: Error, CustomStringConvertible {
    var name: String
    var found: String
    var allowed: String

    var description: String { "\(name) is \(allowed), not '\(found)'" }
}

extension HTTPRequest {
    /// `true` or `false`, which it is when left out.
    func flag(_ name: String) throws(UnreadableOption) -> Bool {
        switch query[name] {
        case nil, "false"?: return false
        case "true"?: return true
        case let found?: throw UnreadableOption(name: name, found: found, allowed: "true or false")
        }
    }

    /// Times a second; nil when left out.
    func rate(_ name: String) throws(UnreadableOption) -> Double? {
        guard let found = query[name] else { return nil }
        guard let rate = Double(found), rate > 0, rate.isFinite else {
            throw UnreadableOption(name: name, found: found, allowed: "a number above 0")
        }
        return rate
    }
}
