/// A position in a document: 1-based line and column (in characters). Both are 0 if the source is not a text (JSON
/// parameters).
public struct SourcePosition: Hashable, Sendable {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static let none = SourcePosition(line: 0, column: 0)
}
