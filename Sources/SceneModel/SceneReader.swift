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
        let text = unmarked(text)
        let faults = FaultCollector()
        let lines = SourceLines(text)
        guard let document = DocumentReader.read(text, faults, isKept: context.isKept) else {
            try faults.throwIfAny(file: file, lines: lines)
            preconditionFailure("a document that cannot be read has a fault")
        }
        let scene = SceneChecker(context, faults, lines).check(document)
        try faults.throwIfAny(file: file, lines: lines)
        return scene
    }

    /// Checks a document that came as a value. Faults name places by their path: `nodes[2].computed.x`.
    /// - Parameter value: no deeper than `SceneLimits.nesting`; `JSONParser` admits less.
    public static func read(value: Value, context: SceneContext = SceneContext()) throws(SceneFaults) -> SceneDefinition {
        let faults = FaultCollector()
        let scene = SceneChecker(context, faults, nil).check(DocumentNode(value, faults))
        try faults.throwIfAny(file: nil, lines: nil)
        return scene
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
    private static func unmarked(_ text: String) -> String {
        text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    }
}
