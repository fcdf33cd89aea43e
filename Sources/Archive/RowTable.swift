import AttributeValues
import ViewGraph

/// Numbers the rows of an archive, so that the tables of two moments can be compared.
public final class RowNames {
    /// A row: the key of its node, and its name there.
    public struct Row: Hashable {
        public let key: String
        public let name: String

        public static func == (one: Row, other: Row) -> Bool {
            one.key.hasSameBytes(as: other.key) && one.name.hasSameBytes(as: other.name)
        }

        public func hash(into hasher: inout Hasher) {
            Name(key).hash(into: &hasher)
            Name(name).hash(into: &hasher)
        }
    }

    private var numbers: [Row: Int] = [:]
    public private(set) var rows: [Row] = []
    /// The rows of each key; nil: nobody has asked yet.
    private var ofKey: [Name: [Int]]?

    public init() {}

    public func number(of key: String, _ name: String) -> Int {
        let row = Row(key: key, name: name)
        if let known = numbers[row] { return known }
        let number = rows.count
        numbers[row] = number
        rows.append(row)
        ofKey?[Name(key), default: []].append(number)
        return number
    }

    /// The number of a state's row.
    public func number(of state: RecordedState) -> Int {
        if state.names === self { return state.number }
        state.number = number(of: state.key, state.name)
        state.names = self
        return state.number
    }

    func known(_ key: String, _ name: String) -> Int? { numbers[Row(key: key, name: name)] }

    func numbers(of key: String) -> [Int] {
        let known = ofKey ?? Dictionary(grouping: rows.indices) { Name(rows[$0].key) }
        ofKey = known
        return known[Name(key)] ?? []
    }
}

/// The rows of a moment: those of an image, and the changes since.
public struct RowTable {
    public let names: RowNames
    /// By number; nil: there is no such row.
    private var values: [Value?] = []
    private var revisions: [UInt64] = []

    public init(_ names: RowNames = RowNames()) { self.names = names }

    public subscript(number: Int) -> Value? { number < values.count ? values[number] : nil }

    public subscript(key: String, name: String) -> Value? { names.known(key, name).flatMap { self[$0] } }

    public mutating func put(_ number: Int, _ value: Value, at revision: UInt64) {
        if number >= values.count {
            let missing = names.rows.count - values.count
            values += repeatElement(nil, count: missing)
            revisions += repeatElement(0, count: missing)
        }
        values[number] = value
        revisions[number] = revision
    }

    private mutating func delete(_ number: Int) { if number < values.count { values[number] = nil } }

    /// Deletes the rows of a key that were not written after a revision.
    private mutating func delete(_ key: String, upTo revision: UInt64) {
        for number in names.numbers(of: key) where number < values.count && revisions[number] <= revision {
            values[number] = nil
        }
    }

    /// Deletes the pasts of operators over time.
    public mutating func deletePasts() {
        for number in values.indices where values[number] != nil && names.rows[number].isPast { values[number] = nil }
    }

    /// True if it has the past of an operator over time.
    public var hasPasts: Bool { values.indices.contains { values[$0] != nil && names.rows[$0].isPast } }

    public var all: [StoredRow] {
        values.indices.compactMap { number in
            values[number].map { value in
                let row = names.rows[number]
                return StoredRow(key: row.key, name: row.name, revision: revisions[number], value: value)
            }
        }
    }

    /// The row with the operators' clock.
    public var timeRows: [StoredRow] {
        names.numbers(of: StoreChange.timeKey).compactMap { number in
            self[number].map { StoredRow(key: StoreChange.timeKey, name: "", revision: 0, value: $0) }
        }
    }

    /// The numbers of the rows that differ from those of another moment.
    public func differing(from other: RowTable) -> [Int] {
        (0..<max(values.count, other.values.count)).filter { self[$0] != other[$0] }
    }

    /// Applies a record.
    /// - Parameter revision: of the transaction that it belongs to.
    public mutating func apply(_ record: Record, at revision: UInt64) {
        switch record {
        case .write(let state, let value, _): put(names.number(of: state), value, at: revision)
        case .burst(let state, _, _, _, _, let last): put(names.number(of: state), last, at: revision)
        case .row(let key, let name?, let value?, _): put(names.number(of: key, name), value, at: revision)
        case .row(let key, let name?, nil, _): delete(names.number(of: key, name))
        case .row(let key, nil, _, let bound): delete(key, upTo: bound)
        case .imageRow(let key, let name, let value): put(names.number(of: key, name), value, at: revision)
        case .transaction, .report, .entries, .imageBegins, .imageEnds, .end: break
        }
    }
}

extension RowNames.Row {
    /// True for the past of an operator over time: its name has a space.
    fileprivate var isPast: Bool { name.utf8.contains(UInt8(ascii: " ")) }
}
