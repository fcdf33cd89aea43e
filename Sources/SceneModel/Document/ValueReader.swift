import AttributeValues

/// Makes a document from a value, a given number of steps at a time. Its parts have no positions.
struct ValueReader {
    /// A list or map whose parts are being made.
    private struct Pending {
        var keys: [Value]?
        var values: [Value]
        var parts: [DocumentNode] = []

        init(keys: [Value]?, values: [Value]) {
            (self.keys, self.values) = (keys, values)
            parts.reserveCapacity(values.count)
        }

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
                complete = open(value, faults, &steps)
            }
            guard let complete else { continue }
            guard !pending.isEmpty else { return complete }
            pending[pending.count - 1].parts.append(complete)
        }
        return nil
    }

    /// - Returns: nil for a list or map, whose parts must be made first.
    private mutating func open(_ value: Value, _ faults: FaultCollector, _ steps: inout Int) -> DocumentNode? {
        switch value {
        case .list(let elements): pending.append(Pending(keys: nil, values: elements.array))
        case .map(let map):
            do throws(Failure) {
                if let typed = try TypedLiteral.value(of: map) { return DocumentNode(typed: typed) }
            } catch { faults.add(.invalid, "\(TypedLiteral.key): \(error.message)") }
            if let made = copied(map, &steps) { return made }
            pending.append(Pending(keys: map.map(\.key), values: map.map(\.value)))
        default: return DocumentNode(scalar: value)
        }
        return nil
    }

    /// The document of a map that says nearly the same as the map before it in a list.
    private func copied(_ map: ValueMap, _ steps: inout Int) -> DocumentNode? {
        guard let list = pending.last, list.keys == nil, let last = list.parts.last,
            case .map(let before) = list.values[list.parts.count - 1]
        else { return nil }
        return last.copied(of: before, for: map, &steps)
    }
}

extension DocumentNode {
    /// The document of another map with the same keys, which shares what is equal. nil where more than scalars differ.
    /// - Parameter map: what this document was made from.
    fileprivate func copied(of map: ValueMap, for other: ValueMap, _ steps: inout Int) -> DocumentNode? {
        let (entries, own): ([DocumentEntry], UInt32?)
        switch content {
        case .map(let written): (entries, own) = (written, nil)
        case .copy(let written, let place): (entries, own) = (written, place)
        case .scalar, .list: return nil
        }
        guard map.count == other.count, entries.count == map.count else { return nil }
        var changed: (place: Int, text: String)?
        var all: [DocumentEntry]?
        for position in entries.indices {
            steps -= 1
            let (before, after) = (map.entry(at: position), other.entry(at: position))
            guard before.key == after.key else { return nil }
            if before.value == after.value { continue }
            let value: DocumentNode
            switch (before.value, after.value) {
            case (_, .list): return nil
            case (.map(let before), .map(let after)):
                guard let copy = self.map?[position].value.copied(of: before, for: after, &steps) else { return nil }
                value = copy
            case (_, .map): return nil
            case (_, .string(let text)) where changed == nil && all == nil && own.map { $0 == position } ?? true:
                changed = (position, text)
                continue
            case (_, let scalar): value = DocumentNode(scalar: scalar)
            }
            var rest = all ?? self.map ?? entries
            if all == nil, let changed { rest[changed.place].value = DocumentNode(scalar: .string(changed.text)) }
            rest[position].value = value
            all = rest
        }
        if let all { return DocumentNode(.map(all)) }
        return changed.map { DocumentNode(.copy(of: entries, UInt32($0.place)), text: $0.text) } ?? self
    }

    /// Makes the document of a whole value.
    init(_ value: Value) {
        var reader = ValueReader(value)
        var steps = Int.max
        self = reader.advance(&steps, FaultCollector()) ?? DocumentNode(scalar: .null)
    }
}
