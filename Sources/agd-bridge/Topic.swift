import AttributeValues

/// A filter of MQTT: levels between slashes, of which `+` is any one, and a last `#` any number.
struct TopicFilter: Equatable, Sendable {
    let text: String
    private let levels: [Substring]

    init(_ text: String) throws(Failure) {
        self.text = text
        levels = text.split(separator: "/" as Character, omittingEmptySubsequences: false)
        let isRight = levels.enumerated().allSatisfy { position, level in
            !level.contains { $0 == "+" || $0 == "#" } || level == "+" || level == "#" && position == levels.count - 1
        }
        guard !text.isEmpty, text.utf8.count < 65_536, isRight, !text.utf8.contains(0) else {
            throw Failure(.invalid, "'\(text)' is no filter of MQTT: write '+' for one level, and '#' for the rest")
        }
    }

    /// The text of a topic without wildcards.
    func plain(_ text: String) throws(Failure) -> String {
        guard !hasWildcards else { throw Failure(.invalid, "'\(text)' must be a topic without '+' and '#'") }
        return text
    }

    var hasWildcards: Bool { levels.contains { $0 == "+" || $0 == "#" } }

    /// What the wildcards stand for in a topic, joined by slashes; nil if the topic does not match.
    func key(_ topic: String) -> String? {
        let parts = topic.split(separator: "/" as Character, omittingEmptySubsequences: false)
        // Topics of the broker itself have to be asked for by name.
        if topic.hasPrefix("$"), levels.first == "+" || levels.first == "#" { return nil }
        var matched: [Substring] = []
        for (position, level) in levels.enumerated() {
            if level == "#" {
                guard parts.count >= position else { return nil }
                return (matched + parts.dropFirst(position)).joined(separator: "/")
            }
            guard position < parts.count else { return nil }
            if level == "+" { matched.append(parts[position]) } else if level != parts[position] { return nil }
        }
        return parts.count == levels.count ? matched.joined(separator: "/") : nil
    }
}

/// Paths as topics: MQTT refuses some characters, which are written as %23 (#), %2B (+) and %25 (%).
enum PathTopic {
    static func topic(_ path: String) -> String {
        path.replacing("%", with: "%25").replacing("#", with: "%23").replacing("+", with: "%2B")
    }

    static func path(_ topic: Substring) -> String {
        String(topic.replacing("%23", with: "#").replacing("%2B", with: "+").replacing("%25", with: "%"))
    }
}

/// `mqtt://name:password@broker.example:1883`, or `mqtts://…` for TLS, or `unix:///run/mosquitto.sock`.
struct BrokerAddress: Equatable, Sendable {
    var host: String
    var port: Int32
    var user: String?
    var password: String?
    var hasTLS: Bool

    init(_ text: String) throws(Failure) {
        let refusal = Failure(
            .invalid, "write mqtt = mqtt://broker:1883, mqtts://broker:8883 or mqtt://name:password@broker")
        hasTLS = text.hasPrefix("mqtts://")
        if text.hasPrefix("unix:///") {
            // libmosquitto takes a path with the port 0.
            (host, port) = (String(text.dropFirst(7)), 0)
            return
        }
        guard hasTLS || text.hasPrefix("mqtt://") else { throw refusal }
        var rest = text.dropFirst(hasTLS ? 8 : 7)
        if rest.hasSuffix("/") { rest.removeLast() }
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":" as Character, maxSplits: 1)
            user = parts.first.map(String.init)
            password = parts.count == 2 ? String(parts[1]) : nil
            rest = rest[rest.index(after: at)...]
        }
        port = hasTLS ? 8883 : 1883
        // An address of IPv6 has brackets.
        if let colon = rest.lastIndex(of: ":"), rest.lastIndex(of: "]").map({ $0 < colon }) ?? true {
            guard let number = Int32(rest[rest.index(after: colon)...]), (1...65_535).contains(number) else {
                throw refusal
            }
            port = number
            rest = rest[..<colon]
        }
        if rest.hasPrefix("["), rest.hasSuffix("]") { rest = rest.dropFirst().dropLast() }
        guard !rest.isEmpty, !rest.contains(where: { "/ ".contains($0) }) else { throw refusal }
        host = String(rest)
    }

    /// Without the password.
    var shown: String { port == 0 ? host : "\(host):\(port)" }
}
