/// The elements of a list.
///
/// A long list consists of chunks, and a copy shares all chunks with its original. So changing, inserting or removing
/// an element costs one chunk, and one word for each of the others. Comparing a list with a copy that was changed takes
/// only the chunks that they do not share. A short list is an array.
@frozen
public struct ValueList {
    @usableFromInline
    enum Storage {
        case flat([Value])
        case chunked(Chunks)
    }

    /// At least one chunk, none of them empty. Only a list that has the only reference changes it.
    @usableFromInline
    final class Chunks {
        var chunks: [ListChunk]
        /// The position in the list where each chunk begins, and the end of the list.
        var starts: [Int]

        init(_ chunks: [ListChunk], _ starts: [Int]) {
            self.chunks = chunks
            self.starts = starts
        }

        /// Chunks are copied and released one by one, which is faster than copying or freeing an array of references.
        convenience init(copying other: Chunks) {
            var chunks: [ListChunk] = []
            chunks.reserveCapacity(other.chunks.count + 1)
            for chunk in other.chunks { chunks.append(chunk) }
            self.init(chunks, other.starts)
        }

        deinit { while chunks.popLast() != nil {} }
    }

    /// The number of elements at which a chunk of a list is full, at least 128. A change of a list copies the
    /// references to all chunks and the elements of one chunk, so there are about as many chunks as elements in one.
    static func chunkLength(ofListOf count: Int) -> Int {
        1 << Swift.max(7, (Int.bitWidth - count.leadingZeroBitCount) / 2)
    }
    /// The maximum number of elements of a list that is an array.
    static let flatLength = 512

    @usableFromInline var storage: Storage

    public init(_ elements: [Value]) {
        storage = elements.count <= ValueList.flatLength ? .flat(elements) : .chunked(Chunks(elements))
    }

    /// A list with the same elements in one array. Cost: O(elements) if there are many.
    @inlinable
    public var contiguous: ValueList {
        if case .flat = storage { self } else { flattened }
    }

    @usableFromInline @inline(never)
    var flattened: ValueList {
        var list = self
        list.storage = .flat(array)
        return list
    }

    /// All elements in one array. Cost: O(elements) if there are many.
    public var array: [Value] {
        switch storage {
        case .flat(let elements): elements
        case .chunked(let chunks): chunks.chunks.flatMap(\.elements)
        }
    }
}

extension ValueList.Chunks {
    convenience init(_ elements: [Value]) {
        let length = ValueList.chunkLength(ofListOf: elements.count)
        let starts = Array(stride(from: 0, to: elements.count, by: length)) + [elements.count]
        self.init(zip(starts, starts.dropFirst()).map { ListChunk(Array(elements[$0..<$1])) }, starts)
    }

    var count: Int { starts[chunks.count] }

    /// The number of the chunk that contains a position before the end.
    func chunk(of position: Int) -> Int {
        var (low, high) = (0, chunks.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= position { low = middle } else { high = middle }
        }
        return low
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

    func insert(_ element: Value, at position: Int) {
        let chunk = position == count ? chunks.count - 1 : chunk(of: position)
        let place = position - starts[chunk]
        let length = chunks[chunk].elements.count
        move(after: chunk, by: 1)
        guard length >= ValueList.chunkLength(ofListOf: count) else { return own(chunk).insert(element, at: place) }
        // A list that grows at its end fills its chunks. A list that grows elsewhere halves them.
        let cut = place == length ? length : length / 2
        let elements = chunks[chunk].elements
        let lower = ListChunk(Array(elements[..<cut]))
        let upper = ListChunk(Array(elements[cut...]))
        if place > cut || cut == length {
            upper.insert(element, at: place - cut)
        } else {
            lower.insert(element, at: place)
        }
        if cut < length { chunks[chunk] = lower }
        chunks.insert(upper, at: chunk + 1)
        starts.insert(starts[chunk] + chunks[chunk].elements.count, at: chunk + 1)
    }

    func remove(at position: Int) -> Value {
        let chunk = chunk(of: position)
        let element = own(chunk).remove(at: position - starts[chunk])
        move(after: chunk, by: -1)
        let next = chunk + 1
        let left = chunks[chunk].elements
        if left.isEmpty {
            chunks.remove(at: chunk)
            starts.remove(at: next)
        } else if next < chunks.count,
            left.count + chunks[next].elements.count <= ValueList.chunkLength(ofListOf: count) / 2
        {
            chunks[chunk] = ListChunk(left + chunks[next].elements)
            chunks.remove(at: next)
            starts.remove(at: next)
        }
        return element
    }

    private func move(after chunk: Int, by distance: Int) {
        for place in chunk + 1..<starts.count { starts[place] += distance }
    }
}

extension ValueList: RandomAccessCollection, MutableCollection {
    public var startIndex: Int { 0 }

    @inlinable
    public var endIndex: Int {
        if case .flat(let elements) = storage { elements.count } else { chunkedCount }
    }

    @usableFromInline @inline(never)
    var chunkedCount: Int {
        if case .chunked(let chunks) = storage { chunks.count } else { 0 }
    }

    @inlinable
    public subscript(position: Int) -> Value {
        get {
            if case .flat(let elements) = storage { elements[position] } else { chunkedElement(position) }
        }
        set { set(newValue, at: position) }
    }

    @usableFromInline @inline(never)
    func chunkedElement(_ position: Int) -> Value {
        guard case .chunked(let list) = storage else { preconditionFailure("the list is an array") }
        precondition(position >= 0 && position < list.count, "no such element")
        let chunk = list.chunk(of: position)
        return list.chunks[chunk].elements[position - list.starts[chunk]]
    }

    @usableFromInline
    mutating func set(_ element: Value, at position: Int) {
        switch take() {
        case .flat(var elements):
            elements[position] = element
            storage = .flat(elements)
        case .chunked(let list):
            precondition(position >= 0 && position < list.count, "no such element")
            list.set(element, at: position)
            storage = .chunked(list)
        }
    }

    /// Removes the storage from the list, so that it can be changed and put back. Chunks that other lists share are
    /// copied, but not their elements.
    private mutating func take() -> Storage {
        switch storage {
        case .flat(let elements):
            storage = .flat([])
            return .flat(elements)
        case .chunked(var list):
            storage = .flat([])
            return .chunked(isKnownUniquelyReferenced(&list) ? list : Chunks(copying: list))
        }
    }

    public mutating func append(_ element: Value) { insert(element, at: count) }

    public mutating func insert(_ element: Value, at position: Int) {
        switch take() {
        case .flat(var elements):
            elements.insert(element, at: position)
            self = ValueList(elements)
        case .chunked(let list):
            precondition(position >= 0 && position <= list.count, "no such place")
            list.insert(element, at: position)
            storage = .chunked(list)
        }
    }

    @discardableResult
    public mutating func remove(at position: Int) -> Value {
        switch take() {
        case .flat(var elements):
            let element = elements.remove(at: position)
            storage = .flat(elements)
            return element
        case .chunked(let list):
            precondition(position >= 0 && position < list.count, "no such element")
            let element = list.remove(at: position)
            storage = list.chunks.isEmpty ? .flat([]) : .chunked(list)
            return element
        }
    }

    @inlinable public func makeIterator() -> Iterator { Iterator(self) }

    /// Iterates over each chunk as over an array.
    @frozen
    public struct Iterator: IteratorProtocol {
        @usableFromInline var elements: [Value] = []
        @usableFromInline var position = 0
        @usableFromInline var upcoming = 0
        @usableFromInline let list: ValueList?

        @inlinable
        init(_ list: ValueList) {
            if case .flat(let elements) = list.storage {
                self.elements = elements
                self.list = nil
            } else {
                self.list = list
            }
        }

        @inlinable
        public mutating func next() -> Value? {
            if position == elements.count, !openChunk() { return nil }
            defer { position += 1 }
            return elements[position]
        }

        @usableFromInline
        mutating func openChunk() -> Bool {
            guard case .chunked(let chunks)? = list?.storage, upcoming < chunks.chunks.count else { return false }
            elements = chunks.chunks[upcoming].elements
            (position, upcoming) = (0, upcoming + 1)
            return true
        }
    }

    public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<Value>) throws -> Result
    ) rethrows -> Result? {
        guard case .flat(let elements) = storage else { return nil }
        return try elements.withUnsafeBufferPointer(body)
    }
}

extension ValueList {
    /// Cost: that of each element that is inserted, removed or replaced, or O(elements) if they are many.
    public mutating func replaceSubrange(_ range: Range<Int>, with elements: [Value]) {
        guard Swift.max(range.count, elements.count) <= count / ValueList.chunkLength(ofListOf: count) else {
            var all = array
            all.replaceSubrange(range, with: elements)
            self = ValueList(all)
            return
        }
        let common = Swift.min(range.count, elements.count)
        for place in 0..<common { self[range.lowerBound + place] = elements[place] }
        for place in (common..<range.count).reversed() { remove(at: range.lowerBound + place) }
        for place in common..<elements.count { insert(elements[place], at: range.lowerBound + place) }
    }

    /// Cost: O(elements), or O(elements of `b`) if these are few compared with those of `a`.
    public static func + (a: ValueList, b: some Collection<Value>) -> ValueList {
        var joined = a
        joined.replaceSubrange(a.count..<a.count, with: Array(b))
        return joined
    }
}

extension ValueList {
    /// The position of the first element that has this id (see `Value.id(by:)`). Cost: some nanoseconds for each
    /// element of a short list, and a twentieth of a nanosecond for each of a long list that was searched by the same
    /// field before.
    public func position(of id: Value, by field: String) -> Int? {
        switch storage {
        case .flat(let elements): return elements.position(of: id, by: field)
        case .chunked(let list):
            let mark = ListChunk.mark(id)
            for (chunk, start) in zip(list.chunks, list.starts) {
                if let place = chunk.position(of: id, mark, by: field) { return start + place }
            }
            return nil
        }
    }
}

extension ValueList: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Value...) { self.init(elements) }
}

extension ValueList: Hashable {
    public static func == (a: ValueList, b: ValueList) -> Bool {
        guard a.count == b.count else { return false }
        var position = 0
        while true {
            position += IdenticalRun.countFrom(a, from: position, b, from: position, count: a.count - position)
            guard position < a.count else { return true }
            guard a[position] == b[position] else { return false }
            position += 1
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for element in self { hasher.combine(element) }
    }

    /// True if both lists are known to have the same elements without examining them. O(1).
    public func isIdentical(to other: ValueList) -> Bool {
        switch (storage, other.storage) {
        case (.flat(let a), .flat(let b)): IdenticalRun.isShared(a, b)
        case (.chunked(let a), .chunked(let b)): a === b
        default: false
        }
    }
}

extension Value {
    public static func list(_ elements: [Value]) -> Value { .list(ValueList(elements)) }
}
