import AttributeValues

/// All mistakes of a document, in the order of their positions.
public struct SceneFaults: Error {
    /// Never empty; at most `SceneLimits.faults`.
    public let faults: [SceneFault]
    /// Faults beyond the limit.
    public let omitted: Int
    public let file: String?
    private let lines: SourceLines?

    init(_ faults: [SceneFault], omitted: Int, file: String?, lines: SourceLines?) {
        precondition(!faults.isEmpty)
        self.faults = faults
        self.omitted = omitted
        self.file = file
        self.lines = lines
    }
}

extension SceneFaults: CustomStringConvertible {
    /// The form for terminals, without colours.
    public var description: String { String(draw { $0.draw() }.dropLast()) }

    /// The form for terminals: for each fault `file:line:column: error: …`, the line of the document with a caret, hint
    /// and note, each on complete lines.
    /// - Parameter excerpt: draws a line with a caret.
    public func draw(_ excerpt: (LineExcerpt) -> String) -> String {
        var text = faults.map { describe($0, excerpt) }.joined()
        if omitted > 0 { text += "\(file ?? "document"): \(omitted) more fault\(omitted == 1 ? "" : "s")\n" }
        return text
    }

    private func describe(_ fault: SceneFault, _ excerpt: (LineExcerpt) -> String) -> String {
        let kind = fault.isWarning ? "warning" : "error"
        var text = "\(location(fault.position, fault.place)): \(kind): \(fault.message)\n"
        if let found = lines?.excerpt(at: fault.position) {
            text += excerpt(found)
        } else if let rule = fault.rule, let place = fault.rulePosition {
            text += SourceLines(rule).excerpt(at: place).map(excerpt) ?? ""
        }
        if let hint = fault.hint { text += "  hint: \(hint)\n" }
        if let note = fault.note {
            text +=
                note.position == .none
                ? "  note: \(note.message)\n" : "  \(location(note.position, "")): note: \(note.message)\n"
        }
        return text
    }

    private func location(_ position: SourcePosition, _ place: String) -> String {
        guard position != .none else { return place.isEmpty ? file ?? "document" : place }
        return "\(file ?? "document"):\(position.line):\(position.column)"
    }

    /// One line for each, for logs.
    public var lineByLine: [String] {
        faults.map { fault in
            let hint = fault.hint.map { " (\($0))" } ?? ""
            return "\(location(fault.position, fault.place)): \(fault.message)\(hint)\(note(of: fault))"
        }
    }

    /// The related position of a fault, on the same line.
    private func note(of fault: SceneFault) -> String {
        guard let note = fault.note else { return "" }
        return note.position == .none ? "; \(note.message)" : "; \(note.message): \(location(note.position, ""))"
    }

    /// The refusal of a request: the only fault, or `invalid` with all faults in the message.
    public var failure: Failure {
        let first = faults[0]
        guard faults.count == 1, omitted == 0 else {
            let more = omitted > 0 ? ["and \(omitted) more"] : []
            let told = (lineByLine + more).joined(separator: "\n")
            return Failure(.invalid, "the document has \(faults.count + omitted) faults:\n\(told)")
        }
        return Failure(
            first.code, "\(location(first.position, first.place)): \(first.message)\(note(of: first))",
            rule: first.rule, line: first.rulePosition?.line, column: first.rulePosition?.column, hint: first.hint)
    }
}
