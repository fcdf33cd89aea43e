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
    /// True if the document is valid all the same.
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
