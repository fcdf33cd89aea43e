/// The cost of a document's parts, in steps of about 50 ns.
enum SceneCost {
    /// One event of the text.
    static let event = 12
    /// Bytes of a scalar that are read in one step.
    static let bytesPerStep = 16
    static let node = 60
    static let entry = 30
    static let rule = 100
    /// Each byte of a rule.
    static let ruleByte = 2
}
