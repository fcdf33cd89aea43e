import AGClient
import AttributeValues

/// The settings of `config/link.conf`.
struct Configuration: Sendable {
    /// `publish = /host/** as hosts/web-01`
    struct Publication: Sendable {
        /// The root of the subtree.
        var nodes: [String]
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
        var group: [String]
        /// Nil for `*`.
        var last: String?
        /// The container that gets the sites as children.
        var nodes: [String]
        /// Computed values are computed here, by their owner's rules.
        var withRules = false

        /// A subject without its prefix.
        var tokens: String {
            let group = group.isEmpty ? "" : ((try? SiteName(group.joined(separator: "/")))?.tokens ?? "") + "."
            return group + (last.flatMap { try? SiteName($0).tokens } ?? "*")
        }
    }

    var socket: String?
    var servers = ["nats://127.0.0.1:4222"]
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

    /// - Throws: `invalid` with all faults, one line each.
    init(text: String, file: String) throws(Failure) {
        var faults: [String] = []
        /// By setting, the line that has set it.
        var lines: [String: Int] = [:]
        var number = 0
        for line in text.split(separator: "\n" as Character, omittingEmptySubsequences: false) {
            number += 1
            let line = line.trimmed
            if line.isEmpty || line.hasPrefix("#") { continue }
            do throws(Failure) {
                guard let sign = line.firstIndex(of: "=") else {
                    throw Failure(.invalid, "a line is 'name = value', not '\(line)'")
                }
                let name = line[..<sign].trimmed
                if let first = lines[name], !["publish", "mirror"].contains(name) {
                    throw Failure(.invalid, "'\(name)' is set in line \(first) already")
                }
                lines[name] = number
                try set(name, line[line.index(after: sign)...].trimmed)
            } catch {
                faults.append("\(file):\(number): \(error.message)" + (error.hint.map { " (\($0))" } ?? ""))
            }
        }
        if faults.isEmpty {
            if publications.isEmpty, mirrorings.isEmpty {
                faults.append("\(file): nothing to do: write a 'publish' or a 'mirror' line")
            }
            if (certificate == nil) != (certificateKey == nil) {
                faults.append("\(file): 'tls-cert' and 'tls-key' need each other: write both lines")
            }
            if nkey != nil, credentials != nil {
                faults.append("\(file): 'nkey' and 'credentials' exclude each other: remove one of the lines")
            }
            let sites = publications.map(\.site.description)
            if Set(sites).count < sites.count { faults.append("\(file): two 'publish' lines have the same site") }
        }
        guard faults.isEmpty else { throw Failure(.invalid, faults.joined(separator: "\n")) }
    }

    private mutating func set(_ name: String, _ value: String) throws(Failure) {
        guard !value.isEmpty else { throw Failure(.invalid, "'\(name)' has no value") }
        switch name {
        case "socket": socket = value
        case "nats": servers = value.split(separator: "," as Character).map { $0.trimmed }
        case "credentials": credentials = value
        case "metrics": metrics = value
        case "tls-ca": authorities = value
        case "tls-cert": certificate = value
        case "tls-key": certificateKey = value
        case "nkey": nkey = try Configuration.nkey(value)
        case "publish": publications.append(try Configuration.publication(value))
        case "mirror": mirrorings.append(try Configuration.mirroring(value))
        case "live-time": liveTime = try Configuration.seconds(name, value, 1...3600)
        case "lease-time": leaseTime = try Configuration.seconds(name, value, 2...3600)
        case "snapshot-time": snapshotTime = try Configuration.seconds(name, value, 1...86_400)
        case "history-time": historyTime = try Configuration.seconds(name, value, 10...604_800)
        case "message-size":
            guard value.hasSuffix("MiB"), let size = Int(value.dropLast(3).trimmed), (1...1024).contains(size) else {
                throw Failure(.invalid, "'message-size' is from 1 MiB to 1024 MiB, not '\(value)'")
            }
            messageSize = size << 20
        case "replicas":
            guard let count = Int(value), (1...5).contains(count) else {
                throw Failure(.invalid, "'replicas' is 1 to 5, not '\(value)'")
            }
            replicas = count
        default: throw Failure(.invalid, "there is no setting '\(name)'; config/link.conf lists all settings")
        }
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
        guard path.attribute == nil, !names.contains(where: { $0.contains("*") }) else {
            throw Failure(.invalid, "in '\(text)', only the last segment of the sites may be '*'")
        }
        let last = segments.last == "*" ? nil : segments.last
        return Mirroring(group: Array(segments.dropLast()), last: last, nodes: path.nodes, withRules: words.count > 3)
    }

    private static func seconds(_ name: String, _ text: String, _ range: ClosedRange<Double>) throws(Failure) -> Double
    {
        for (unit, factor) in [("ms", 0.001), ("min", 60), ("s", 1), ("h", 3600)] where text.hasSuffix(unit) {
            if let number = Double(text.dropLast(unit.count).trimmed), range.contains(number * factor) {
                return number * factor
            }
        }
        throw Failure(
            .invalid,
            "'\(name)' is a time from \(range.lowerBound) s to \(range.upperBound) s, as '5 s', not '\(text)'")
    }
}
