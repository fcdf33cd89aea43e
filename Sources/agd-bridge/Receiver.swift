import AttributeValues
import Glibc

/// The receiver of the notices of an `alerts` line.
enum Receiver {
    /// Gets each notice as JSON.
    case webhook(url: String)
    case ntfy(server: String, topic: String)
    case alertmanager(url: String)
    /// Gets each notice as JSON on standard input.
    case command([String])
    case mail(to: String)

    /// - Parameter words: `webhook https://example.net/alerts`
    init(_ words: [String]) throws(Failure) {
        let refusal = Failure(
            .invalid, "'\(words.joined(separator: " "))' is no receiver",
            hint: "write webhook, ntfy or alertmanager and an address, command and a program, or mail and an address")
        guard let kind = words.first, words.count > 1, kind == "command" || words.count == 2 else { throw refusal }
        switch kind {
        case "webhook": self = .webhook(url: try Configuration.url(words[1]))
        case "ntfy":
            let url = try Configuration.url(words[1])
            guard let cut = url.lastIndex(of: "/"), url[..<cut].contains("://"), url.index(after: cut) < url.endIndex
            else {
                throw Failure(
                    .invalid, "an address of ntfy ends with a topic, as https://ntfy.sh/my-topic, not '\(url)'")
            }
            self = .ntfy(server: String(url[..<cut]), topic: String(url[url.index(after: cut)...]))
        case "alertmanager":
            let url = try Configuration.url(words[1])
            self = .alertmanager(url: url + (url.hasSuffix("/") ? "" : "/") + "api/v2/alerts")
        case "command": self = .command(Array(words.dropFirst()))
        case "mail":
            guard words[1].contains("@"), !words[1].hasPrefix("-") else {
                throw Failure(.invalid, "'\(words[1])' is no address of mail")
            }
            self = .mail(to: words[1])
        default: throw refusal
        }
    }

    /// Where its notices are sent over HTTP; nil if a program gets them.
    var url: String? {
        switch self {
        case .webhook(let url), .alertmanager(let url): url
        case .ntfy(let server, _): server
        case .command, .mail: nil
        }
    }

    /// The program that gets its notices.
    var words: [String]? {
        switch self {
        case .command(let words): words
        case .mail: ["sendmail", "-i", "-t"]
        case .webhook, .ntfy, .alertmanager: nil
        }
    }

    /// Seconds after which what fires is told again although nothing has changed; nil for never. Alertmanager forgets
    /// alerts that nobody repeats, and all of them when it ends.
    var refreshInterval: Double? {
        if case .alertmanager = self { 60 } else { nil }
    }

    /// Seconds after which Alertmanager ends an alert that is not repeated.
    private static let lifetime: Int64 = 240

    /// A notice in the form of this receiver.
    func body(of notice: Notice, on host: String) -> [UInt8] {
        switch self {
        case .webhook, .command: Array(Receiver.json(notice, host).jsonText.utf8)
        case .ntfy(_, let topic): Array(Receiver.ntfy(notice, host, topic).jsonText.utf8)
        case .alertmanager: Array(Receiver.alertmanager(notice, host).jsonText.utf8)
        case .mail(let address): Array(Receiver.mail(notice, host, to: address).utf8)
        }
    }

    private static func json(_ notice: Notice, _ host: String) -> Value {
        [
            "id": .string("\(host)\(notice.id)"), "alert": .string("\(host)\(notice.alert)"),
            "status": .string(notice.status), "host": .string(host), "path": .string(notice.path),
            "severity": .string(notice.severity), "summary": .string(notice.summary),
            "since": notice.since, "time": notice.time, "count": .int(notice.count),
        ]
    }

    private static func ntfy(_ notice: Notice, _ host: String, _ topic: String) -> Value {
        let priority = notice.isFiring ? ["critical": 5, "warning": 4][notice.severity] ?? 3 : 2
        return [
            "topic": .string(topic), "title": .string("\(host): \(notice.heading)"),
            "message": .string(notice.summary), "priority": .int(Int64(priority)),
            "tags": [notice.isFiring ? "rotating_light" : "white_check_mark"],
        ]
    }

    private static func alertmanager(_ notice: Notice, _ host: String) -> Value {
        let labels: Value = [
            "alertname": .string(notice.summary), "instance": .string(host), "path": .string(notice.path),
            "severity": .string(notice.severity),
        ]
        var end = notice.time
        if notice.isFiring {
            // As Prometheus does: alerts of a bridge that has gone end after some missed repeats.
            var now = timespec()
            clock_gettime(CLOCK_REALTIME, &now)
            let seconds = Int64(now.tv_sec) + Receiver.lifetime
            end = Timestamp(seconds: seconds, nanoseconds: 0).map { .timestamp($0) } ?? .null
        }
        return [["labels": labels, "startsAt": notice.since, "endsAt": end]]
    }

    private static func mail(_ notice: Notice, _ host: String, to address: String) -> String {
        let subject = Base64.encode(Array("[\(host)] \(notice.heading): \(notice.summary)".utf8))
        let id = Base64.encode(Array(notice.id.utf8)).filter { $0 != "=" && $0 != "/" && $0 != "+" }
        return """
            To: \(address)
            Subject: =?UTF-8?B?\(subject)?=
            Message-ID: <\(id)@\(host)>
            MIME-Version: 1.0
            Content-Type: text/plain; charset=UTF-8
            Content-Transfer-Encoding: 8bit
            Auto-Submitted: auto-generated

            \(notice.summary)

            Alert:    \(notice.path) on \(host)
            Severity: \(notice.severity)
            Status:   \(notice.status) (notice \(notice.count))
            Since:    \(notice.since.string ?? "")

            """
    }
}

/// The newest notice of an alert.
struct Notice {
    var path: String
    /// `firing`, or `resolved` for the all-clear.
    var status: String
    /// The how manieth firing of the alert it belongs to, and the how manieth notice of its status it is.
    var number: Int64
    var count: Int64
    /// When it fired, and when the notice was made.
    var since: Value
    var time: Value
    var severity: String
    var summary: String

    /// - Parameters:
    ///   - notice: the value of the attribute `notice` of the component `Alert`.
    ///   - alert: that of `alert`.
    init?(_ path: String, notice: Value?, alert: Value?) {
        guard let notice = notice?.map, case .int(let number)? = notice["number"],
            case .int(let count)? = notice["count"],
            let status = notice["status"]?.string
        else { return nil }
        self.path = path
        (self.status, self.number, self.count) = (status, number, count)
        (since, time) = (notice["since"] ?? .null, notice["time"] ?? .null)
        severity = alert?.map?["severity"]?.string ?? "warning"
        summary = alert?.map?["summary"]?.string ?? path
    }

    var isFiring: Bool { status == "firing" }

    /// The same for all notices of a firing.
    var alert: String { "\(path)#\(number)" }

    /// The same when a notice is sent again.
    var id: String { "\(alert).\(status).\(count)" }

    /// The record of this notice that the alert stores under the name of a receiver.
    var record: Value { ["number": .int(number), "status": .string(status), "count": .int(count)] }

    var heading: String { isFiring ? severity : "over" }
}
