import Glibc

/// A map that keeps the order of insertion. Keys are bool, int, uint or string (`isKey`). Numbers are found by their
/// exact numeric value across types: `1`, `1u` and `1.0` name the same entry.
///
/// One reference wide; keys and values are in one allocation. Maps of up to `linearLimit` entries are searched
/// linearly, larger ones through an open-addressing index: a look-up takes O(1). Copies share storage until one of them
/// is written.
public struct ValueMap {
    @usableFromInline
    struct Header {
        @usableFromInline var count: Int
        /// The number of entries that fit into the allocation. The values begin after this many keys.
        @usableFromInline let space: UInt32
        /// See `ValueMap.isFlat`.
        @usableFromInline var isFlat = false
        /// Slot → a key's hash in the upper half, and its position + 1. Empty while the map is small. Its length is a
        /// power of two.
        @usableFromInline var index: [UInt64]
    }

    /// Written only while a single map owns it. The first `count` keys and values are initialized. The pointers are
    /// valid as long as the storage.
    @usableFromInline
    final class Storage: ManagedBuffer<Header, Value> {
        @inlinable
        deinit {
            withUnsafeMutablePointers { header, keys in
                if header.pointee.isFlat { return }
                let (count, space) = (header.pointee.count, Int(header.pointee.space))
                for position in 0..<count {
                    (keys + position).release()
                    (keys + space + position).release()
                }
            }
        }
    }

    /// Maps up to this size are searched linearly: comparing eight short keys is cheaper than hashing one.
    @usableFromInline static let linearLimit = 8

    @usableFromInline var storage: Storage

    public init() { self.init(minimumCapacity: 0) }

    @usableFromInline init(_ storage: Storage) { self.storage = storage }

    /// A flat map. The keys are different short texts, at most `linearLimit`. The entries are copied.
    init(flat keys: UnsafePointer<Value>, _ values: UnsafePointer<Value>, count: Int) {
        storage = Storage.withSpace(count)
        storage.withUnsafeMutablePointers { header, slots in
            memcpy(slots, keys, count * MemoryLayout<Value>.stride)
            memcpy(slots + count, values, count * MemoryLayout<Value>.stride)
            header.pointee.count = count
            header.pointee.isFlat = true
        }
    }

    public init(minimumCapacity: Int) { storage = Storage.withSpace(minimumCapacity) }

    /// If several keys are equal, the last one wins.
    public init(_ entries: some Sequence<(Value, Value)>) {
        self.init(minimumCapacity: entries.underestimatedCount)
        for (key, value) in entries { self[key] = value }
    }

    @inlinable public var count: Int { storage.count }
    @inlinable public var isEmpty: Bool { storage.count == 0 }
    /// In the order of insertion, as are `values`.
    public var keys: [Value] { Array(UnsafeBufferPointer(start: storage.keys, count: count)) }
    public var values: [Value] { Array(UnsafeBufferPointer(start: storage.values, count: count)) }

    public func entry(at position: Int) -> (key: Value, value: Value) {
        precondition(position < storage.count, "no such entry")
        return (storage.keys[position], storage.values[position])
    }

    @inlinable
    public func value(at position: Int) -> Value {
        precondition(position < storage.count, "no such entry")
        return storage.values[position]
    }

    /// The map is known to have only a few scalars and short texts, which need no release, and no escape as JSON.
    var isFlat: Bool { storage.withUnsafeMutablePointerToHeader { $0.pointee.isFlat } }

    /// True if both maps share storage. Then they are equal without comparing entries.
    public func isIdentical(to other: ValueMap) -> Bool { storage === other.storage }

    /// The addresses of the keys and the values, valid while the map is neither changed nor freed.
    public var bases: (keys: UnsafePointer<Value>, values: UnsafePointer<Value>) {
        (UnsafePointer(storage.keys), UnsafePointer(storage.values))
    }

    public subscript(_ key: Value) -> Value? {
        get { position(of: key).map { storage.values[$0] } }
        set {
            if let found = position(of: key) {
                if let newValue {
                    makeUnique(space: storage.space)
                    storage.values[found] = newValue
                } else {
                    remove(at: found)
                }
            } else if let newValue {
                append(key, newValue)
            }
        }
    }

    public subscript(_ key: String) -> Value? {
        get { self[.string(key)] }
        set { self[.string(key)] = newValue }
    }

    /// The entry's index in the order of insertion.
    @inlinable
    public func position(of key: Value) -> Int? {
        if !storage.isIndexed {
            let keys = UnsafeBufferPointer(start: storage.keys, count: storage.count)
            if case .string(let text) = key { return ValueMap.scan(keys, for: text) }
            return keys.firstIndex { ValueMap.sameKey($0, key) }
        }
        return storage.withIndex { index in
            let mask = index.count - 1
            let hash = ValueMap.hash(key)
            var slot = Int(hash) & mask
            while index[slot] != 0 {
                let position = Int(UInt32(truncatingIfNeeded: index[slot])) - 1
                if index[slot] >> 32 == hash, ValueMap.sameKey(storage.keys[position], key) { return position }
                slot = (slot + 1) & mask
            }
            return nil
        }
    }

    /// The index of a string among a few keys. Copies no key.
    @inlinable static func scan(_ keys: UnsafeBufferPointer<Value>, for text: String) -> Int? {
        for position in keys.indices {
            if case .string(let candidate) = keys[position], candidate.hasSameBytes(as: text) { return position }
        }
        return nil
    }

    /// Makes the storage exclusive to this map, with space for this many entries.
    private mutating func makeUnique(space: Int) {
        if space <= storage.space, isKnownUniquelyReferenced(&storage) {
            storage.withHeader { $0.isFlat = false }
            return
        }
        let new = Storage.withSpace(Swift.max(space, storage.count))
        let count = storage.count
        new.withHeader { header in
            header.count = count
            storage.withHeader { header.index = $0.index }
        }
        if isKnownUniquelyReferenced(&storage) {
            new.keys.moveInitialize(from: storage.keys, count: count)
            new.values.moveInitialize(from: storage.values, count: count)
            storage.withHeader { $0.count = 0 }
        } else {
            new.keys.initialize(from: storage.keys, count: count)
            new.values.initialize(from: storage.values, count: count)
        }
        storage = new
    }

    /// Adds an entry whose key is not in the map.
    public mutating func add(_ key: Value, _ value: Value) { append(key, value) }

    private mutating func append(_ key: Value, _ value: Value) {
        let count = storage.count
        if count < Swift.min(storage.space, ValueMap.linearLimit), !storage.isIndexed,
            isKnownUniquelyReferenced(&storage)
        {
            return storage.withUnsafeMutablePointers { header, keys in
                (keys + count).initialize(to: key)
                (keys + Int(header.pointee.space) + count).initialize(to: value)
                header.pointee.count = count + 1
                header.pointee.isFlat = false
            }
        }
        makeUnique(space: count < storage.space ? storage.space : Swift.max(4, 2 * count))
        (storage.keys + count).initialize(to: key)
        (storage.values + count).initialize(to: value)
        storage.withHeader { $0.count = count + 1 }
        if storage.withIndex({ $0.count }) * 3 > storage.space * 4 {
            place(count)
        } else if count >= ValueMap.linearLimit {
            rebuildIndex()
        }
    }

    /// The members of an object; nil if they are many or two have the same name.
    init?(parsed object: JSONElement, count: Int) {
        guard count <= ValueMap.linearLimit else { return nil }
        storage = Storage.withSpace(count)
        let isUnique = storage.withUnsafeMutablePointers { header, keys in
            var isUnique = true
            object.forEachMember { name, element in
                let position = header.pointee.count
                let end = keys + position
                end.initialize(to: .string(String(parsed: name)))
                for earlier in 0..<position where UnsafePointer(keys + earlier).hasSameText(as: end) {
                    isUnique = false
                }
                (end + count).initialize(to: element.value)
                header.pointee.count = position + 1
            }
            return isUnique
        }
        if !isUnique { return nil }
    }

    private mutating func remove(at position: Int) {
        makeUnique(space: storage.space)
        let count = storage.count - 1
        for column in [storage.keys, storage.values] {
            (column + position).deinitialize(count: 1)
            (column + position).moveInitialize(from: column + position + 1, count: count - position)
        }
        storage.withHeader { $0.count = count }
        if storage.isIndexed { rebuildIndex() }
    }

    /// Makes an index that stays less than three quarters full until the map needs more space.
    private mutating func rebuildIndex() {
        var size = 16
        while size * 3 <= storage.space * 4 { size *= 2 }
        storage.withHeader { $0.index = [UInt64](repeating: 0, count: size) }
        for position in 0..<storage.count { place(position) }
    }

    private func place(_ position: Int) {
        storage.withHeader { header in
            let mask = header.index.count - 1
            let hash = ValueMap.hash(storage.keys[position])
            var slot = Int(hash) & mask
            while header.index[slot] != 0 { slot = (slot + 1) & mask }
            header.index[slot] = hash << 32 | UInt64(position + 1)
        }
    }

    /// Key identity: numbers by exact numeric value, everything else by type and content.
    @usableFromInline static func sameKey(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.string(let x), .string(let y)): return x.hasSameBytes(as: y)
        case (.int(let x), .int(let y)): return x == y
        case (.bool(let x), .bool(let y)): return x == y
        default:
            guard let x = integralKey(a), let y = integralKey(b) else { return false }
            return x == y
        }
    }

    /// The number as sign and magnitude, if it is a whole number in the range of int or uint.
    private static func integralKey(_ value: Value) -> (Bool, UInt64)? {
        switch value {
        case .int(let x): (x < 0, x.magnitude)
        case .uint(let x): (false, x)
        case .double(let x):
            if let signed = Int64(exactly: x) {
                (signed < 0, signed.magnitude)
            } else if let unsigned = UInt64(exactly: x) {
                (false, unsigned)
            } else {
                nil
            }
        default: nil
        }
    }

    /// A hash of 32 bits.
    @usableFromInline static func hash(_ key: Value) -> UInt64 {
        var hasher = Hasher()
        switch key {
        case .string(let text):
            // Hashes the bytes: String's own hash normalises, which is slow and differs from the comparison in sameKey.
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .bool(let flag): hasher.combine(flag)
        default:
            if let (negative, magnitude) = integralKey(key) {
                hasher.combine(negative)
                hasher.combine(magnitude)
            }
        }
        return UInt64(UInt32(truncatingIfNeeded: hasher.finalize()))
    }
}

extension ValueMap: Equatable {
    /// True if both have the same size and each key of one exists in the other with an equal value, in any order.
    public static func == (a: ValueMap, b: ValueMap) -> Bool {
        if a.storage === b.storage { return true }
        guard a.count == b.count else { return false }
        // Maps that are compared are usually two contents of one attribute, with the same keys in the same order.
        var position = 0
        let ((keys, values), (others, otherValues)) = (a.bases, b.bases)
        while position < a.count, (keys + position).isEqual(to: others + position) {
            guard (values + position).isEqual(to: otherValues + position) else { return false }
            position += 1
        }
        for position in position..<a.count {
            guard let found = b.position(of: keys[position]), others[found] == keys[position],
                otherValues[found] == values[position]
            else { return false }
        }
        return true
    }
}

extension ValueMap: Sequence {
    public struct Iterator: IteratorProtocol {
        fileprivate let map: ValueMap
        fileprivate var position = 0

        public mutating func next() -> (key: Value, value: Value)? {
            guard position < map.count else { return nil }
            defer { position += 1 }
            return map.entry(at: position)
        }
    }

    public func makeIterator() -> Iterator { Iterator(map: self) }
    public var underestimatedCount: Int { count }
}

extension ValueMap.Storage {
    static func withSpace(_ space: Int) -> ValueMap.Storage {
        let made = create(minimumCapacity: 2 * space) { _ in ValueMap.Header(count: 0, space: UInt32(space), index: [])
        }
        return unsafeDowncast(made, to: ValueMap.Storage.self)
    }

    @inlinable var count: Int { withUnsafeMutablePointerToHeader { $0.pointee.count } }
    @inlinable var space: Int { withUnsafeMutablePointerToHeader { Int($0.pointee.space) } }
    @inlinable var isIndexed: Bool { withUnsafeMutablePointerToHeader { !$0.pointee.index.isEmpty } }
    @inlinable var keys: UnsafeMutablePointer<Value> { withUnsafeMutablePointerToElements { $0 } }
    @inlinable var values: UnsafeMutablePointer<Value> {
        withUnsafeMutablePointers { header, keys in keys + Int(header.pointee.space) }
    }

    func withHeader(_ body: (inout ValueMap.Header) -> Void) { withUnsafeMutablePointerToHeader { body(&$0.pointee) } }

    @inlinable
    func withIndex<Result>(_ body: (UnsafeBufferPointer<UInt64>) -> Result) -> Result {
        withUnsafeMutablePointerToHeader { $0.pointee.index.withUnsafeBufferPointer(body) }
    }
}
