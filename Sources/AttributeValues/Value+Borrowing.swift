// Look-ups that neither retain nor copy. They read a value's payload in its storage: at offset 0 of the enum, as for
// every enum whose cases share no spare bits. `StringBytesTests` checks that the compiler uses this layout.
//
// Lifetime: a returned pointer points into the map's storage. It is valid while the map at `self` is neither changed
// nor freed. The caller must read it at once.

extension UnsafePointer<Value> {
    /// A pointer to the value of a string key in this map; nil if the map has no such key or this is not a map.
    @inlinable
    public func element(of key: UnsafePointer<Value>) -> UnsafePointer<Value>? {
        guard case .map = pointee, case .string = key.pointee else { return nil }
        let storage = UnsafeRawPointer(self).load(as: Unmanaged<ValueMap.Storage>.self)
        return storage._withUnsafeGuaranteedRef { $0.element(of: key) }
    }
}

extension UnsafePointer<Value> {
    /// Equality. Values with the same bits are equal; comparing them copies nothing.
    @inlinable @inline(__always)
    func isEqual(to other: UnsafePointer<Value>) -> Bool {
        let (a, b) = (UnsafeRawPointer(self), UnsafeRawPointer(other))
        if a.load(as: (UInt64, UInt64).self) == b.load(as: (UInt64, UInt64).self),
            a.load(fromByteOffset: 16, as: UInt8.self) == b.load(fromByteOffset: 16, as: UInt8.self)
        {
            return true
        }
        return pointee == other.pointee
    }
}

extension UnsafePointer<Value> {
    /// The words of the payload.
    @inline(__always) var words: (UInt64, UInt64) { UnsafeRawPointer(self).load(as: (UInt64, UInt64).self) }

    /// The words of a short string (see `String+Bytes.swift`); nil for all other values.
    @inlinable @inline(__always)
    public var shortText: (UInt64, UInt64)? {
        guard case .string = pointee else { return nil }
        let words = UnsafeRawPointer(self).load(as: (UInt64, UInt64).self)
        return words.1 & String.smallFlag != 0 ? words : nil
    }

    /// True if this short string begins with another one; nil if one of them is not a short string.
    @inlinable
    public func shortText(startsWith part: UnsafePointer<Value>) -> Bool? {
        guard let text = shortText, let part = part.shortText else { return nil }
        let count = part.1 >> 56 & 15
        guard count <= text.1 >> 56 & 15 else { return false }
        let low: UInt64 = count >= 8 ? .max : 1 << (count * 8) - 1
        let high: UInt64 = count <= 8 ? 0 : 1 << ((count - 8) * 8) - 1
        return (text.0 ^ part.0) & low == 0 && (text.1 ^ part.1) & high == 0
    }

    /// Equality of two strings.
    @inline(__always)
    func hasSameText(as other: UnsafePointer<Value>) -> Bool { shortText(equals: other) ?? (pointee == other.pointee) }

    /// True if two short strings are equal; nil if one of them is not a short string.
    @inlinable @inline(__always)
    public func shortText(equals other: UnsafePointer<Value>) -> Bool? {
        guard let text = shortText, let other = other.shortText else { return nil }
        return text == other
    }
}

extension UnsafeMutablePointer<Value> {
    /// Initialises the memory with a short string.
    @inline(__always)
    func initialize(shortText words: (UInt64, UInt64)) {
        initialize(to: "")
        UnsafeMutableRawPointer(self).storeBytes(of: words, as: (UInt64, UInt64).self)
    }

    /// Deinitialises the value. Most values of a map are numbers and short texts, which have no reference to release.
    @inlinable @inline(__always)
    func release() {
        switch pointee {
        case .null, .bool, .int, .uint, .double: break
        case .string: if UnsafePointer(self).shortText == nil { deinitialize(count: 1) }
        default: deinitialize(count: 1)
        }
    }
}

extension ValueMap.Storage {
    @inlinable
    func element(of key: UnsafePointer<Value>) -> UnsafePointer<Value>? {
        let (keyBase, valueBase) = (UnsafePointer(keys), UnsafePointer(values))
        let count = count
        if _slowPath(isIndexed) { return elementByIndex(key) }
        let wanted = UnsafeRawPointer(key).load(as: (UInt64, UInt64).self)
        var position = 0
        while position < count {
            if case .string = keyBase[position] {
                let found = UnsafeRawPointer(keyBase + position).load(as: (UInt64, UInt64).self)
                if found == wanted { return valueBase + position }
                // If both are short (see `String.hasSameBytes`), they differ. Otherwise the bytes must be compared.
                let areShort = found.1 & wanted.1 & String.smallFlag != 0
                if _slowPath(!areShort), hasKey(key, at: position) { return valueBase + position }
            }
            position &+= 1
        }
        return nil
    }

    // A separate function, so that the search saves only the registers that its caller uses.

    @usableFromInline @inline(never)
    func hasKey(_ key: UnsafePointer<Value>, at position: Int) -> Bool {
        ValueMap.sameKey(keys[position], key.pointee)
    }

    @usableFromInline @inline(never)
    func elementByIndex(_ key: UnsafePointer<Value>) -> UnsafePointer<Value>? {
        ValueMap(self).position(of: key.pointee).map { UnsafePointer(values + $0) }
    }
}
