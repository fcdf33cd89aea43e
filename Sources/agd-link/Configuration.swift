import AGClient
import AttributeValues
import CommandArguments
import LinkProtocol

/// The settings of `config/link.conf`.
struct Configuration: Sendable {
    /// `publish = /host/** as hosts/web-01`
    struct Publication: Sendable {
        /// The root of the subtree.
        var nodes: [Name]
        var site: SiteName
    }

    /// `nkey = UABC… in /etc/agd/link.nk`
    struct NKey: Sendable {
        var publicKey: String
        var seedFile: String
    }

    /// `mirror = hosts/* at /fleet`, perhaps `with rules`
    struct Mirroring: Sendable {
        /// The segments before the last.
        var group: [Name]
        /// Nil for `*`.
        var last: Name?
        /// The container that gets the sites as children.
        var nodes: [Name]
        /// Computed values are computed here, by their owner's rules.
        var withRules = false

        /// True if a site of this line may be the container of another one or the same node as a site of it, or be
        /// above it.
        func mayMakeNode(of other: Mirroring) -> Bool {
            let (mine, others) = (nodes, other.nodes)
            guard others.starts(with: mine), let id = others.dropFirst(mine.count).first ?? other.last, let last
            else { return others.starts(with: mine) }
            return id == last
        }

        /// A subject without its prefix.
        var tokens: String {
            let group = group.isEmpty ? "" : ((try? SiteName(group.texts.joined(separator: "/")))?.tokens ?? "") + "."
            return group + (last.flatMap { try? SiteName($0.text).tokens } ?? "*")
        }
    }

    var socket: String?
    var servers = ["nats://127.0.0.1:4222"]
    /// Of JetStream; nil for that of the account.
    var domain: String?
    var credentials: String?
    var authorities: String?
    /// Files of this machine's certificate and its key.
    var certificate: String?
    var certificateKey: String?
    var nkey: NKey?
    var publications: [Publication] = []
    var mirrorings: [Mirroring] = []
    /// Seconds.
    var liveTime = 5.0
    var leaseTime = 10.0
    var snapshotTime = 60.0
    var historyTime = 600.0
    var messageSize = 64 << 20
    var replicas = 1
    /// A file for Prometheus.
    var metrics: String?

    /// Files that must be readable, with their settings.
    var files: [(name: String, path: String)] {
        let all = [
            ("credentials", credentials), ("nkey", nkey?.seedFile), ("tls-ca", authorities), ("tls-cert", certificate),
            ("tls-key", certificateKey),
        ]
        return all.compactMap { name, path in path.map { (name, $0) } }
    }

    /// Files with a password or a key, with what they have. Nobody else should read them.
    func secrets(in file: String) -> [(what: String, path: String)] {
        let hasPassword = servers.contains { $0.contains("@" as Character) }
        let all = [
            ("a password of NATS", hasPassword ? file : nil), ("credentials", credentials),
            ("the seed of a key", nkey?.seedFile), ("a key", certificateKey),
        ]
        return all.compactMap { what, path in path.map { (what, $0) } }
    }

    private static func table() -> [Setting<Configuration>] {
        [
            Setting("socket", \.socket, .text),
            Setting(
                "nats", \.servers,
                Notation("servers", write: { $0.joined(separator: ", ") }) { text in
                    text.split(separator: "," as Character).map(\.trimmed)
                }),
            Setting("jetstream-domain") { (text, settings) throws(Failure) in
                guard SiteName(tokens: text)?.segments.count == 1 else {
                    throw Failure(.invalid, "a domain of JetStream has letters, digits, '-' and '_', not '\(text)'")
                }
                settings.domain = text
            },
            Setting("credentials", \.credentials, .text), Setting("metrics", \.metrics, .text),
            Setting("tls-ca", \.authorities, .text),
            Setting("tls-cert", \.certificate, .text), Setting("tls-key", \.certificateKey, .text),
            Setting("nkey") { (text, settings) throws(Failure) in settings.nkey = try nkey(text) },
            Setting("publish", \.publications) { (text) throws(Failure) in try publication(text) },
            Setting("mirror", \.mirrorings) { (text) throws(Failure) in try mirroring(text) },
            Setting("live-time", \.liveTime, .seconds(1...3600)),
            Setting("lease-time", \.leaseTime, .seconds(2...3600)),
            Setting("snapshot-time", \.snapshotTime, .seconds(1...86_400)),
            Setting("history-time", \.historyTime, .seconds(10...604_800)),
            Setting("message-size", \.messageSize, .size((1 << 20)...(1 << 30))),
            Setting("replicas", \.replicas, .count(1...5)),
        ]
    }

    /// - Throws: all faults of the text.
    init(text: String, file: String) throws(ConfigurationFaults) {
        var faults = Setting.take(text, file: file, Configuration.table(), into: &self)
        func refuse(_ message: String) { faults.append(ConfigurationFault(file: file, message: message)) }
        if faults.isEmpty {
            if publications.isEmpty, mirrorings.isEmpty {
                refuse("nothing to do: write a 'publish' or a 'mirror' line")
            }
            if (certificate == nil) != (certificateKey == nil) {
                refuse("'tls-cert' and 'tls-key' need each other: write both lines")
            }
            if nkey != nil, credentials != nil {
                refuse("'nkey' and 'credentials' exclude each other: remove one of the lines")
            }
            let sites = publications.map(\.site.description)
            if Set(sites).count < sites.count { refuse("two 'publish' lines have the same site") }
            for (position, one) in mirrorings.enumerated() {
                for other in mirrorings[(position + 1)...]
                where one.mayMakeNode(of: other) || other.mayMakeNode(of: one) {
                    let paths = Set([one, other].map { AttributePath.describe(nodes: $0.nodes) }).sorted()
                    refuse(
                        "two 'mirror' lines may make the same nodes at \(paths.joined(separator: " and ")): "
                            + "give one another node")
                }
            }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    }

    private static func nkey(_ text: String) throws(Failure) -> NKey {
        let words = text.split(separator: " " as Character, maxSplits: 2).map(String.init)
        guard words.count == 3, words[1] == "in", words[0].hasPrefix("U") else {
            throw Failure(
                .invalid,
                "write the public key of a user and the file with its seed: "
                    + "'nkey = UABC… in /etc/agd/link.nk', not '\(text)'")
        }
        return NKey(publicKey: words[0], seedFile: words[2])
    }

    private static func publication(_ text: String) throws(Failure) -> Publication {
        let words = text.split(separator: " " as Character).map(String.init)
        guard words.count == 3, words[1] == "as", words[0].hasSuffix("/**"), words[0] != "/**" else {
            throw Failure(.invalid, "write 'publish = /host/** as hosts/web-01', not '\(text)'")
        }
        guard !words[2].contains("*") else {
            throw Failure(.invalid, "the site in '\(text)' must be one name without '*'")
        }
        return Publication(nodes: try AttributePath(String(words[0].dropLast(3))).nodes, site: try SiteName(words[2]))
    }

    private static func mirroring(_ text: String) throws(Failure) -> Mirroring {
        let words = text.split(separator: " " as Character).map(String.init)
        let rest = words.dropFirst(3)
        guard words.count > 2, words[1] == "at", words[2] != "/", rest.isEmpty || rest == ["with", "rules"] else {
            throw Failure(
                .invalid,
                "write 'mirror = hosts/* at /fleet' or 'mirror = hosts/* at /fleet with rules', not '\(text)'")
        }
        let path = try AttributePath(words[2])
        let segments = try SiteName(words[0]).segments
        let names = segments.last == "*" ? segments.dropLast() : segments[...]
        guard path.attribute == nil, !names.contains(where: { $0.text.contains("*") }) else {
            throw Failure(.invalid, "in '\(text)', only the last segment of the sites may be '*'")
        }
        let last = segments.last == "*" ? nil : segments.last
        return Mirroring(group: Array(segments.dropLast()), last: last, nodes: path.nodes, withRules: words.count > 3)
    }
}
