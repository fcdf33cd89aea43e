import AttributeValues

/// Who has defined a part of a node that can lead a write elsewhere: a binding, an action, the data of a list and the
/// like. Other parts have no author.
///
/// The numbers of clients are given by whoever uses the graph. The store has them beside the parts.
public struct PartAuthor: Hashable, Sendable {
    public let number: UInt32

    public init(number: UInt32) { self.number = number }

    /// The scenes of the configuration, and those who have every right.
    public static let daemon = PartAuthor(number: 0)
    /// The store has the part without its author.
    public static let unknown = PartAuthor(number: 1)
    /// True if whoever says again what a part says becomes its author: the daemon, and anybody where the author is
    /// unknown.
    public func replaces(_ old: PartAuthor) -> Bool {
        self != old && (self == .daemon || old == .unknown)
    }

    /// The first author of another kind.
    public static let first = PartAuthor(number: 2)
}

/// The authors of a node's parts while the node is read.
struct PartAuthors {
    /// The author of all parts that `others` does not name.
    var standard: PartAuthor
    /// By the names of parts: see `PartName`.
    var others: [String: PartAuthor] = [:]

    init(_ standard: PartAuthor) { self.standard = standard }

    /// The form in which a store has them: a number, or a map of numbers with the standard under the empty name.
    init(kept value: Value) {
        standard = .unknown
        if let author = PartAuthor(kept: value) { standard = author }
        for (name, value) in value.map ?? ValueMap() {
            guard let name = name.string, let author = PartAuthor(kept: value) else { continue }
            if name.isEmpty { standard = author } else { others[name] = author }
        }
    }

    func author(of part: @autoclosure () -> String) -> PartAuthor {
        others.isEmpty ? standard : others[part()] ?? standard
    }
}

/// The names of parts for their authors.
enum PartName {
    static func attribute(_ name: String) -> String { "." + name }
    static func object(_ position: Int) -> String { "objects[\(position)]" }
    static let forEach = "forEach"
}

extension PartAuthor {
    fileprivate init?(kept value: Value) {
        guard case .int(let number) = value, let number = UInt32(exactly: number) else { return nil }
        self.init(number: number)
    }

    fileprivate var kept: Value { .int(Int64(number)) }

    /// The key of a node in the store's form of documents.
    public static let key = "by"
}

extension NodeDefinition {
    /// The authors of its parts in the form for a store; nil if no part has an author.
    public var keptAuthors: Value? {
        var parts: [(name: String, author: PartAuthor)] = []
        for attribute in attributes where attribute.role.leadsElsewhere {
            parts.append((PartName.attribute(attribute.name), attribute.author))
        }
        if !isPlain {
            for (position, provided) in environmentObjects.enumerated() {
                parts.append((PartName.object(position), provided.author))
            }
            if let forEach { parts.append((PartName.forEach, forEach.author)) }
        }
        guard let standard = parts.last?.author else { return nil }
        let others = parts.filter { $0.author != standard }
        if others.isEmpty { return standard.kept }
        return .map(ValueMap([(.string(""), standard.kept)] + others.map { (.string($0.name), $0.author.kept) }))
    }
}

extension Value {
    /// A component in the form of documents, with its author.
    public func kept(by author: PartAuthor) -> Value {
        guard case .map(var fields) = self else { return self }
        fields[PartAuthor.key] = author.kept
        return .map(fields)
    }

    var withoutAuthor: Value {
        guard case .map(var fields) = self, fields[PartAuthor.key] != nil else { return self }
        fields[PartAuthor.key] = nil
        return .map(fields)
    }
}

/// `environment: {objects: [$library]}`: a reference to an object that a node provides.
public struct ProvidedReference: Equatable {
    public let reference: Reference
    public let author: PartAuthor
}
