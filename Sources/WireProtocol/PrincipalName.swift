import AttributeValues

/// The name of a principal: somebody who has rights without having a user of the machine. Access lines name principals,
/// and a client with the right *admin* acts for one of them.
public enum PrincipalName {
    /// Maximum number of bytes.
    public static let maximumLength = 64

    /// - Throws: `invalid` unless the name has 1 to 64 ASCII letters, digits and `.`, `_`, `-`, `@`.
    public static func check(_ name: String) throws(Failure) {
        let isPlain = name.utf8.allSatisfy { $0.isOfName || ".-@".utf8.contains($0) }
        if isPlain, (1...maximumLength).contains(name.utf8.count) { return }
        throw Failure(
            .invalid, "the name of a principal is not well formed",
            hint: "it has 1 to \(maximumLength) ASCII letters, digits, '.', '_', '-' and '@'")
    }
}
