import AttributeValues

/// One mistake in a document.
public struct SceneFault: Hashable, Sendable {
    /// `invalid` for a fault of the format, a rule's own code, `typeMismatch`, `notFound`, `conflict`, or `limit`.
    public var code: ErrorCode
    /// One sentence without its position.
    public var message: String
    /// The position in the document: `nodes[2].computed.symbol`. Empty for the whole.
    public var place: String
    /// The position in the text; `none` if the document was a value.
    public var position: SourcePosition
    /// The faulty rule, and the position in it (1-based, in code points).
    public var rule: String?
    public var rulePosition: SourcePosition?
    /// A suggestion what to do.
    public var hint: String?
    /// Another position that is related to the fault.
    public var note: Note?
    /// It refuses nothing.
    public var isWarning = false

    public struct Note: Hashable, Sendable {
        public var message: String
        public var position: SourcePosition

        public init(_ message: String, _ position: SourcePosition) {
            self.message = message
            self.position = position
        }
    }

    public init(
        _ code: ErrorCode, _ message: String, place: String = "", position: SourcePosition = .none, rule: String? = nil,
        rulePosition: SourcePosition? = nil, hint: String? = nil, note: Note? = nil
    ) {
        self.code = code
        self.message = message
        self.place = place
        self.position = position
        self.rule = rule
        self.rulePosition = rulePosition
        self.hint = hint
        self.note = note
    }
}

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
    /// The form for terminals: for each fault `file:line:column: error: …`, the line of the document with a caret, hint
    /// and note.
    public var description: String {
        var text = faults.map(describe).joined(separator: "\n")
        if omitted > 0 { text += "\n\(file ?? "document"): \(omitted) more fault\(omitted == 1 ? "" : "s")" }
        return text
    }

    private func describe(_ fault: SceneFault) -> String {
        let kind = fault.isWarning ? "warning" : "error"
        var text = "\(location(fault.position, fault.place)): \(kind): \(fault.message)"
        if let drawn = lines?.caret(at: fault.position) {
            text += drawn
        } else if let rule = fault.rule, let place = fault.rulePosition {
            text += SourceLines(rule).caret(at: place) ?? ""
        }
        if let hint = fault.hint { text += "\n  hint: \(hint)" }
        if let note = fault.note {
            text +=
                note.position == .none
                ? "\n  note: \(note.message)" : "\n  \(location(note.position, "")): note: \(note.message)"
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
            rule: first.rule,
            line: first.rulePosition?.line, column: first.rulePosition?.column, hint: first.hint)
    }
}

/// Collects faults while a document is read and checked.
final class FaultCollector {
    private(set) var faults: [SceneFault] = []
    private(set) var omitted = 0
    /// What is allowed and probably not meant; at most `SceneLimits.faults`.
    private(set) var warnings: [SceneFault] = []

    var isEmpty: Bool { faults.isEmpty }
    var count: Int { faults.count + omitted }
    /// True if further faults are only counted.
    var isFull: Bool { faults.count >= SceneLimits.faults }

    /// - Parameter fault: evaluated only if the fault is reported: finding hints and positions takes longer than
    ///   finding the fault.
    func add(_ fault: @autoclosure () -> SceneFault) {
        if isFull { omitted += 1 } else { faults.append(fault()) }
    }

    func add(
        _ code: ErrorCode, _ message: @autoclosure () -> String, at position: SourcePosition = .none,
        hint: @autoclosure () -> String? = nil, note: SceneFault.Note? = nil
    ) {
        add(SceneFault(code, message(), position: position, hint: hint(), note: note))
    }

    func warn(_ warning: SceneFault) {
        guard warnings.count < SceneLimits.faults else { return }
        warnings.append(warning)
        warnings[warnings.count - 1].isWarning = true
    }

    func throwIfAny(file: String?, lines: SourceLines?) throws(SceneFaults) {
        if let all = told(faults, omitted: omitted, file: file, lines: lines) { throw all }
    }

    func allWarnings(file: String?, lines: SourceLines?) -> SceneFaults? {
        told(warnings, omitted: 0, file: file, lines: lines)
    }

    private func told(_ faults: [SceneFault], omitted: Int, file: String?, lines: SourceLines?) -> SceneFaults? {
        guard !faults.isEmpty else { return nil }
        let sorted = faults.enumerated().sorted {
            ($0.element.position.line, $0.element.position.column, $0.offset)
                < ($1.element.position.line, $1.element.position.column, $1.offset)
        }
        return SceneFaults(sorted.map(\.element), omitted: omitted, file: file, lines: lines)
    }
}
