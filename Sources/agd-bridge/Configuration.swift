import AttributeValues
import CommandArguments
import RuleLanguage

/// The settings of `config/bridge.conf`.
struct Configuration {
    /// A whole state: `/node.metrics`.
    struct Target: Equatable, CustomStringConvertible {
        var nodes: [Name]
        var attribute: String

        init(_ text: String) throws(Failure) {
            let path = try AttributePath(text)
            guard let attribute = path.attribute, path.steps.isEmpty, !path.nodes.isEmpty else {
                throw Failure(.invalid, "'\(text)' is no state of a node; write a path as /node.metrics")
            }
            (nodes, self.attribute) = (path.nodes, attribute)
        }

        var node: String { AttributePath.describe(nodes: nodes) }
        var description: String { AttributePath(nodes: nodes, attribute: attribute).description }
    }

    /// `scrape = http://localhost:9100/metrics every 15s to /node.metrics`
    struct Scrape {
        var url: String
        var interval: Double
        var target: Target
    }

    /// `poll = https://example.net/now.json every 60s to /weather.now with =body.current`
    struct Poll {
        var url: String
        var interval: Double
        var target: Target
        var rule: Program?
    }

    /// `run = sensors -j every 10s to /temps.now`
    struct Run {
        /// The program and its arguments.
        var words: [String]
        /// nil for a program that goes on and prints a line for each value.
        var interval: Double?
        var target: Target
        var rule: Program?
    }

    /// `from-mqtt = zigbee2mqtt/+ to /home.devices`
    struct Inlet {
        var filter: TopicFilter
        var target: Target
    }

    /// `to-mqtt = /home/** as agd writable`
    struct Outlet {
        var pattern: PathPattern
        var text: String
        var prefix: String
        var isWritable: Bool
    }

    var socket: String?
    var scrapes: [Scrape] = []
    var polls: [Poll] = []
    var runs: [Run] = []
    var broker: BrokerAddress?
    var authorities: String?
    var inlets: [Inlet] = []
    var outlets: [Outlet] = []
    var discovery: String?
    var metrics: String?
    /// Entries of a map that the bridge makes, and samples of an exporter.
    var entries = 10_000
    /// Bytes of an answer, and of what a program prints.
    var answerSize = 16 << 20
    /// Seconds.
    var answerTime = 10.0
    var refreshTime = 30.0

    /// Files with a password. Nobody else should read them.
    func secrets(in file: String) -> [(what: String, path: String)] {
        let urls = scrapes.map(\.url) + polls.map(\.url)
        let hasPassword = broker?.password != nil || urls.contains { $0.contains("@" as Character) }
        return hasPassword ? [("a password", file)] : []
    }

    private static func table() -> [Setting<Configuration>] {
        [
            Setting("socket", \.socket, .text),
            Setting("scrape", \.scrapes) { (text) throws(Failure) in try scrape(text) },
            Setting("poll", \.polls) { (text) throws(Failure) in try poll(text) },
            Setting("run", \.runs) { (text) throws(Failure) in try run(text) },
            Setting("mqtt") { (text, settings) throws(Failure) in settings.broker = try BrokerAddress(text) },
            Setting("mqtt-ca", \.authorities, .text),
            Setting("from-mqtt", \.inlets) { (text) throws(Failure) in try inlet(text) },
            Setting("to-mqtt", \.outlets) { (text) throws(Failure) in try outlet(text) },
            Setting("discovery") { (text, settings) throws(Failure) in
                settings.discovery = try TopicFilter(text).plain(text)
            },
            Setting("metrics", \.metrics, .text),
            Setting("entries", \.entries, .count(1...1_000_000)),
            Setting("answer-size", \.answerSize, .size(1024...(1 << 30))),
            Setting("answer-time", \.answerTime, .seconds(0.1...600)),
            Setting("refresh-time", \.refreshTime, .seconds(1...86_400)),
        ]
    }

    /// - Throws: all faults of the text.
    init(text: String, file: String) throws(ConfigurationFaults) {
        var faults = Setting.take(text, file: file, Configuration.table(), into: &self)
        func refuse(_ message: String) { faults.append(ConfigurationFault(file: file, message: message)) }
        if faults.isEmpty {
            if scrapes.isEmpty, polls.isEmpty, runs.isEmpty, inlets.isEmpty, outlets.isEmpty {
                refuse("nothing to do: write a 'scrape', 'poll', 'run', 'from-mqtt' or 'to-mqtt' line")
            }
            if broker == nil, !inlets.isEmpty || !outlets.isEmpty {
                refuse("'from-mqtt' and 'to-mqtt' need a broker: write mqtt = mqtt://localhost")
            }
            if discovery != nil, outlets.isEmpty { refuse("'discovery' needs a 'to-mqtt' line") }
            let others = scrapes.map(\.target) + polls.map(\.target) + runs.map(\.target)
            var nodes: Set<[Name]> = []
            for target in others where !nodes.insert(target.nodes).inserted {
                refuse("two lines write to \(target.node), which can tell the state of one: give each its own node")
            }
            for inlet in inlets where nodes.contains(inlet.target.nodes) {
                refuse("\(inlet.target.node) has another line: give 'from-mqtt' lines a node of their own")
            }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    }

    // MARK: Lines

    /// The text before and behind the last occurrence of a word.
    private static func cut(_ text: String, at word: String) -> (before: String, behind: String)? {
        text.ranges(of: " \(word) ").last.map { (text[..<$0.lowerBound].trimmed, text[$0.upperBound...].trimmed) }
    }

    /// Takes the rule off the end of a line.
    private static func takeRule(_ text: inout String) throws(Failure) -> Program? {
        guard let range = text.firstRange(of: " with =") else { return nil }
        let rule = text[range.upperBound...].trimmed
        text = text[..<range.lowerBound].trimmed
        let scope = RuleScope()
        scope.declare("body", ValueType.dyn)
        do throws(RuleErrors) { return try Rule.compile(rule, in: scope) } catch { throw error.failure }
    }

    /// Takes the interval off the end of a text; nil if there is none.
    private static func takeInterval(_ text: inout String, shortest: Double) throws(Failure) -> Double? {
        guard let (before, written) = cut(text, at: "every") else { return nil }
        guard let span = TimeSpan(written) else {
            throw Failure(.invalid, "'\(written)' is not a length of time, such as 15s, 1m, 24h")
        }
        guard (shortest...86_400).contains(span.seconds) else {
            throw Failure(.invalid, "the time behind 'every' is \(shortest) s to 1 day, not \(written)")
        }
        text = before
        return span.seconds
    }

    private static func url(_ text: String) throws(Failure) -> String {
        guard text.hasPrefix("http://") || text.hasPrefix("https://"), !text.contains(" " as Character) else {
            throw Failure(.invalid, "an address begins with http:// or https:// and has no spaces, not '\(text)'")
        }
        return text
    }

    private static func fetch(
        _ text: String, _ form: String
    ) throws(Failure) -> (url: String, interval: Double, target: Target) {
        let refusal = Failure(.invalid, "write '\(form)', not '\(text)'")
        guard let (before, path) = cut(text, at: "to") else { throw refusal }
        var rest = before
        guard let interval = try takeInterval(&rest, shortest: 0.1) else { throw refusal }
        return (try url(rest), interval, try Target(path))
    }

    private static func scrape(_ text: String) throws(Failure) -> Scrape {
        let form = "scrape = http://localhost:9100/metrics every 15s to /node.metrics"
        let (url, interval, target) = try fetch(text, form)
        return Scrape(url: url, interval: interval, target: target)
    }

    private static func poll(_ text: String) throws(Failure) -> Poll {
        var text = text
        let rule = try takeRule(&text)
        let form = "poll = https://example.net/now.json every 60s to /weather.now with =body.current"
        let (url, interval, target) = try fetch(text, form)
        return Poll(url: url, interval: interval, target: target, rule: rule)
    }

    private static func run(_ text: String) throws(Failure) -> Run {
        var text = text
        let rule = try takeRule(&text)
        guard let (before, path) = cut(text, at: "to") else {
            throw Failure(.invalid, "write 'run = sensors -j every 10s to /temps.now', not '\(text)'")
        }
        var rest = before
        let interval = try takeInterval(&rest, shortest: 0.1)
        let words = try words(rest)
        guard !words.isEmpty else { throw Failure(.invalid, "'run' names no program") }
        return Run(words: words, interval: interval, target: try Target(path), rule: rule)
    }

    /// The words of a command. No shell reads it: only `"` means something, and encloses spaces.
    private static func words(_ text: String) throws(Failure) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"":
                isQuoted.toggle()
                word = word ?? ""
            case " " where !isQuoted, "\t" where !isQuoted:
                if let made = word { words.append(made) }
                word = nil
            default:
                word = word ?? ""
                word?.unicodeScalars.append(scalar)
            }
        }
        if isQuoted { throw Failure(.invalid, "a quote has no end in '\(text)'") }
        return words + (word.map { [$0] } ?? [])
    }

    private static func inlet(_ text: String) throws(Failure) -> Inlet {
        guard let (filter, path) = cut(text, at: "to") else {
            throw Failure(.invalid, "write 'from-mqtt = zigbee2mqtt/+ to /home.devices', not '\(text)'")
        }
        return Inlet(filter: try TopicFilter(filter), target: try Target(path))
    }

    private static func outlet(_ text: String) throws(Failure) -> Outlet {
        guard let (path, behind) = cut(text, at: "as") else {
            throw Failure(.invalid, "write 'to-mqtt = /home/** as agd' or '… as agd writable', not '\(text)'")
        }
        let words = behind.split(separator: " " as Character).map(String.init)
        guard words.count == 1 || words.dropFirst() == ["writable"] else {
            throw Failure(.invalid, "behind 'as' is a topic, and perhaps 'writable', not '\(behind)'")
        }
        return Outlet(
            pattern: try PathPattern(path), text: path, prefix: try TopicFilter(words[0]).plain(words[0]),
            isWritable: words.count == 2)
    }
}
