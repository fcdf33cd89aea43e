/// A set of attributes by name: `*` is one segment, `**` any number of segments, including none. `/hosts/*.load`,
/// `/fleet/**.status`, `/player/**` (every attribute of player and below it), `/player` (every attribute of player).
public struct PathPattern: Hashable {
    public enum Segment: Hashable {
        case id(Name)
        case any
        case anyDepth
    }

    public var segments: [Segment]
    /// nil for every attribute of the nodes.
    public var attribute: String?
    /// Steps into the values; only after a named attribute.
    public var steps: [AttributePath.Step]
    /// True if the pattern ends with `.*`. It matches what the path of its nodes does, but need not match anything yet.
    private var endsWithStar = false

    /// Maximum number of `**` segments in a pattern: each can multiply the cost of matching by the depth of the tree.
    public static let maximumAnyDepth = 4

    /// - Parameter maximumLength: maximum length of the text in bytes.
    /// - Throws: `invalid` with the column; `limit` if the text is too long or has too many `**`.
    public init(_ text: String, maximumLength: Int = AttributePath.maximumLength) throws(Failure) {
        var reader = try PathReader(text, maximumLength: maximumLength)
        guard reader.skip("/") else { throw reader.fault("'/'") }
        segments = []
        attribute = nil
        steps = []
        if !reader.isAtEnd, !reader.peekIsDot {
            repeat {
                switch reader.readStars() {
                case 1: segments.append(.any)
                case 2: if segments.last != .anyDepth { segments.append(.anyDepth) }
                default: segments.append(.id(Name(try reader.readName("a node id, '*' or '**'"))))
                }
            } while reader.skip("/")
        }
        if reader.skip(".") {
            endsWithStar = reader.readStars() > 0
            if !endsWithStar {
                attribute = try reader.readName("an attribute name or '*'")
                steps = try reader.readSteps()
            }
        }
        try reader.expectEnd()
        guard segments.count(where: { $0 == .anyDepth }) <= PathPattern.maximumAnyDepth else {
            throw Failure(
                .limit, "pattern \(text): at most \(PathPattern.maximumAnyDepth) '**' are allowed", path: text)
        }
    }

    /// The attribute or node that the pattern names, if it has no wildcard; else nil.
    public var exact: AttributePath? {
        if endsWithStar { return nil }
        var nodes: [Name] = []
        for segment in segments {
            guard case .id(let id) = segment else { return nil }
            nodes.append(id)
        }
        return AttributePath(nodes: nodes, attribute: attribute, steps: steps)
    }
}

extension PathPattern: CustomStringConvertible {
    public var description: String {
        var text = segments.isEmpty ? "/" : ""
        for segment in segments {
            switch segment {
            case .id(let id): text += "/" + AttributePath.quoteIfNeeded(id.text)
            case .any: text += "/*"
            case .anyDepth: text += "/**"
            }
        }
        if let attribute { text += "." + AttributePath.quoteIfNeeded(attribute) }
        for step in steps { text += step.description }
        return text
    }
}
