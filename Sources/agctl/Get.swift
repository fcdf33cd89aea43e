import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct GetCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "get", summary: "Print values.",
        discussion: """
            One path prints its value: a string as it is, anything else as JSON. Several paths, or patterns, print a \
            line each: path, tab, JSON. An attribute with an error ends with status 2; a path that names nothing with \
            66, one that is not well formed with 65.

            Examples:
              agctl get /player.isPlaying
              agctl get /player.episode.title /app.items[0].done
              agctl get '/hosts/*.load'
              agctl get /player/playButton.scale --presentation
              agctl get /host.bootTime --typed
            """,
        aliases: ["cat"])

    @Argument(
        help: ArgumentHelp("Paths, or patterns with * and **.", valueName: "path"), completion: Suggestions.places)
    var paths: [String]

    @Flag(help: "Print displayed values, which differ from the model values during an animation.")
    var presentation = false

    @Flag(help: "Write typed JSON, which names every value's type.")
    var typed = false

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        if paths.count == 1, !Self.isPattern(paths[0]) { return try printOne(session) }
        var count = 0
        var failures: [(path: String, code: ErrorCode)] = []
        let request = Request.get(.init(paths: paths, presentation: presentation, typed: typed))
        // A reply may have hundreds of thousands of values. Each is written as it is read.
        let result = try session.connection().call(request) { result throws(ClientError) in
            let (values, isJSON) = (result["values"], session.isJSON)
            var width = 0
            if session.output.isTerminal {
                values?.forEachMember { path, _ in
                    width = max(width, DisplayWidth.of(String(decoding: path, as: UTF8.self).printable))
                }
            }
            try values?.forEachMember { (path, content) throws(ClientError) in
                count += 1
                let content = try Content(content)
                if let code = content.failure?.code { failures.append((String(decoding: path, as: UTF8.self), code)) }
                if !isJSON { ContentRow.write(path, content, width: width, to: session.output) }
            }
            return isJSON ? result.value : .null
        }
        guard count > 0 else { throw Complaint(.notFound, "nothing matches \(paths.joined(separator: " "))") }
        if session.isJSON { session.output.json(result) }
        if failures.isEmpty { return }
        // Attributes that a pattern has matched exist, whatever their errors are.
        let named = failures.filter { failure in paths.contains { $0.hasSameBytes(as: failure.path) } }
        if named.contains(where: { $0.code == .invalid && !Self.namesAttributes($0.path) }) {
            throw EndOfCommand(status: .data)
        }
        throw EndOfCommand(status: named.contains { $0.code == .notFound } ? .notFound : .attributeError)
    }

    /// True if the text has the form of an attribute's path or of a pattern.
    private static func namesAttributes(_ path: String) -> Bool {
        if isPattern(path) { return (try? PathPattern(path)) != nil }
        return (try? AttributePath(path))?.attribute != nil
    }

    /// True if the path has wildcards outside of quoted ids.
    static func isPattern(_ path: String) -> Bool {
        guard path.contains("*") else { return false }
        return (try? AttributePath(path)) == nil
    }

    private func printOne(_ session: Session) throws {
        let request = Request.Get(paths: paths, isSingle: true, presentation: presentation, typed: typed)
        let result = try session.connection().call(.get(request))
        let content = try Content(result: result)
        if session.isJSON {
            session.output.json(result)
        } else if case .value(let value) = content {
            let text = value.string.map(session.output.userText) ?? value.jsonText.printable
            session.output.writeLine(session.output.style.paintValue(text, of: value))
        }
        if case .failure(let failure) = content {
            let status: ExitStatus = failure.code == .notFound ? .notFound : .attributeError
            if session.isJSON { throw EndOfCommand(status: status) }
            throw Complaint(failure, status: status)
        }
    }
}
