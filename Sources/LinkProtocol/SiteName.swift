import AttributeValues

/// The name of a published subtree, as `hosts/web-01`, and its NATS subjects.
package struct SiteName: Hashable, Sendable, CustomStringConvertible {
    /// Bounds the subject: NATS refuses control lines of more than 4096 bytes.
    package static let maximumLength = 200

    package let segments: [Name]

    /// - Throws: `invalid` if the name is empty, too long, or has an empty segment.
    package init(_ text: some StringProtocol) throws(Failure) {
        guard text.utf8.count <= SiteName.maximumLength else {
            throw Failure(.invalid, "the name of a site has at most \(SiteName.maximumLength) bytes")
        }
        segments = String(text).unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
            .map { Name(String($0)) }
        guard !segments.contains("") else {
            throw Failure(
                .invalid, "'\(text)' is not the name of a site", hint: "write segments between slashes, as hosts/web-01"
            )
        }
    }

    package var description: String { segments.texts.joined(separator: "/") }

    /// The name as tokens of a subject. It is also the key of the site's lease.
    package var tokens: String { segments.texts.map(SiteName.token).joined(separator: ".") }

    /// Reads `tokens`. nil if the text differs from the form that `tokens` writes.
    package init?(tokens: some StringProtocol) {
        var names: [Name] = []
        let separator: Character = "."
        for token in String(tokens).split(separator: separator, omittingEmptySubsequences: false) {
            guard let name = SiteName.name(of: token) else { return nil }
            names.append(Name(name))
        }
        guard let read = try? SiteName(names.texts.joined(separator: "/")), read.tokens == tokens else { return nil }
        self = read
    }

    package var transactions: String { "agd.tx.\(tokens)" }
    /// Subject for writes of other sites, as requests that no stream stores.
    package var writes: String { "agd.do.\(tokens)" }
    package var manifest: String { "agd.head.\(tokens)" }
    /// - Parameters:
    ///   - id: must not contain dots.
    ///   - part: its number, or `*`.
    package func snapshot(_ id: String, part: String = "*") -> String { "agd.snap.\(tokens).\(id).\(part)" }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func token(_ segment: String) -> String {
        var token = ""
        for byte in segment.utf8 {
            if isPlain(byte) {
                token.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                token += byte < 16 ? "=0" : "="
                token += String(byte, radix: 16, uppercase: true)
            }
        }
        return token
    }

    private static func name(of token: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = token.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "=") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
