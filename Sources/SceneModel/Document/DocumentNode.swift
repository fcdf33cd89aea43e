import AttributeValues

/// A document as written: its parts and their positions.
package struct DocumentNode {
    package enum Content {
        case scalar(Value)
        case list([DocumentNode])
        case map([DocumentEntry])
        /// A map that differs from others with these entries in one place: there its value is the node's `text`.
        /// Thousands of siblings differ in their ids alone.
        case copy(of: [DocumentEntry], UInt32)
    }

    /// The style of a scalar. It determines the position of a column of its text in the file.
    package enum Style: UInt8 { case none, plain, singleQuoted, doubleQuoted, block }

    package var content: Content
    /// A scalar without quotes and escapes.
    package var text: String
    package var style: Style
    private var line: UInt32
    private var column: UInt32

    init(_ content: Content, text: String = "", style: Style = .none, at position: SourcePosition = .none) {
        self.content = content
        self.text = text
        self.style = style
        line = UInt32(clamping: position.line)
        column = UInt32(clamping: position.column)
    }

    package var position: SourcePosition { SourcePosition(line: Int(line), column: Int(column)) }
}

package struct DocumentEntry {
    package var key: DocumentNode
    package var value: DocumentNode

    /// The text of the key. Keys are scalars.
    package var name: String { key.text }
}

extension DocumentNode {
    /// The first place of a text.
    package static var beginning: DocumentNode { DocumentNode(.scalar(.null), at: SourcePosition(line: 1, column: 1)) }

    /// A scalar from a value. It has no position.
    init(scalar value: Value) {
        if case .string(let text) = value {
            self.init(.scalar(value), text: text)
        } else {
            self.init(.scalar(value), text: value.jsonText)
        }
    }

    /// A literal with an explicit type.
    init(typed value: Value, at position: SourcePosition = .none) {
        self.init(.scalar(value), text: value.jsonText, at: position)
    }

    /// The value of a literal. `SceneLimits.nesting` bounds the recursion.
    package var value: Value {
        switch content {
        case .scalar(let value): return value
        case .list(let elements): return .list(elements.map(\.value))
        case .map(let entries):
            var map = ValueMap(minimumCapacity: entries.count)
            for entry in entries { map[entry.key.value] = entry.value.value }
            return .map(map)
        case .copy: return DocumentNode(.map(map ?? [])).value
        }
    }

    package var string: String? {
        if case .scalar(.string(let text)) = content { text } else { nil }
    }

    var isVariant: Bool {
        if case .copy = content { true } else { false }
    }

    package var isNull: Bool {
        if case .scalar(.null) = content { true } else { false }
    }

    package var list: [DocumentNode]? {
        if case .list(let elements) = content { elements } else { nil }
    }

    package var map: [DocumentEntry]? {
        switch content {
        case .map(let entries): return entries
        case .copy(var entries, let place):
            entries[Int(place)].value = DocumentNode(scalar: .string(text))
            return entries
        case .scalar, .list: return nil
        }
    }

    /// Elements of a list or entries of a map.
    package var count: Int {
        switch content {
        case .scalar: 0
        case .list(let elements): elements.count
        case .map(let entries), .copy(let entries, _): entries.count
        }
    }

    package subscript(_ name: String) -> DocumentNode? {
        switch content {
        case .map(let entries): return entries.first { $0.name == name }?.value
        case .copy(let entries, let changed):
            guard let position = entries.firstIndex(where: { $0.name == name }) else { return nil }
            return position == changed ? DocumentNode(scalar: .string(text)) : entries[position].value
        case .scalar, .list: return nil
        }
    }

    /// True for a map that has only some of these keys, and at least one of `required`. This distinguishes a long form
    /// from a literal.
    func isForm(_ keys: [String], requiring required: [String]? = nil) -> Bool {
        guard let entries = map, !entries.isEmpty, entries.allSatisfy({ keys.contains($0.name) }) else { return false }
        return required.map { required in entries.contains { required.contains($0.name) } } ?? true
    }

    /// True if both have the same content, at any places in the text. `SceneLimits.nesting` bounds the recursion.
    func saysSame(as other: DocumentNode) -> Bool {
        switch (content, other.content) {
        case (.scalar(let a), .scalar(let b)): style == other.style && a == b && text.hasSameBytes(as: other.text)
        case (.list(let a), .list(let b)): a.hasSameElements(as: b) { $0.pointee.saysSame(as: $1.pointee) }
        default:
            if let a = map, let b = other.map {
                a.hasSameElements(as: b) {
                    $0.pointee.key.saysSame(as: $1.pointee.key) && $0.pointee.value.saysSame(as: $1.pointee.value)
                }
            } else {
                false
            }
        }
    }

    /// A short description for messages: "a list", "the text 'x'", "5".
    package var summary: String {
        switch content {
        case .list(let elements): elements.isEmpty ? "an empty list" : "a list"
        case .map(let entries), .copy(let entries, _): entries.isEmpty ? "an empty map" : "a map"
        case .scalar(.null): "nothing"
        case .scalar(.string(let text)): "the text '\(text.count > 40 ? text.prefix(39) + "…" : text)'"
        case .scalar(let value): "the \(value.shortTypeName) \(value)"
        }
    }
}

extension Array {
    /// As `elementsEqual`. The elements are not copied, and not looked at in shared memory.
    func hasSameElements(as other: Array, _ areSame: (UnsafePointer<Element>, UnsafePointer<Element>) -> Bool) -> Bool {
        withUnsafeBufferPointer { a in
            other.withUnsafeBufferPointer { b in
                guard a.count == b.count, let x = a.baseAddress, let y = b.baseAddress else {
                    return a.count == b.count
                }
                return x == y || a.indices.allSatisfy { areSame(x + $0, y + $0) }
            }
        }
    }
}
