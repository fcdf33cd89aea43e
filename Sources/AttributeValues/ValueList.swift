/// The elements of a list.
///
/// A long list consists of groups of chunks, and a copy shares them with its original. So changing, inserting or
/// removing an element copies one chunk, the references to the chunks of one group, and the references to all groups.
/// Comparing a list with a copy that was changed takes only the chunks that they do not share. A short list is an
/// array.
@frozen
public struct ValueList {
    @usableFromInline
    enum Storage {
        case flat([Value])
        case chunked(Chunks)
    }

    /// At least one group, none of them empty. Only a list that has the only reference changes it.
    @usableFromInline
    final class Chunks {
        private(set) var groups: [ChunkGroup]
        /// The position in the list where each group begins, and the end of the list.
        private(set) var starts: [Int]

        init(_ groups: [ChunkGroup], _ starts: [Int]) { (self.groups, self.starts) = (groups, starts) }

        /// Groups are copied and released one by one, which is faster than copying or freeing an array of references.
        convenience init(copying other: Chunks) {
            var groups: [ChunkGroup] = []
            groups.reserveCapacity(other.groups.count + 1)
            for group in other.groups { groups.append(group) }
            self.init(groups, other.starts)
        }

        deinit { while groups.popLast() != nil {} }
    }

    /// The number of elements at which a chunk of a list is full. A change of a list copies the elements of one chunk,
    /// and about as many references to chunks and groups.
    static func chunkLength(ofListOf count: Int) -> Int {
        1 << Swift.max(6, (Int.bitWidth - count.leadingZeroBitCount) / 3)
    }

    /// The number of chunks at which a group is full: about as many as there are groups.
    static func groupLength(ofListOf count: Int) -> Int {
        let chunks = count / chunkLength(ofListOf: count)
        return 1 << Swift.max(3, (Int.bitWidth - chunks.leadingZeroBitCount) / 2)
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
        case .chunked(let list): list.elements
        }
    }
}

extension ValueList.Chunks {
    convenience init(_ elements: [Value]) {
        let length = ValueList.chunkLength(ofListOf: elements.count)
        let step = length * ValueList.groupLength(ofListOf: elements.count)
        let starts = Array(stride(from: 0, to: elements.count, by: step)) + [elements.count]
        self.init(zip(starts, starts.dropFirst()).map { ChunkGroup(elements[$0..<$1], chunkLength: length) }, starts)
    }

    var count: Int { starts[groups.count] }

    var elements: [Value] {
        var all: [Value] = []
        all.reserveCapacity(count)
        for group in groups { for chunk in group.chunks { all += chunk.elements } }
        return all
    }

    /// The number of the group that a position before the end is in.
    func group(of position: Int) -> Int { starts.stretch(around: position) }

    func element(at position: Int) -> Value {
        let group = group(of: position)
        return groups[group].element(at: position - starts[group])
    }

    /// A group without other references.
    private func own(_ group: Int) -> ChunkGroup {
        if !isKnownUniquelyReferenced(&groups[group]) { groups[group] = ChunkGroup(copying: groups[group]) }
        return groups[group]
    }

    func set(_ element: Value, at position: Int) {
        let group = group(of: position)
        own(group).set(element, at: position - starts[group])
    }

    func insert(_ element: Value, at position: Int) {
        let isLast = position == count
        let group = isLast ? groups.count - 1 : group(of: position)
        own(group).insert(element, at: position - starts[group], ValueList.chunkLength(ofListOf: count + 1))
        starts.move(after: group, by: 1)
        guard groups[group].chunks.count > ValueList.groupLength(ofListOf: count) else { return }
        let upper = groups[group].splitOff(isLast: isLast)
        groups.insert(upper, at: group + 1)
        starts.insert(starts[group] + groups[group].count, at: group + 1)
    }

    func remove(at position: Int) -> Value {
        let group = group(of: position)
        let element = own(group).remove(at: position - starts[group], ValueList.chunkLength(ofListOf: count - 1))
        starts.move(after: group, by: -1)
        let next = group + 1
        let left = groups[group].chunks
        if left.isEmpty {
            groups.remove(at: group)
            starts.remove(at: next)
        } else if next < groups.count,
            left.count + groups[next].chunks.count <= ValueList.groupLength(ofListOf: count) / 2
        {
            groups[group] = ChunkGroup(left + groups[next].chunks)
            groups.remove(at: next)
            starts.remove(at: next)
        }
        return element
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
        return list.element(at: position)
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
            storage = list.groups.isEmpty ? .flat([]) : .chunked(list)
            return element
        }
    }

    @inlinable public func makeIterator() -> Iterator { Iterator(self) }

    /// Iterates over each chunk as over an array.
    @frozen
    public struct Iterator: IteratorProtocol {
        @usableFromInline var elements: [Value] = []
        @usableFromInline var position = 0
        @usableFromInline var upcoming = (group: 0, chunk: 0)
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
            guard case .chunked(let list)? = list?.storage, upcoming.group < list.groups.count else { return false }
            let chunks = list.groups[upcoming.group].chunks
            (elements, position) = (chunks[upcoming.chunk].elements, 0)
            let isLast = upcoming.chunk + 1 == chunks.count
            upcoming = isLast ? (upcoming.group + 1, 0) : (upcoming.group, upcoming.chunk + 1)
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
        for position in 0..<common { self[range.lowerBound + position] = elements[position] }
        for position in (common..<range.count).reversed() { remove(at: range.lowerBound + position) }
        for position in common..<elements.count { insert(elements[position], at: range.lowerBound + position) }
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
    /// element of a short list, and a tenth of a nanosecond for each of a long list that was searched by the same field
    /// before.
    public func position(of id: Value, by field: String) -> Int? {
        switch storage {
        case .flat(let elements): return elements.position(of: id, by: field)
        case .chunked(let list):
            let mark = ListChunk.mark(id)
            for (group, start) in zip(list.groups, list.starts) {
                if let place = group.position(of: id, mark, by: field) { return start + place }
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
        case (.flat(let a), .flat(let b)): a.isCopy(of: b)
        case (.chunked(let a), .chunked(let b)): a === b
        default: false
        }
    }
}

extension Value {
    public static func list(_ elements: [Value]) -> Value { .list(ValueList(elements)) }
}
