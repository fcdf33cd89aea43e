/// The rules for the id of a node.
public enum NodeIdentifier {
    /// Maximum number of bytes.
    private static let longest = 255

    /// The reason why a text cannot be an id, as the continuation of "an id"; nil if it can.
    public static func refusal(of id: String) -> String? {
        if id.isEmpty { return "cannot be empty" }
        if id.utf8.count > longest { return "has at most \(longest) bytes" }
        if id == "*" || id == "**" { return "cannot be '\(id)', which stands for any node in patterns" }
        var text = id
        let hasControls = text.withUTF8 { bytes in bytes.contains { $0 < 32 || $0 == 127 } }
        return hasControls ? "cannot contain control characters" : nil
    }
}
