import AGClient
import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

struct LogCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "log", summary: "List what has happened: who wrote what and when.",
        discussion: """
            It asks agd-past, which reads the archive of agd. Without a pattern, all transactions are listed, the \
            newest first; a node stands for all below it. A time is 03:12 (the last one), '2026-11-28 03:12', 1h (ago), RFC \
            3339, or a revision.

            Examples:
              agctl log --from 1h
              agctl log /room.warmth -n 5
              agctl log '/host/**' --from 03:00 --to 04:00 --by agd-host-feeder
              agctl log --label backup --json | jq .revision
            """)

    @Argument(help: "Paths and patterns.", completion: Suggestions.places)
    var patterns: [String] = []

    @Option(help: ArgumentHelp("Not before this time or revision.", valueName: "time"))
    var from: String?

    @Option(help: ArgumentHelp("Not after this time or revision.", valueName: "time"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "Only those of this client, principal or user number; agd for the daemon.", valueName: "name"))
    var by: String?

    @Option(help: ArgumentHelp("Only those whose label contains this.", valueName: "text"))
    var label: String?

    @Flag(help: "Only those that changed the tree or declarations.")
    var structure = false

    @Option(short: "-n", help: ArgumentHelp("So many at most (100).", valueName: "count"))
    var count: Int?

    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        if let count, count < 1 || count > 10_000 { throw UsageError("-n is a number from 1 to 10000") }
    }

    func run(_ session: Session) throws {
        let log = Request.Log(
            patterns: patterns, from: try from.map { try PastTime(words: $0) },
            to: try to.map { try PastTime(words: $0) },
            by: by, label: label, count: count, structure: structure)
        let result = try session.past().call(.log(log)).map ?? ValueMap()
        let transactions = result["transactions"]?.list ?? []
        if session.isJSON {
            for transaction in transactions { session.output.json(transaction) }
            return
        }
        let text = LogText(style: session.output.style)
        var gaps = Gap.all(in: result)[...]
        func writeGap() {
            if let gap = gaps.popFirst() { session.output.writeLine(session.output.style.dim(gap.text)) }
        }
        for transaction in transactions.map({ $0.map ?? ValueMap() }) {
            let time = transaction["time"]?.string.flatMap { Timestamp($0) } ?? .epoch
            while let gap = gaps.first, gap.from >= time { writeGap() }
            session.output.write(text.text(transaction))
        }
        while !gaps.isEmpty { writeGap() }
        if transactions.isEmpty { session.output.writeLine(session.output.style.dim("nothing has happened")) }
    }
}

/// Transactions as text.
struct LogText {
    var style: Style

    func text(_ map: ValueMap) -> String {
        var text = heading(map) + "\n"
        let writes = (map["writes"]?.list ?? []).compactMap(\.map)
        let width = min(48, writes.map { ($0["path"]?.string ?? "").count }.max() ?? 0)
        for write in writes { text += "    " + line(write, width) + "\n" }
        for change in (map["structure"]?.list ?? []).compactMap(\.map) {
            let isGone = change["gone"] == true
            let row = (change["row"]?.string ?? "").printable
            text += "    " + (isGone ? style.red("- \(row)") : style.green("+ \(row)")) + "\n"
        }
        if map["more"] == true { text += "    …\n" }
        return text
    }

    /// Which transaction it is: when, who and why.
    func heading(_ map: ValueMap) -> String {
        var text = style.yellow("revision \(map["revision"]?.jsonText ?? "?")")
        text += "  \(time(map["time"]))  \(who(map["client"]))"
        if let label = map["label"]?.string { text += "  '\(label.printable)'" }
        return text
    }

    private func line(_ write: ValueMap, _ width: Int) -> String {
        let name = padded(write["path"]?.string ?? "", width)
        let after = shown(write["after"])
        if let count = write["count"]?.jsonText {
            let (least, greatest) = (shown(write["least"]), shown(write["greatest"]))
            return "\(name)  \(style.dim("\(count) writes, \(least) to \(greatest), the last")) \(after)"
        }
        let before = write["before"].map { "\(shown($0)) → " } ?? "→ "
        return "\(name)  \(before)\(after)\(write["reaction"] == true ? style.dim("  reaction") : "")"
    }

    func padded(_ path: String, _ width: Int) -> String {
        let path = path.printable
        return path + String(repeating: " ", count: max(0, width - path.count))
    }

    /// A long value is cut.
    func shown(_ value: Value?) -> String {
        guard let value else { return "?" }
        let text = value.jsonText.printable
        return text.count <= LogText.longest
            ? style.paintValue(text, of: value) : String(text.prefix(LogText.longest)) + "…"
    }

    private static let longest = 60

    private func who(_ client: Value?) -> String {
        guard let map = client?.map else { return client?.string ?? "somebody" }
        let name = (map["as"]?.string ?? map["name"]?.string ?? "a client").printable
        return "\(name) (pid \(map["pid"]?.jsonText ?? "?"), uid \(map["uid"]?.jsonText ?? "?"))"
    }

    /// In local time, to the millisecond.
    private func time(_ value: Value?) -> String {
        guard let text = value?.string, let time = Timestamp(text) else { return "?" }
        var seconds = Int(time.seconds)
        var date = tm()
        localtime_r(&seconds, &date)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, "%F %T", &date)
        let milliseconds = String(1000 + Int(time.nanoseconds) / 1_000_000).dropFirst()
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) + "." + milliseconds
    }
}
