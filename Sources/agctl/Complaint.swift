import AGClient
import AttributeValues
import SceneModel

/// The error of a command, as the user sees it.
struct Complaint: Error {
    var status: ExitStatus
    var message: String
    var code: String?
    /// The faulty rule and the position in it, from 1.
    var rule: (text: String, line: Int, column: Int)?
    /// A faulty text and the position in it, from 1.
    var excerpt: (text: String, line: Int, column: Int)?
    var hint: String?
    var scene: (file: String, faults: [SceneFault])?
    /// The faults in the form of compilers, with their source lines. For people, instead of the message.
    var drawing: String?

    init(_ status: ExitStatus, _ message: String, hint: String? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
    }

    init(_ error: ClientError) {
        status = ExitStatus(error)
        message = "\(error)"
        hint = error.hint
        if let failure = error.failure { describe(failure) }
    }

    init(_ failure: Failure, status: ExitStatus) {
        self.status = status
        message = failure.message
        hint = failure.hint
        describe(failure)
    }

    init(_ fault: JSONFault, of text: String) {
        status = .data
        message = "not JSON at \(fault.place): \(fault.message)"
        excerpt = (text, fault.line, fault.column)
    }

    /// The same error, preceded by its position in the input.
    func located(at place: String) -> Complaint {
        var complaint = self
        complaint.message = "\(place): \(message)"
        return complaint
    }

    private mutating func describe(_ failure: Failure) {
        code = failure.code.rawValue
        if let path = failure.path, !message.contains(path) { message += " (\(path))" }
        if let text = failure.rule, let column = failure.column { rule = (text, failure.line ?? 1, column) }
    }

    /// Message, the rule with a caret, hint.
    func text(_ style: Style) -> String {
        // A message may contain texts of users.
        var text = drawing ?? "\(style.bold("agctl:")) \(message.printableLines)\n"
        if let faulty = rule ?? excerpt {
            let lines = faulty.text.lines
            if lines.indices.contains(faulty.line - 1) {
                text += style.draw(LineExcerpt(lines[faulty.line - 1], column: faulty.column))
            }
        }
        if let hint { text += "  \(style.dim("hint:")) \(hint.printableLines)\n" }
        return text
    }

    /// `{"error": {"message", "status"}}` with all other known fields.
    var json: Value {
        var map = ValueMap([(.string("message"), .string(message))])
        map["code"] = code.map { .string($0) }
        map["rule"] = (rule?.text).map { .string($0) }
        map["line"] = (rule?.line ?? excerpt?.line).map { .int(Int64($0)) }
        map["column"] = (rule?.column ?? excerpt?.column).map { .int(Int64($0)) }
        map["hint"] = hint.map { .string($0) }
        map["faults"] = scene.map { file, faults in .list(faults.map { $0.json(file: file) }) }
        map["status"] = .int(Int64(status.rawValue))
        return ["error": .map(map)]
    }

    /// Writes it to standard error.
    func report(_ form: ErrorForm) -> Int32 {
        form.tell(text(form.style), json)
        return status.rawValue
    }
}

extension Style {
    /// A line of text with a caret below it.
    func draw(_ excerpt: LineExcerpt) -> String { excerpt.draw(gutter: dim("|"), caret: red("^")) }
}

extension Complaint: CustomStringConvertible {
    var description: String { message }
}
