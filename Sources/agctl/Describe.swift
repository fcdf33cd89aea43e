import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct DescribeCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "describe",
        summary: "Describe a node or an attribute, or the protocol with its methods and events.",
        discussion: """
            For a path, shows kinds, types and rules of the node or attribute. For a method or an event, shows its \
            parameters. Without an argument, lists all methods and events; with --json, prints the protocol's schema, \
            as OpenRPC.

            Examples:
              agctl describe /player/playButton.scale
              agctl describe /player --depth 0
              agctl describe
              agctl describe subscribe
              agctl describe update
              agctl describe --json > agd.openrpc.json
            """)

    @Argument(
        help: ArgumentHelp("A path, a method or an event.", valueName: "subject"), completion: Suggestions.subjects)
    var subject: String?

    @Option(help: ArgumentHelp("Levels of children.", valueName: "n"))
    var depth: Int?

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let output = session.output
        if let subject, subject.hasPrefix("/") {
            let result = try session.connection().call(.describe(path: subject, depth: depth))
            if session.isJSON { return output.json(result) }
            if result.map?["id"] != nil {
                let columns = output.isTerminal ? Terminal.size.columns : Int.max
                return output.write(
                    TreeDrawing(style: output.style, columns: columns, showsAttributes: true).text(result))
            }
            return output.write(FieldList.text(result.map ?? ValueMap(), output.style))
        }
        let schema = try session.connection().call(.describe(path: nil, depth: nil))
        guard let subject else {
            return session.isJSON ? output.json(schema) : output.write(ProtocolText.text(schema, output.style))
        }
        let entries = ProtocolText.listMethods(schema) + ProtocolText.listEvents(schema)
        guard let entry = entries.first(where: { $0["name"]?.string == subject }) else {
            let names = entries.compactMap { $0["name"]?.string }
            throw Complaint(
                .notFound, "there is no method or event '\(subject)'",
                hint: NearestName.hint(subject, among: names) ?? "a path begins with /")
        }
        session.isJSON ? output.json(.map(entry)) : output.write(ProtocolText.text(of: entry, output.style))
    }
}

/// Names and values, one per line.
enum FieldList {
    static func text(_ map: ValueMap, _ style: Style) -> String {
        let rows = map.map { name, value -> [String] in
            // An error is shown in a few words. The JSON output contains all of it.
            let error = name == "error" ? value.map?["message"]?.string : nil
            let text = style.paintValue((value.string ?? value.jsonText).printable, of: value)
            return [style.yellow(name.string ?? ""), error.map { style.red($0.printable) } ?? text]
        }
        return TextTable(rows: rows).text()
    }
}

/// The protocol's schema for people.
enum ProtocolText {
    static func listMethods(_ schema: Value) -> [ValueMap] { (schema.map?["methods"]?.list ?? []).compactMap(\.map) }

    static func listEvents(_ schema: Value) -> [ValueMap] { (schema.map?["x-events"]?.list ?? []).compactMap(\.map) }

    /// The methods, followed by the events.
    static func text(_ schema: Value, _ style: Style) -> String {
        list(listMethods(schema), style) + "\nevents\n" + list(listEvents(schema), style)
    }

    private static func list(_ entries: [ValueMap], _ style: Style) -> String {
        TextTable(rows: entries.map { [style.bold($0["name"]?.string ?? ""), $0["summary"]?.string ?? ""] }).text()
    }

    /// A method or an event.
    static func text(of entry: ValueMap, _ style: Style) -> String {
        var text = "\(style.bold(entry["name"]?.string ?? ""))  \(entry["summary"]?.string ?? "")\n"
        let parameters = (entry["params"]?.list ?? []).compactMap(\.map)
        if !parameters.isEmpty {
            text += "\nparameters\n"
            text += TextTable(
                rows: parameters.map { parameter in
                    let isRequired = parameter["required"] == .bool(true)
                    return [
                        "  " + style.yellow(parameter["name"]?.string ?? ""),
                        style.dim(isRequired ? "required" : ""), style.dim(form(parameter["schema"])),
                        parameter["description"]?.string ?? "",
                    ]
                }
            ).text()
        }
        let errors = (entry["errors"]?.list ?? []).compactMap { $0.map?["message"]?.string }
        if let need = entry["x-needs"]?.map, let right = need["right"]?.string, let place = need["on"]?.string {
            text += "\nneeds\n  the right \(style.bold(right)) on \(place)\n"
        }
        if !errors.isEmpty { text += "\nerrors\n  \(errors.joined(separator: ", "))\n" }
        return text
    }

    /// A schema in a few words.
    private static func form(_ schema: Value?) -> String {
        guard let map = schema?.map else { return "" }
        if let words = map["enum"]?.list { return words.compactMap(\.string).joined(separator: "|") }
        var text = map["type"]?.string ?? (map["type"]?.list ?? []).compactMap(\.string).joined(separator: "|")
        if text == "array", let element = map["items"] { text = "[\(form(element))]" }
        if text.isEmpty { text = "any" }
        if let fallback = map["default"] { text += " = \(fallback.jsonText)" }
        return text
    }
}
