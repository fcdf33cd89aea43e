/// A position in a document: 1-based line and column (in characters). Both are 0 if the source is not a text.
public struct SourcePosition: Hashable, Sendable {
    // Every node and attribute has one.
    private var shortLine: UInt32
    private var shortColumn: UInt32

    public init(line: Int, column: Int) {
        shortLine = UInt32(clamping: line)
        shortColumn = UInt32(clamping: column)
    }

    public var line: Int {
        get { Int(shortLine) }
        set { shortLine = UInt32(clamping: newValue) }
    }
    public var column: Int {
        get { Int(shortColumn) }
        set { shortColumn = UInt32(clamping: newValue) }
    }

    public static let none = SourcePosition(line: 0, column: 0)
}
