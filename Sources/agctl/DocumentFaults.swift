import AttributeValues
import SceneModel

/// A scene's faults from the daemon, with the file's name and source lines added. The daemon does not know the file. It
/// begins each fault with `document:LINE:COLUMN:`.
enum DocumentFaults {
    private static let placeholder = "document"

    static func makeComplaint(_ failure: Failure, text: String, file: String, _ style: Style) -> Complaint {
        let lines = failure.message.lines
        let told = lines.compactMap(fault)
        guard !told.isEmpty else { return Complaint(failure, status: ExitStatus(failure)) }
        let message = lines.count == 1 ? told[0].message : String(lines[0].prefix { $0 != ":" })
        // The document's own lines show more than the rule alone.
        var complaint = Complaint(ExitStatus(failure), message, hint: failure.hint)
        complaint.code = failure.code.rawValue
        complaint.drawing = drawing(lines, source: text.lines, file: file, style)
        complaint.scene = (file, faults(told, failure, text: text))
        return complaint
    }

    private static func drawing(_ lines: [String], source: [String], file: String, _ style: Style) -> String {
        lines.map { line in
            guard let (position, message) = fault(line) else { return line + "\n" }
            var text =
                "\(style.bold("\(file):\(position.line):\(position.column):")) \(style.red("error:")) \(message)\n"
            if source.indices.contains(position.line - 1) {
                text += style.draw(LineExcerpt(source[position.line - 1], column: position.column))
            }
            return text
        }.joined()
    }

    /// If there are several faults, the daemon sends only their positions and messages. Checking the document here
    /// finds most of them with all details.
    private static func faults(
        _ told: [(position: SourcePosition, message: String)], _ failure: Failure, text: String
    ) -> [SceneFault] {
        var known: [SceneFault] = []
        do throws(SceneFaults) { _ = try SceneReader.read(text: text) } catch { known = error.faults }
        return told.map { position, message in
            known.first { $0.position == position && message.hasPrefix($0.message) }
                ?? SceneFault(failure.code, message, position: position, rule: failure.rule, hint: failure.hint)
        }
    }

    private static func fault(_ line: String) -> (position: SourcePosition, message: String)? {
        let parts = line.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == placeholder, let number = Int(parts[1]), let column = Int(parts[2]),
            number > 0, column > 0
        else { return nil }
        return (SourcePosition(line: number, column: column), parts[3].trimmed)
    }
}

extension SceneFault {
    /// The form in the lists of `check` and `apply`.
    func json(file: String) -> Value {
        var map = ValueMap([
            (.string("file"), .string(file)), (.string("code"), .string(code.rawValue)),
            (.string("message"), .string(message)),
        ])
        if position != .none {
            map["line"] = .int(Int64(position.line))
            map["column"] = .int(Int64(position.column))
        }
        if !place.isEmpty { map["place"] = .string(place) }
        map["rule"] = rule.map { .string($0) }
        map["hint"] = hint.map { .string($0) }
        if isWarning { map["warning"] = .bool(true) }
        return .map(map)
    }
}
