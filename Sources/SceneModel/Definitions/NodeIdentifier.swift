/// The rules for the id of a node.
public enum NodeIdentifier {
    /// The reason why a text cannot be an id, as the continuation of "an id"; nil if it can.
    public static func refusal(of id: String) -> String? {
        if id.isEmpty { return "cannot be empty" }
        if id.utf8.count > SceneLimits.idLength { return "has at most \(SceneLimits.idLength) bytes" }
        if id == "*" || id == "**" { return "cannot be '\(id)', which stands for any node in patterns" }
        if id.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) {
            return "cannot contain control characters"
        }
        return nil
    }
}
