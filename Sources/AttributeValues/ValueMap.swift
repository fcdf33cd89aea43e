/// A map that keeps the order of insertion. Keys are bool, int, uint or string (`isKey`). Numbers are found by their
/// exact numeric value across types: `1`, `1u` and `1.0` name the same entry.
///
/// One reference wide. Up to `linearLimit` entries are searched linearly, larger maps with an open-addressing index: a
/// look-up takes O(1). Copies share storage until one of them is written.
public struct ValueMap {
    @usableFromInline final class Storage {
        // Written only while a single map owns the storage, so the runtime need not check for overlapping accesses.
        @exclusivity(unchecked) @usableFromInline var keys: [Value]
        @exclusivity(unchecked) @usableFromInline var values: [Value]
        /// Slot → position + 1; empty while the map is small. Length is a power of two.
        @exclusivity(unchecked) @usableFromInline var index: [UInt32] = []

        /// The addresses of the arrays; `didChange` updates them.
        @exclusivity(unchecked) @usableFromInline private(set) var keyBase: UnsafePointer<Value>?
        @exclusivity(unchecked) @usableFromInline private(set) var valueBase: UnsafePointer<Value>?
        @exclusivity(unchecked) @usableFromInline private(set) var count = 0
        @exclusivity(unchecked) @usableFromInline private(set) var isIndexed = false

        @usableFromInline init(keys: [Value], values: [Value]) {
            self.keys = keys
            self.values = values
            didChange()
        }

        /// Valid until the next change.
        var bases: (keys: UnsafePointer<Value>, values: UnsafePointer<Value>)? {
            guard let keyBase, let valueBase else { return nil }
            return (keyBase, valueBase)
        }

        /// Must be called after every change of the arrays, because they may have moved.
        func didChange() {
            keyBase = keys.withUnsafeBufferPointer { $0.baseAddress }
            valueBase = values.withUnsafeBufferPointer { $0.baseAddress }
            count = keys.count
            isIndexed = !index.isEmpty
        }
    }

    /// Maps up to this size are searched linearly: comparing eight short keys is cheaper than hashing one.
    @usableFromInline static let linearLimit = 8

    @usableFromInline var storage: Storage

    public init() { storage = Storage(keys: [], values: []) }

    @usableFromInline init(_ storage: Storage) { self.storage = storage }

    public init(minimumCapacity: Int) {
        self.init()
        storage.keys.reserveCapacity(minimumCapacity)
        storage.values.reserveCapacity(minimumCapacity)
    }

    /// If several keys are equal, the last one wins.
    public init(_ entries: some Sequence<(Value, Value)>) {
        self.init()
        for (key, value) in entries { self[key] = value }
    }

    public var count: Int { storage.count }
    public var isEmpty: Bool { storage.keys.isEmpty }
    /// In the order of insertion, as `values`.
    public var keys: [Value] { storage.keys }
    public var values: [Value] { storage.values }

    public func entry(at position: Int) -> (key: Value, value: Value) {
        (storage.keys[position], storage.values[position])
    }

    @inlinable
    public func value(at position: Int) -> Value { storage.values[position] }

    /// True if both maps share storage. Then they are equal without comparing entries.
    public func isIdentical(to other: ValueMap) -> Bool { storage === other.storage }

    public subscript(_ key: Value) -> Value? {
        get { position(of: key).map { storage.values[$0] } }
        set {
            if let found = position(of: key) {
                makeUnique()
                if let newValue {
                    storage.values[found] = newValue
                    storage.didChange()
                } else {
                    remove(at: found)
                }
            } else if let newValue {
                makeUnique()
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
        if storage.index.isEmpty {
            if case .string(let text) = key {
                return storage.keys.withUnsafeBufferPointer { ValueMap.scan($0, for: text) }
            }
            return storage.keys.withUnsafeBufferPointer { $0.firstIndex { ValueMap.sameKey($0, key) } }
        }
        let mask = storage.index.count - 1
        var slot = ValueMap.hash(key) & mask
        while storage.index[slot] != 0 {
            let position = Int(storage.index[slot] - 1)
            if ValueMap.sameKey(storage.keys[position], key) { return position }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// The index of a string among a few keys. Copies no key.
    @inlinable static func scan(_ keys: UnsafeBufferPointer<Value>, for text: String) -> Int? {
        for position in keys.indices {
            if case .string(let candidate) = keys[position], candidate.hasSameBytes(as: text) { return position }
        }
        return nil
    }

    private mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&storage) {
            let copy = Storage(keys: storage.keys, values: storage.values)
            copy.index = storage.index
            copy.didChange()
            storage = copy
        }
    }

    private mutating func append(_ key: Value, _ value: Value) {
        storage.keys.append(key)
        storage.values.append(value)
        let count = storage.keys.count
        if storage.index.isEmpty ? count > ValueMap.linearLimit : count * 4 > storage.index.count * 3 {
            rebuildIndex()
        } else if !storage.index.isEmpty {
            place(count - 1)
        }
        storage.didChange()
    }

    /// Sets the value of a key in a map that was made for it: nobody else has it, and it has room.
    mutating func add(_ key: String, _ value: Value) {
        if storage.index.isEmpty, storage.keys.count < ValueMap.linearLimit {
            for known in storage.keys {
                if case .string(let text) = known, text.hasSameBytes(as: key) {
                    self[key] = value
                    return
                }
            }
            storage.keys.append(.string(key))
            storage.values.append(value)
            storage.didChange()
        } else {
            self[key] = value
        }
    }

    private mutating func remove(at position: Int) {
        storage.keys.remove(at: position)
        storage.values.remove(at: position)
        if !storage.index.isEmpty { rebuildIndex() }
        storage.didChange()
    }

    private mutating func rebuildIndex() {
        var size = 16
        while size < storage.keys.count * 2 { size *= 2 }
        storage.index = [UInt32](repeating: 0, count: size)
        for position in storage.keys.indices { place(position) }
    }

    private mutating func place(_ position: Int) {
        let mask = storage.index.count - 1
        var slot = ValueMap.hash(storage.keys[position]) & mask
        while storage.index[slot] != 0 { slot = (slot + 1) & mask }
        storage.index[slot] = UInt32(position + 1)
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

    @usableFromInline static func hash(_ key: Value) -> Int {
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
        return hasher.finalize()
    }
}

extension ValueMap: Equatable {
    /// True if both have the same size and each key of one exists in the other with an equal value. The order does not
    /// matter.
    public static func == (a: ValueMap, b: ValueMap) -> Bool {
        if a.storage === b.storage { return true }
        guard a.count == b.count else { return false }
        // Maps that are compared are usually two contents of one attribute, with the same keys in the same order.
        var position = 0
        if let (keys, values) = a.storage.bases, let (others, otherValues) = b.storage.bases {
            while position < a.count, (keys + position).isEqual(to: others + position) {
                guard (values + position).isEqual(to: otherValues + position) else { return false }
                position += 1
            }
        }
        for position in position..<a.count {
            let (key, value) = a.entry(at: position)
            guard let found = b.position(of: key), b.storage.keys[found] == key, b.storage.values[found] == value else {
                return false
            }
        }
        return true
    }
}

extension ValueMap: Sequence {
    public func makeIterator() -> AnyIterator<(key: Value, value: Value)> {
        var position = 0
        let map = self
        return AnyIterator {
            guard position < map.count else { return nil }
            defer { position += 1 }
            return map.entry(at: position)
        }
    }
}
