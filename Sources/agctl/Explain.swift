import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct ExplainCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "explain", summary: "Tell why an attribute has its value and why it last changed.",
        discussion: """
            Examples:
              agctl explain /player/playButton.symbol
              agctl explain /host.status --revision 41
            """)

    @Argument(help: "The attribute.", completion: Suggestions.places)
    var path: String

    @Option(help: ArgumentHelp("Also why it changed at this revision, or did not.", valueName: "n"))
    var revision: UInt64?

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let result = try session.connection().call(.explain(path: path, revision: revision))
        if session.isJSON { return session.output.json(result) }
        session.output.write(ExplanationText(style: session.output.style).text(result.map ?? ValueMap()))
    }
}

struct ExplanationText {
    var style: Style

    func text(_ map: ValueMap) -> String {
        var text = style.bold((map["path"]?.string ?? "").printable)
        if let error = map["error"]?.map?["message"]?.string {
            text += "  \(style.red("error: " + error.printable))\n"
        } else {
            let value = map["value"] ?? .null
            text += "  \(style.paintValue(value.jsonText.printable, of: value))\n"
        }
        if let kind = map["kind"]?.string { text += line("kind", kind) }
        if let rule = map["rule"]?.string { text += line("rule", rule) }
        if let layer = map["layer"]?.map {
            text += line("layer", "\(layer["name"]?.string ?? "") at \(layer["at"]?.string ?? "")")
        }
        if case .int(let count)? = map["evaluations"], count > 0 { text += line("runs", "\(count)") }
        if let changed = map["changed"]?.map {
            text += line("changed", transaction(changed))
            if let action = changed["action"]?.string { text += line("action", action) }
        }
        text += list("through", map["chain"], separator: " ← ")
        text += list("reads", map["dependencies"], separator: ", ")
        text += list("read by", map["dependents"], separator: ", ")
        if let at = map["at"]?.map { text += self.at(at) }
        return text
    }

    /// Clients have chosen labels and names, so they may contain anything.
    private func line(_ name: String, _ content: String) -> String {
        "  \(style.dim(DisplayWidth.pad(name, to: 8)))  \(content.printable)\n"
    }

    private func list(_ name: String, _ value: Value?, separator: String) -> String {
        let paths = (value?.list ?? []).compactMap(\.string)
        return paths.isEmpty ? "" : line(name, paths.joined(separator: separator))
    }

    private func transaction(_ map: ValueMap) -> String {
        guard case .int(let revision)? = map["revision"] else { return map["reason"]?.string ?? "unknown" }
        var parts = ["revision \(revision)"]
        if let label = map["label"]?.string { parts.append("'\(label)'") }
        if let time = map["time"]?.string { parts.append("at \(time)") }
        if let client = map["client"]?.map {
            let name = client["name"]?.string ?? "a client"
            if let principal = client["as"]?.string { parts.append("for \(principal)") }
            parts.append("by \(name) (pid \(client["pid"]?.jsonText ?? "?"), uid \(client["uid"]?.jsonText ?? "?"))")
        } else if let client = map["client"]?.string {
            parts.append("by \(client)")
        }
        let writes = (map["writes"]?.list ?? []).compactMap(\.string)
        if !writes.isEmpty { parts.append("wrote \(writes.joined(separator: ", "))") }
        return parts.joined(separator: " ")
    }

    private func at(_ map: ValueMap) -> String {
        let what: String
        switch map["changed"] {
        case .bool(true)?: what = "it changed"
        case .bool(false)?: what = "it stayed the same: \(map["reason"]?.string ?? "")"
        default: what = map["reason"]?.string ?? ""
        }
        let transaction = map["transaction"]?.map.map { line("", self.transaction($0)) } ?? ""
        return line("then", what) + transaction
    }
}
