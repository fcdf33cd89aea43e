import AttributeValues

/// The name of a principal: somebody who has rights without having a user of the machine. Access lines name principals,
/// and a client with the right *admin* acts for one of them.
public enum PrincipalName {
    /// Maximum number of bytes.
    public static let maximumLength = 64

    /// - Throws: `invalid` unless the name has 1 to 64 ASCII letters, digits and `.`, `_`, `-`, `@`.
    public static func check(_ name: String) throws(Failure) {
        let isName = (1...maximumLength).contains(name.utf8.count) && name.utf8.allSatisfy(isAllowed)
        guard !isName else { return }
        throw Failure(
            .invalid, "the name of a principal is not well formed",
            hint: "it has 1 to \(maximumLength) ASCII letters, digits, '.', '_', '-' and '@'")
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "@"):
            true
        default: false
        }
    }
}
