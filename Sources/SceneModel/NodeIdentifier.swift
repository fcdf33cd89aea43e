/// What can be a node's id.
public enum NodeIdentifier {
    /// Why a text cannot be one, to be read behind "an id"; nil if it can.
    public static func problem(of id: String) -> String? {
        if id.isEmpty { return "cannot be empty" }
        if id.utf8.count > SceneLimits.idLength { return "has at most \(SceneLimits.idLength) bytes" }
        if id == "*" || id == "**" { return "cannot be '\(id)', which stands for any node in patterns" }
        if id.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) { return "cannot hold control characters" }
        return nil
    }
}
