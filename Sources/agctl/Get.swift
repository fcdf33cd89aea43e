import AGClient
import ArgumentParser
import AttributeValues
import WireProtocol

/// What of an attribute is read.
struct Reading {
    var presentation = false
    var isTyped = false
}

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print values.",
        discussion: """
            One path prints its value: a string as it is, anything else as JSON. Several paths, or patterns, print a line each: \
            path, tab, JSON. An attribute with an error ends with status 2; a path that names nothing with 66.

            Examples:
              agctl get /player.isPlaying
              agctl get /player.episode.title /app.items[0].done
              agctl get '/hosts/*.load'
              agctl get /player/playButton.scale --presentation
              agctl get /host.bootTime --typed
            """)

    @Argument(help: ArgumentHelp("Paths, or patterns with * and **.", valueName: "path"))
    var paths: [String]

    @Flag(help: "What is displayed now, in the middle of an animation, instead of the model value.")
    var presentation = false

    @Flag(help: "Write typed JSON, which names every value's type.")
    var typed = false

    @OptionGroup var common: CommonOptions

    func run() throws {
        try perform(common) { try Self.perform(paths, Reading(presentation: presentation, isTyped: typed), $0) }
    }

    static func perform(_ paths: [String], _ reading: Reading, _ session: Session) throws {
        if paths.contains(where: isPattern) { return try performPatterns(paths, reading, session) }
        if paths.count == 1 { return try performSingle(paths[0], reading, session) }
        let result = try session.connection().call(request(paths, isSingle: false, reading))
        let failures = try show(result, session)
        if !failures.isEmpty { throw EndOfCommand(status: status(of: failures)) }
    }

    /// Whether wildcards stand in the path, outside of quoted ids.
    static func isPattern(_ path: String) -> Bool {
        guard path.contains("*") else { return false }
        return (try? AttributePath(path)) == nil
    }

    private static func request(_ paths: [String], isSingle: Bool, _ reading: Reading) -> Request {
        .get(.init(paths: paths, isSingle: isSingle, presentation: reading.presentation, typed: reading.isTyped))
    }

    private static func performSingle(_ path: String, _ reading: Reading, _ session: Session) throws {
        let result = try session.connection().call(request([path], isSingle: true, reading))
        let content = try Content(result: result)
        if session.settings.isJSON {
            session.output.json(result)
        } else if case .value(let value) = content {
            let text = value.string ?? value.jsonText
            session.output.line(session.output.style.value(text, of: value))
        }
        if case .failure(let failure) = content {
            if session.settings.isJSON { throw EndOfCommand(status: status(of: [failure])) }
            throw Complaint(failure, status: status(of: [failure]))
        }
    }

    /// A pattern is what a subscription understands; its snapshot is the answer.
    private static func performPatterns(_ paths: [String], _ reading: Reading, _ session: Session) throws {
        let connection = try session.connection()
        _ = try connection.call(.subscribe(.init(
            patterns: paths, events: .update, initial: true, since: nil, maxRate: nil, frameRate: nil, css: false, typed: false,
            bookmarks: false)))
        while let message = try connection.receive() {
            guard case .event(_, .update(_, _, _, true, let changes, _)) = message else { continue }
            let named = changes.map(\.path)
            guard !named.isEmpty else { throw Complaint(.notFound, "nothing matches \(paths.joined(separator: " "))") }
            let failures = try show(try connection.call(request(named, isSingle: false, reading)), session)
            // What a pattern matched is there, whatever its error says is not.
            if !failures.isEmpty { throw EndOfCommand(status: .attributeError) }
            return
        }
    }

    /// - Returns: the failures of those that have no value.
    private static func show(_ result: Value, _ session: Session) throws -> [Failure] {
        var rows: [ContentRow] = []
        for (path, content) in result.map?["values"]?.map ?? ValueMap() {
            rows.append(ContentRow(path: path.string ?? "", content: try Content(result: content)))
        }
        if session.settings.isJSON { session.output.json(result) } else { session.output.write(ContentRow.text(rows, session.output)) }
        return rows.compactMap(\.content.failure)
    }

    /// That of a path that names nothing, else that of an attribute's error.
    private static func status(of failures: [Failure]) -> ExitStatus {
        failures.contains { $0.code == .notFound } ? .notFound : .attributeError
    }
}
