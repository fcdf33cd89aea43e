import AttributeValues

/// From a document to definitions: read, check whole, or tell all that is wrong with it.
public enum SceneReader {
    /// Reads YAML or JSON.
    /// - Parameters:
    ///   - file: what faults name as their file.
    /// - Throws: every fault of the document at once, by line and column. Cost: O(text + nodes made).
    public static func read(
        text: String, file: String? = nil, context: SceneContext = SceneContext()
    ) throws(SceneFaults) -> SceneDefinition {
        let reading = SceneReading(text: text, file: file, context: context)
        var steps = Int.max
        while !reading.advance(&steps) {}
        return try reading.scene()
    }

    /// Checks a document that came as a value. Faults name places by their path: `nodes[2].computed.x`.
    /// - Parameter value: no deeper than `SceneLimits.nesting`; `JSONParser` admits less.
    public static func read(value: Value, context: SceneContext = SceneContext()) throws(SceneFaults) -> SceneDefinition {
        let reading = SceneReading(value: value, context: context)
        var steps = Int.max
        while !reading.advance(&steps) {}
        return try reading.scene()
    }

    /// The plain value that a YAML or JSON text says, unchecked: to send a file as a parameter.
    /// - Throws: what makes the text unreadable, and keys that are written twice.
    public static func value(text: String, file: String? = nil) throws(SceneFaults) -> Value {
        let text = unmarked(text)
        let faults = FaultCollector()
        let document = DocumentReader.read(text, faults)
        try faults.throwIfAny(file: file, lines: SourceLines(text))
        return document?.value ?? .null
    }

    /// The text without the byte order mark that some editors put before UTF-8.
    fileprivate static func unmarked(_ text: String) -> String {
        text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    }
}

/// The reading and checking of one document, in slices: each takes so many steps, wherever in the document it ends.
public final class SceneReading {
    private enum Stage {
        case text(DocumentReader)
        case value(ValueReader)
        case checking(SceneChecker)
        case done(SceneDefinition?)
    }

    private var stage: Stage
    private let context: SceneContext
    private let file: String?
    private let lines: SourceLines?
    private let faults = FaultCollector()

    public init(text: String, file: String? = nil, context: SceneContext) {
        let text = SceneReader.unmarked(text)
        self.context = context
        self.file = file
        lines = SourceLines(text)
        stage = DocumentReader(text, faults, isKept: context.isKept).map { .text($0) } ?? .done(nil)
    }

    /// - Parameter value: no deeper than `SceneLimits.nesting`.
    public init(value: Value, context: SceneContext) {
        self.context = context
        file = nil
        lines = nil
        stage = .value(ValueReader(value))
    }

    /// Goes on until the steps are used up.
    /// - Returns: whether the document is read and checked.
    public func advance(_ steps: inout Int) -> Bool {
        while steps > 0 {
            switch stage {
            case .text(var reader):
                // Taken out, so that its lists are changed where they are.
                stage = .done(nil)
                guard reader.advance(&steps) else {
                    stage = .text(reader)
                    break
                }
                guard let document = reader.document else { return true }
                stage = .checking(SceneChecker(context, faults, lines, document))
            case .value(var reader):
                stage = .done(nil)
                guard let document = reader.advance(&steps, faults) else {
                    stage = .value(reader)
                    break
                }
                stage = .checking(SceneChecker(context, faults, lines, document))
            case .checking(let checker):
                guard checker.advance(&steps) else { break }
                stage = .done(checker.scene)
            case .done: return true
            }
        }
        if case .done = stage { return true }
        return false
    }

    /// What was read; called once `advance` says that it is over.
    /// - Throws: every fault of the document at once, by line and column.
    public func scene() throws(SceneFaults) -> SceneDefinition {
        try faults.throwIfAny(file: file, lines: lines)
        guard case .done(let scene?) = stage else { preconditionFailure("a document that cannot be read has a fault") }
        return scene
    }
}

/// What the parts of a document cost, in steps of about 50 ns.
enum SceneCost {
    /// An event of the text.
    static let event = 12
    /// Bytes of a scalar that are read in a step.
    static let bytesPerStep = 16
    static let node = 60
    static let entry = 30
    static let rule = 100
    /// For each byte of a rule.
    static let ruleByte = 2
}
