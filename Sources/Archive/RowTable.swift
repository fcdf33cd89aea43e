import AttributeValues
import ViewGraph

/// The rows of a moment: those of an image, and the changes since.
public struct RowTable {
    private var rows: [Name: [Name: StoredRow]] = [:]

    public init() {}

    public mutating func put(_ key: String, _ name: String, _ value: Value, at revision: UInt64) {
        rows[Name(key), default: [:]][Name(name)] = StoredRow(
            key: key, name: name, revision: revision, value: value)
    }

    public mutating func delete(_ key: String, _ name: String) {
        rows[Name(key)]?[Name(name)] = nil
        if rows[Name(key)]?.isEmpty == true { rows[Name(key)] = nil }
    }

    /// Deletes the rows of a key that were not written after a revision.
    public mutating func delete(_ key: String, upTo revision: UInt64) {
        rows[Name(key)] = rows[Name(key)]?.filter { $0.value.revision > revision }
        if rows[Name(key)]?.isEmpty == true { rows[Name(key)] = nil }
    }

    /// Deletes the pasts of operators over time, whose names have a space.
    public mutating func deletePasts() {
        for (key, named) in rows where named.keys.contains(where: { $0.text.utf8.contains(UInt8(ascii: " ")) }) {
            rows[key] = named.filter { !$0.key.text.utf8.contains(UInt8(ascii: " ")) }
        }
    }

    public var all: [StoredRow] { rows.values.flatMap(\.values) }

    public subscript(key: String, name: String) -> Value? { rows[Name(key)]?[Name(name)]?.value }

    /// Applies a record.
    /// - Parameter revision: of the transaction that it belongs to.
    public mutating func apply(_ record: Record, at revision: UInt64) {
        switch record {
        case .write(let place, let value, _): put(place.key, place.name, value, at: revision)
        case .stretch(let place, _, _, _, _, let last): put(place.key, place.name, last, at: revision)
        case .row(let key, let name?, let value?, _): put(key, name, value, at: revision)
        case .row(let key, let name?, nil, _): delete(key, name)
        case .row(let key, nil, _, let bound): delete(key, upTo: bound)
        case .imageRow(let key, let name, let value): put(key, name, value, at: revision)
        case .transaction, .report, .entries, .imageBegins, .imageEnds, .end: break
        }
    }
}
