/// An id, a name, a path or a key: a text that is the same as another one only if both have the same bytes.
///
/// `String` also takes texts for equal that are canonically equivalent: "Küche" with one letter `ü`, and with a `u` and
/// a combining mark. As ids, these are two.
public struct Name: Sendable {
    public let text: String

    @inlinable
    public init(_ text: String) { self.text = text }

    public var isEmpty: Bool { text.isEmpty }
}

extension Name: Hashable {
    @inlinable
    public static func == (a: Name, b: Name) -> Bool { a.text.hasSameBytes(as: b.text) }

    @inlinable
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // So that names in a row do not hash as their concatenation.
        hasher.combine(UInt8.max)
    }
}

/// The order of the bytes.
extension Name: Comparable {
    @inlinable
    public static func < (a: Name, b: Name) -> Bool { a.text.precedesByBytes(b.text) }
}

extension Name: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }
}

extension Name: CustomStringConvertible {
    public var description: String { text }
}

extension Sequence<String> {
    /// The texts as names.
    public var names: [Name] { map { Name($0) } }
}

extension Sequence<Name> {
    public var texts: [String] { map(\.text) }
}

extension Set<Name> {
    public init(texts: some Sequence<String>) { self.init(texts.lazy.map { Name($0) }) }

    @discardableResult
    public mutating func insert(_ text: String) -> (inserted: Bool, memberAfterInsert: Name) { insert(Name(text)) }

    @discardableResult
    public mutating func remove(_ text: String) -> Name? { remove(Name(text)) }

    @inlinable
    public func contains(_ text: String) -> Bool { contains(Name(text)) }
}

extension Dictionary where Key == Name {
    @inlinable
    public subscript(text: String) -> Value? {
        get { self[Name(text)] }
        _modify { yield &self[Name(text)] }
    }

    @inlinable
    public subscript(text: String, default value: @autoclosure () -> Value) -> Value {
        get { self[Name(text), default: value()] }
        _modify { yield &self[Name(text), default: value()] }
    }

    @discardableResult
    public mutating func removeValue(forKey text: String) -> Value? { removeValue(forKey: Name(text)) }
}
