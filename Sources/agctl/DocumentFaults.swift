import AttributeValues

/// A scene's faults as the daemon tells them, given the file's name and the lines they stand in. The daemon does not know the
/// file; it begins each fault with `document:LINE:COLUMN:`.
enum DocumentFaults {
    private static let placeholder = "document"

    static func complaint(_ failure: Failure, text: String, file: String, _ style: Style) -> Complaint {
        let lines = failure.message.lines
        guard lines.contains(where: { place(of: $0) != nil }) else { return Complaint(failure, status: ExitStatus(failure)) }
        let source = text.lines
        var told: [String] = []
        for line in lines {
            guard let place = place(of: line) else {
                told.append(line)
                continue
            }
            var fault = "\(style.bold("\(file):\(place.line):\(place.column):")) \(style.red("error:")) \(place.message)"
            if source.indices.contains(place.line - 1) {
                fault += "\n" + String(Caret.text(under: source[place.line - 1], place.column, style).dropLast())
            }
            told.append(fault)
        }
        // The document's own lines show more than the rule cut out of it.
        var complaint = Complaint(ExitStatus(failure), told.joined(separator: "\n"), hint: failure.hint)
        complaint.code = failure.code.rawValue
        complaint.namesPlace = true
        return complaint
    }

    private static func place(of line: String) -> (line: Int, column: Int, message: String)? {
        let parts = line.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == placeholder, let number = Int(parts[1]), let column = Int(parts[2]), number > 0, column > 0
        else { return nil }
        return (number, column, parts[3].trimmed)
    }
}
