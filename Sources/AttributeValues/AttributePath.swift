/// The name of a node, an attribute, or a place inside an attribute's value: `/player/playButton.isPlaying`,
/// `/app.items[0].done`, `/hosts/"web-01.example.com".load`, `/app.items[id="x"].done`.
public struct AttributePath: Hashable {
    /// Node ids from the root down; empty for the root.
    public var nodes: [Name]
    public var attribute: String?
    /// The steps into the value; empty for the whole value.
    public var steps: [Step]

    /// One step into a value.
    public enum Step: Hashable {
        /// `.name` or `["name"]`: an entry of a map, a property of an object.
        case key(String)
        /// `[3]`: an element of a list (or an entry of a map with int keys).
        case index(Int)
        /// `[id="x"]`: the first element of a list whose field has this value.
        case element(field: String, value: Value)
    }

    public static func == (a: AttributePath, b: AttributePath) -> Bool {
        a.nodes == b.nodes && a.attribute.map { Name($0) } == b.attribute.map { Name($0) } && a.steps == b.steps
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(nodes)
        hasher.combine(attribute.map { Name($0) })
        hasher.combine(steps)
    }

    public init(nodes: [Name], attribute: String? = nil, steps: [Step] = []) {
        self.nodes = nodes
        self.attribute = attribute
        self.steps = steps
    }

    /// Maximum length of a path's text, in bytes. A program that needs another limit must set it before it reads its
    /// first path.
    nonisolated(unsafe) public static var maximumLength = 4096

    /// - Throws: `invalid`, with the column and the expected characters.
    public init(_ text: String) throws(Failure) {
        var reader = try PathReader(text)
        nodes = try reader.readNodes()
        attribute = nil
        steps = []
        if reader.skip(".") {
            attribute = try reader.readName("an attribute name")
            steps = try reader.readSteps()
        }
        try reader.expectEnd()
    }

    public var node: AttributePath { AttributePath(nodes: nodes) }
}

extension AttributePath: CustomStringConvertible {
    public var description: String {
        var text = AttributePath.describe(nodes: nodes)
        if let attribute { text += "." + AttributePath.quoteIfNeeded(attribute) }
        for step in steps { text += step.description }
        return text
    }

    public static func describe(nodes: some Collection<Name>) -> String {
        var path = ""
        for node in nodes {
            path += "/"
            path += quoteIfNeeded(node.text)
        }
        return path.isEmpty ? "/" : path
    }

    /// The id itself if it needs no quotes, else a JSON string without control characters.
    public static func quoteIfNeeded(_ id: String) -> String { isBare(id) ? id : quote(id) }

    /// True if a name needs no quotes in a path.
    public static func isBare(_ name: String) -> Bool {
        var isASCII = true
        for byte in name.utf8 {
            guard PathReader.isBare(byte) else { return false }
            if byte >= 0x80 { isASCII = false }
        }
        return !name.isEmpty && (isASCII || !hasControls(name))
    }

    /// Control characters that JSON allows in texts: DEL and C1, U+0080 to U+009F. A terminal obeys them.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { (0x7f..<0xa0).contains(scalar.value) }

    private static func hasControls(_ text: String) -> Bool {
        // The first byte of U+0080 to U+00BF.
        text.utf8.contains { $0 == 0x7f || $0 == 0xc2 } && text.unicodeScalars.contains(where: isControl)
    }

    static func quote(_ text: String) -> String {
        let buffer = ByteBuffer()
        buffer.appendJSONString(text)
        guard hasControls(text) else { return buffer.text }
        return buffer.text.unicodeScalars.reduce(into: "") { quoted, scalar in
            guard isControl(scalar) else { return quoted.unicodeScalars.append(scalar) }
            quoted += "\\u00" + String(scalar.value, radix: 16)
        }
    }
}

extension AttributePath.Step: CustomStringConvertible {
    public var description: String {
        switch self {
        case .key(let name):
            AttributePath.isBare(name) ? "." + name : "[\(AttributePath.quote(name))]"
        case .index(let position): "[\(position)]"
        case .element(let field, let value):
            "[\(AttributePath.quoteIfNeeded(field))=\(value.string.map(AttributePath.quote) ?? value.jsonText)]"
        }
    }
}

/// Reads paths and patterns from left to right; positions count bytes, columns are 1-based.
struct PathReader {
    private let text: String
    private let bytes: [UInt8]
    private var at = 0

    init(_ text: String, maximumLength: Int = AttributePath.maximumLength) throws(Failure) {
        self.text = text
        bytes = Array(text.utf8)
        guard bytes.count <= maximumLength else {
            throw Failure(.limit, "a path of \(bytes.count) bytes; at most \(maximumLength) are allowed")
        }
    }

    static func isBare(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ":"),
            UInt8(ascii: "@"):
            true
        default: byte >= 0x80
        }
    }

    var isAtEnd: Bool { at == bytes.count }
    var peekIsDot: Bool { at < bytes.count && bytes[at] == UInt8(ascii: ".") }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    func fault(_ expected: String) -> Failure {
        let found = isAtEnd ? "the end" : "'\(String(decoding: [bytes[at]], as: UTF8.self))'"
        let hint =
            found == "'*'"
            ? "only patterns have *, a whole id, and **, and only get and subscribe (agctl get, watch) take them; "
                + "other ids with * are quoted"
            : "a path is /node/node.attribute.key[0]; ids with other characters than letters, digits, _ - : @ are quoted"
        return Failure(
            .invalid, "path \(text): expected \(expected) at column \(at + 1), found \(found)", path: text, hint: hint)
    }

    func expectEnd() throws(Failure) {
        if !isAtEnd { throw fault("the end of the path") }
    }

    mutating func readNodes() throws(Failure) -> [Name] {
        guard skip("/") else { throw fault("'/'") }
        var nodes: [Name] = []
        if isAtEnd || bytes[at] == UInt8(ascii: ".") { return nodes }
        repeat { nodes.append(Name(try readName("a node id"))) } while skip("/")
        return nodes
    }

    mutating func readName(_ what: String) throws(Failure) -> String {
        if at < bytes.count, bytes[at] == UInt8(ascii: "\"") { return try readQuoted() }
        let start = at
        while at < bytes.count, PathReader.isBare(bytes[at]) { at += 1 }
        guard at > start else { throw fault(what) }
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    /// `*` or `**` as a segment of a pattern.
    mutating func readStars() -> Int {
        var count = 0
        while count < 2, skip("*") { count += 1 }
        return count
    }

    private mutating func readQuoted() throws(Failure) -> String {
        let start = at
        at += 1
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") { at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1 }
        // A backslash may be the last byte.
        at = min(at, bytes.count)
        guard at < bytes.count else { throw fault("a closing '\"'") }
        at += 1
        guard case .string(let name)? = try? JSONParser.parseOnce(bytes[start..<at]) else {
            throw Failure(
                .invalid, "path \(text): the quoted name at column \(start + 1) is not a JSON string", path: text)
        }
        return name
    }

    mutating func readSteps() throws(Failure) -> [AttributePath.Step] {
        var steps: [AttributePath.Step] = []
        while !isAtEnd {
            if skip(".") {
                steps.append(.key(try readName("a key")))
            } else if skip("[") {
                steps.append(try readBracket())
            } else {
                throw fault("'.', '[' or the end of the path")
            }
            if steps.count > AttributePath.maximumSteps {
                throw Failure(
                    .limit, "path \(text): more than \(AttributePath.maximumSteps) steps into a value", path: text)
            }
        }
        return steps
    }

    private mutating func readBracket() throws(Failure) -> AttributePath.Step {
        let isQuoted = at < bytes.count && bytes[at] == UInt8(ascii: "\"")
        var name = try readName("an index, a quoted key or field=value")
        while !isQuoted, skip(".") { name += try "." + readName("a key") }
        let step: AttributePath.Step
        if skip("=") {
            step = .element(field: name, value: try readScalar())
        } else if isQuoted {
            step = .key(name)
        } else if let index = Int(name), index >= 0 {
            step = .index(index)
        } else {
            throw fault("a non-negative index, or '=' and a value,")
        }
        guard skip("]") else { throw fault("']'") }
        return step
    }

    private mutating func readScalar() throws(Failure) -> Value {
        if at < bytes.count, bytes[at] == UInt8(ascii: "\"") { return .string(try readQuoted()) }
        let start = at
        while at < bytes.count, bytes[at] != UInt8(ascii: "]") { at += 1 }
        guard let value = try? JSONParser.parseOnce(bytes[start..<at]) else {
            at = start
            throw fault("a JSON string, number, true or false")
        }
        return value
    }
}

/// Texts are compared by their bytes, as everywhere in paths.
extension AttributePath.Step {
    public static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.key(let a), .key(let b)): a.hasSameBytes(as: b)
        case (.index(let a), .index(let b)): a == b
        case (.element(let a, let x), .element(let b, let y)): a.hasSameBytes(as: b) && x == y
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .key(let name): hasher.combine(Name(name))
        case .index(let position): hasher.combine(position)
        case .element(let field, let value):
            hasher.combine(Name(field))
            hasher.combine(value)
        }
    }
}
