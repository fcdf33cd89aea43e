/// Neighbouring chunks of a long list, at least one, none of them empty. Only a list that has the only reference to the
/// group changes it.
final class ChunkGroup {
    private(set) var chunks: [ListChunk]
    /// The position in the group where each chunk begins, and the end of the group.
    private(set) var starts: [Int]

    init(_ chunks: [ListChunk]) {
        self.chunks = chunks
        starts = [0]
        starts.reserveCapacity(chunks.count + 1)
        for chunk in chunks { starts.append(starts[starts.count - 1] + chunk.elements.count) }
    }

    convenience init(_ elements: ArraySlice<Value>, chunkLength: Int) {
        self.init(
            stride(from: elements.startIndex, to: elements.endIndex, by: chunkLength).map {
                ListChunk(Array(elements[$0..<min($0 + chunkLength, elements.endIndex)]))
            })
    }

    /// Chunks are copied and released one by one, as groups are.
    init(copying other: ChunkGroup) {
        var chunks: [ListChunk] = []
        chunks.reserveCapacity(other.chunks.count + 1)
        for chunk in other.chunks { chunks.append(chunk) }
        (self.chunks, starts) = (chunks, other.starts)
    }

    deinit { while chunks.popLast() != nil {} }

    var count: Int { starts[chunks.count] }

    /// The number of elements of a chunk.
    func elementCount(of chunk: Int) -> Int { starts[chunk + 1] - starts[chunk] }

    /// The number of the chunk that a position before the end is in.
    func chunk(of position: Int) -> Int { starts.stretch(around: position) }

    func element(at position: Int) -> Value {
        let chunk = chunk(of: position)
        return chunks[chunk].elements[position - starts[chunk]]
    }

    /// See `ValueList.position(of:by:)`.
    func position(of id: Value, _ mark: UInt16, by field: String) -> Int? {
        for (chunk, start) in zip(chunks, starts) {
            if let offset = chunk.position(of: id, mark, by: field) { return start + offset }
        }
        return nil
    }

    /// A chunk without other references.
    private func own(_ chunk: Int) -> ListChunk {
        if !isKnownUniquelyReferenced(&chunks[chunk]) { chunks[chunk] = ListChunk(copying: chunks[chunk]) }
        return chunks[chunk]
    }

    func set(_ element: Value, at position: Int) {
        let chunk = chunk(of: position)
        own(chunk).set(element, at: position - starts[chunk])
    }

    /// - Parameter full: the number of elements at which a chunk is full.
    func insert(_ element: Value, at position: Int, _ full: Int) {
        let chunk = position == count ? chunks.count - 1 : chunk(of: position)
        let offset = position - starts[chunk]
        let length = elementCount(of: chunk)
        starts.move(after: chunk, by: 1)
        guard length >= full else { return own(chunk).insert(element, at: offset) }
        // A list that grows at its end fills its chunks. A list that grows elsewhere halves them.
        let cut = offset == length ? length : length / 2
        let elements = chunks[chunk].elements
        let lower = ListChunk(Array(elements[..<cut]))
        let upper = ListChunk(Array(elements[cut...]))
        if offset > cut || cut == length {
            upper.insert(element, at: offset - cut)
        } else {
            lower.insert(element, at: offset)
        }
        if cut < length { chunks[chunk] = lower }
        chunks.insert(upper, at: chunk + 1)
        starts.insert(starts[chunk] + chunks[chunk].elements.count, at: chunk + 1)
    }

    /// - Parameter full: the number of elements at which a chunk is full.
    func remove(at position: Int, _ full: Int) -> Value {
        let chunk = chunk(of: position)
        let element = own(chunk).remove(at: position - starts[chunk])
        starts.move(after: chunk, by: -1)
        let next = chunk + 1
        let left = chunks[chunk].elements
        if left.isEmpty {
            chunks.remove(at: chunk)
            starts.remove(at: next)
        } else if next < chunks.count, left.count + elementCount(of: next) <= full / 2 {
            chunks[chunk] = ListChunk(left + chunks[next].elements)
            chunks.remove(at: next)
            starts.remove(at: next)
        }
        return element
    }

    /// Removes the upper half of the chunks; of the last group of a list, which grows at its end, the last chunk.
    /// - Returns: a group of them.
    func splitOff(isLast: Bool) -> ChunkGroup {
        let cut = isLast ? chunks.count - 1 : chunks.count / 2
        let upper = ChunkGroup(Array(chunks[cut...]))
        chunks.removeLast(chunks.count - cut)
        starts.removeLast(starts.count - 1 - cut)
        return upper
    }
}

// The positions where stretches begin, and the end of the last one.
extension [Int] {
    /// The number of the stretch that a position before the end is in.
    fileprivate func findStretch(around position: Int) -> Int {
        var (low, high) = (0, count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if self[middle] <= position { low = middle } else { high = middle }
        }
        return low
    }

    /// The same. Most stretches of a list that was not changed are as long as the first.
    func stretch(around position: Int) -> Int {
        let guess = Swift.min(position / Swift.max(1, self[1]), count - 2)
        if self[guess] <= position, position < self[guess + 1] { return guess }
        return findStretch(around: position)
    }

    /// Moves all behind a stretch.
    mutating func move(after stretch: Int, by distance: Int) {
        for position in stretch + 1..<count { self[position] += distance }
    }
}
