import AttributeValues
import GraphRuntime

/// A journal entry as it stands in the table: `kind` and `path` to find it by, everything else in `body` as JSON.
///
/// | kind | path | body |
/// |---|---|---|
/// | 0 state | the attribute | typed JSON of the value |
/// | 1 applied | the node below which | `{"document": typed JSON, "mode": …}` |
/// | 2 removed | the node | `null` |
/// | 3 moved | the node | `{"to": …, "index": …}` |
struct JournalRow {
    var revision: UInt64
    var kind: Int64
    var path: String
    let body: ByteBuffer

    static let stateKind: Int64 = 0
    static let appliedKind: Int64 = 1
    static let removedKind: Int64 = 2

    /// nil for an entry that only takes others out.
    init?(revision: UInt64, _ entry: JournalEntry) {
        self.revision = revision
        body = ByteBuffer()
        switch entry {
        case .state(let path, let value):
            (kind, self.path) = (JournalRow.stateKind, path)
            body.appendTypedJSON(value)
        case .applied(let document, let at, let mode):
            (kind, path) = (JournalRow.appliedKind, at)
            body.append("{\"document\":")
            body.appendTypedJSON(document)
            body.append(",\"mode\":")
            body.appendJSONString(mode)
            body.append("}")
        case .removed(let path):
            (kind, self.path) = (JournalRow.removedKind, path)
            body.appendJSON(.null)
        case .moved(let path, let to, let index):
            (kind, self.path) = (3, path)
            body.appendJSON([
                "to": to.map { .string($0) } ?? .null, "index": index.map { .int(Int64($0)) } ?? .null,
            ])
        case .forgotten, .void, .rekeyed: return nil
        }
    }

    var checksum: Int64 {
        JournalRow.checksum(revision: revision, kind: kind, path: path, body: body)
    }

    static func checksum(revision: UInt64, kind: Int64, path: String, body: ByteBuffer) -> Int64 {
        var sum = Checksum()
        sum.add(Int64(bitPattern: revision))
        sum.add(kind)
        sum.add(path)
        body.withBytes { sum.add($0) }
        return Int64(sum.value)
    }

    /// Typed JSON nests about twice as deeply as the JSON that values came in as.
    static let maximumDepth = 1024

    /// The entry of a stored row.
    /// - Throws: what is wrong with the row, in words.
    static func read(
        revision: UInt64, kind: Int64, path: String, body: UnsafeBufferPointer<UInt8>, checksum: Int64, _ parser: JSONParser
    ) throws(Failure) -> JournalEntry {
        let copy = ByteBuffer(capacity: body.count)
        copy.append(body)
        guard self.checksum(revision: revision, kind: kind, path: path, body: copy) == checksum else {
            throw Failure(.unavailable, "its checksum does not fit")
        }
        let json = try parser.parse(body)
        switch kind {
        case stateKind: return .state(path: path, value: try Value(typedJSON: json, anyKeys: true))
        case appliedKind:
            guard let document = json["document"], let mode = json["mode"]?.string else { break }
            return .applied(document: try Value(typedJSON: document, anyKeys: true), at: path, mode: mode)
        case removedKind: return .removed(path: path)
        case 3 where json.isObject: return .moved(path: path, to: json["to"]?.string, index: json["index"]?.int.map { Int($0) })
        default: break
        }
        throw Failure(.unavailable, "it is of an unknown kind (\(kind))")
    }
}
