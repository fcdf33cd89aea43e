import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct SitesCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "sites", summary: "List the mirrors of other machines' subtrees.",
        discussion: """
            A line for each mirror of agd-link: its path, its state (live, late or silent), the seconds that it is \
            behind its owner, its revision, when its owner last sent something, the errors of its attributes, and the \
            program that publishes it. Status 1 if a mirror is silent.

            --retire removes a silent site that will not return, here and at all other mirrors. It needs the right \
            'do' on retireSite of the mirror's node. If an owner publishes the site again, it comes back.

            Examples:
              agctl sites
              agctl sites /fleet
              agctl sites --json
              agctl sites --retire /fleet/web-07
            """)

    @Argument(help: "Only the mirrors below this node.", completion: Suggestions.nodes)
    var path = "/"

    @Option(
        help: ArgumentHelp(
            "Remove this mirror, whose owner will not return: its path, or the last part of it.", valueName: "name"))
    var retire: String?

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let sites = try MirroredSite.all(in: session.values(of: MirroredSite.attributes, atOrBelow: path))
        if sites.isEmpty {
            throw Complaint(
                .notFound, "there is no mirror below \(path)",
                hint: "the 'mirror' lines of agd-link's configuration make mirrors")
        }
        if let retire { return try self.retire(retire, sites, session) }
        show(sites, session)
        if sites.contains(where: { $0.state == "silent" }) { throw EndOfCommand(status: .different) }
    }

    private func retire(_ name: String, _ sites: [MirroredSite], _ session: Session) throws {
        let found = sites.filter { site in
            Name(site.path) == Name(name) || (try? AttributePath(site.path))?.nodes.last == Name(name)
        }
        guard let site = found.first, found.count == 1 else {
            let paths = (found.isEmpty ? sites : found).prefix(12).map(\.path).joined(separator: ", ")
            throw Complaint(
                .notFound, found.isEmpty ? "there is no mirror '\(name)'" : "'\(name)' is the name of several mirrors",
                hint: found.isEmpty ? "the mirrors are \(paths)" : "write one of \(paths)")
        }
        let path = RequestPath("\(site.path).retireSite")
        _ = try session.connection().call(.do(path: path, arguments: ValueMap(), TransactionOptions()))
    }

    private func show(_ sites: [MirroredSite], _ session: Session) {
        let output = session.output
        if session.isJSON { return output.json(.list(sites.map(\.json))) }
        guard output.isTerminal else {
            for site in sites { output.writeLine(site.cells.joined(separator: "\t")) }
            return
        }
        let heads = ["SITE", "STATE", "LAG", "REVISION", "SEEN", "ERRORS", "OWNER"].map(output.style.dim)
        let rows = sites.map { site in
            var cells = site.cells
            switch site.state {
            case "live": cells[1] = output.style.green(cells[1])
            case "late": cells[1] = output.style.yellow(cells[1])
            default: cells[1] = output.style.red(cells[1])
            }
            return cells
        }
        output.write(TextTable(rows: [heads] + rows).text(numeric: [2, 3, 5]))
    }
}

/// A mirror's data about its owner.
struct MirroredSite {
    /// The attributes of the root of every mirror.
    static let attributes = ["isLive", "lag", "revision", "seen", "failures", "owner"]

    var path: String
    private var values: ValueMap

    /// The mirrors among values of `attributes`, by path: nodes that have all of them.
    static func all(in values: ValueMap) throws -> [MirroredSite] {
        var sites: [Name: ValueMap] = [:]
        for (path, content) in values {
            guard let path = path.string, let place = try? AttributePath(path), let attribute = place.attribute,
                let value = try Content(result: content).value
            else { continue }
            sites[AttributePath.describe(nodes: place.nodes), default: ValueMap()][.string(attribute)] = value
        }
        return sites.filter { $0.value.count == attributes.count }.sorted { $0.key < $1.key }.map {
            MirroredSite(path: $0.key.text, values: $0.value)
        }
    }

    private var lag: Double { values["lag"]?.number ?? 0 }

    var state: String { values["isLive"] != true ? "silent" : lag > 0 ? "late" : "live" }

    /// In the order of the table's columns.
    var cells: [String] {
        [
            path, state, Figure.fixed(lag, places: 1), values["revision"]?.jsonText ?? "",
            values["seen"]?.string ?? "never", "\(values["failures"]?.map?.count ?? 0)",
            (values["owner"]?.string ?? "").printable,
        ]
    }

    var json: Value {
        var members = ValueMap([("path", .string(path)), ("state", .string(state))])
        for name in MirroredSite.attributes { members[.string(name)] = values[.string(name)] }
        return .map(members)
    }
}
