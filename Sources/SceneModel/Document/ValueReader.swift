import AttributeValues

/// Makes a document from a value, a given number of steps at a time. Its parts have no positions.
struct ValueReader {
    /// A list or map whose parts are being made.
    private struct Pending {
        var keys: [Value]?
        var values: [Value]
        var parts: [DocumentNode] = []

        var document: DocumentNode {
            guard let keys else { return DocumentNode(.list(parts)) }
            return DocumentNode(.map(zip(keys, parts).map { DocumentEntry(key: DocumentNode(scalar: $0), value: $1) }))
        }
    }

    private var root: Value?
    private var pending: [Pending] = []

    init(_ value: Value) { root = value }

    /// - Returns: the document when it is complete.
    mutating func advance(_ steps: inout Int, _ faults: FaultCollector) -> DocumentNode? {
        while steps > 0 {
            var complete: DocumentNode?
            if let last = pending.last, last.parts.count == last.values.count {
                pending.removeLast()
                complete = last.document
            } else {
                guard let value = root ?? pending.last.map({ $0.values[$0.parts.count] }) else { return nil }
                root = nil
                steps -= SceneCost.event
                complete = open(value, faults)
            }
            guard let complete else { continue }
            guard !pending.isEmpty else { return complete }
            pending[pending.count - 1].parts.append(complete)
        }
        return nil
    }

    /// - Returns: nil for a list or map, whose parts must be made first.
    private mutating func open(_ value: Value, _ faults: FaultCollector) -> DocumentNode? {
        switch value {
        case .list(let elements): pending.append(Pending(keys: nil, values: elements.array))
        case .map(let map):
            do throws(Failure) {
                if let typed = try TypedLiteral.value(of: map) { return DocumentNode(typed: typed) }
            } catch {
                faults.add(.invalid, "\(TypedLiteral.key): \(error.message)")
            }
            pending.append(Pending(keys: map.map(\.key), values: map.map(\.value)))
        default: return DocumentNode(scalar: value)
        }
        return nil
    }
}

extension DocumentNode {
    /// Makes the document of a whole value.
    init(_ value: Value) {
        var reader = ValueReader(value)
        var steps = Int.max
        self = reader.advance(&steps, FaultCollector()) ?? DocumentNode(scalar: .null)
    }
}
