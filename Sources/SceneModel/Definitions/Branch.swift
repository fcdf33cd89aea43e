import AttributeValues

/// The names of branches. In a store, they are parts of the keys of the nodes in the branches.
public enum Branch {
    public static let then = "then"
    public static let `else` = "else"
    public static let `default` = "default"
    private static let casePrefix = "case "

    public static func `case`(_ text: String) -> String { casePrefix + text }

    /// The text of a case; nil for other branches.
    public static func caseText(_ name: String) -> String? {
        name.utf8.starts(with: casePrefix.utf8)
            ? String(Substring(name.utf8.dropFirst(casePrefix.utf8.count))) : nil
    }

    /// A value as a document writes it as a case; nil for one that cannot be a case.
    static func caseText(of value: Value) -> String? {
        switch value {
        case .string(let text): text
        case .null, .bool, .int, .uint, .double: value.jsonText
        default: nil
        }
    }
}
