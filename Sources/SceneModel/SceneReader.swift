import AttributeValues

/// Reads a document, checks all of it, and returns its definitions or all of its faults.
public enum SceneReader {
    /// Reads YAML or JSON.
    /// - Parameters:
    ///   - file: the name of the file in faults.
    /// - Throws: all faults of the document, by line and column. Cost: O(text + nodes made).
    public static func read(
        text: String, file: String? = nil, context: SceneContext = SceneContext()
    ) throws(SceneFaults) -> SceneDefinition {
        try SceneReading(text: text, file: file, context: context).readAll()
    }

    /// Checks a document that is a value. Faults name positions by their path: `nodes[2].computed.x`.
    /// - Parameter value: not deeper than `SceneLimits.nesting`; `JSONParser` admits less.
    public static func read(value: Value, context: SceneContext = SceneContext()) throws(SceneFaults) -> SceneDefinition
    {
        try SceneReading(value: value, context: context).readAll()
    }

    /// The plain value of a YAML or JSON text, unchecked, for sending a file as a parameter.
    /// - Throws: the fault that makes the text unreadable, and duplicate keys.
    public static func value(text: String, file: String? = nil) throws(SceneFaults) -> Value {
        let text = unmarked(text)
        let faults = FaultCollector(file: file, lines: SourceLines(text))
        let document = DocumentReader.read(text, faults)
        try faults.throwIfAny()
        return document?.value ?? .null
    }

    /// The text without a byte order mark, which some editors put before UTF-8.
    fileprivate static func unmarked(_ text: String) -> String {
        text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    }
}

/// Reads and checks one document in slices. Each slice takes a given number of steps and may end anywhere.
public final class SceneReading {
    private enum Stage {
        case text(DocumentReader)
        case value(ValueReader)
        case checking(SceneChecker)
        case done(SceneDefinition?)
    }

    private var stage: Stage
    private let context: SceneContext
    private let faults: FaultCollector

    public init(text: String, file: String? = nil, context: SceneContext) {
        let text = SceneReader.unmarked(text)
        self.context = context
        faults = FaultCollector(file: file, lines: SourceLines(text))
        stage = DocumentReader(text, faults).map { .text($0) } ?? .done(nil)
    }

    /// - Parameter value: not deeper than `SceneLimits.nesting`.
    public init(value: Value, context: SceneContext) {
        self.context = context
        faults = FaultCollector()
        stage = .value(ValueReader(value))
    }

    fileprivate func readAll() throws(SceneFaults) -> SceneDefinition {
        var steps = Int.max
        while !advance(&steps) {}
        return try scene()
    }

    /// Continues until the steps are used up.
    /// - Returns: true when the document is read and checked.
    public func advance(_ steps: inout Int) -> Bool {
        while steps > 0 {
            switch stage {
            case .text(var reader):
                // Moved out of the enum, so that its lists are changed in place.
                stage = .done(nil)
                guard reader.advance(&steps) else {
                    stage = .text(reader)
                    break
                }
                guard let document = reader.document else { return true }
                stage = .checking(SceneChecker(context, faults, document))
            case .value(var reader):
                stage = .done(nil)
                guard let document = reader.advance(&steps, faults) else {
                    stage = .value(reader)
                    break
                }
                stage = .checking(SceneChecker(context, faults, document))
            case .checking(let checker):
                guard checker.advance(&steps) else { break }
                stage = .done(checker.scene)
            case .done: return true
            }
        }
        if case .done = stage { return true }
        return false
    }

    /// The result. Call this after `advance` has returned true.
    /// - Throws: all faults of the document, by line and column.
    public func scene() throws(SceneFaults) -> SceneDefinition {
        try faults.throwIfAny()
        guard case .done(var scene?) = stage else { preconditionFailure("a document that cannot be read has a fault") }
        scene.warnings = faults.warnings
        return scene
    }
}
