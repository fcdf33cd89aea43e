// Look-ups that neither retain nor copy. They read a value's payload where it lies: at offset 0 of the enum's storage, as
// for every enum whose cases share no spare bits; `StringBytesTests` holds the compiler to this.
//
// Lifetime: what is returned points into the map's storage. It is good as long as the map at `self` is neither changed nor
// let go of; the caller reads it at once.

extension UnsafePointer<Value> {
    /// Where the map here holds the value of a string key; nil when it has none, or this is no map.
    @inlinable
    public func element(of key: UnsafePointer<Value>) -> UnsafePointer<Value>? {
        guard case .map = pointee, case .string = key.pointee else { return nil }
        let storage = UnsafeRawPointer(self).load(as: Unmanaged<ValueMap.Storage>.self)
        return storage._withUnsafeGuaranteedRef { $0.element(of: key) }
    }
}

extension UnsafePointer<Value> {
    /// The words of a short string here (see `String+Bytes.swift`); nil for anything else.
    @inlinable @inline(__always)
    public var shortText: (UInt64, UInt64)? {
        guard case .string = pointee else { return nil }
        let words = UnsafeRawPointer(self).load(as: (UInt64, UInt64).self)
        return words.1 & String.smallFlag != 0 ? words : nil
    }

    /// Whether the short string here begins with another one; nil when one is no short string.
    @inlinable
    public func shortText(startsWith part: UnsafePointer<Value>) -> Bool? {
        guard let text = shortText, let part = part.shortText else { return nil }
        let count = part.1 >> 56 & 15
        guard count <= text.1 >> 56 & 15 else { return false }
        let low: UInt64 = count >= 8 ? .max : 1 << (count * 8) - 1
        let high: UInt64 = count <= 8 ? 0 : 1 << ((count - 8) * 8) - 1
        return (text.0 ^ part.0) & low == 0 && (text.1 ^ part.1) & high == 0
    }

    /// Whether two short strings are the same; nil when one is no short string.
    @inlinable @inline(__always)
    public func shortText(equals other: UnsafePointer<Value>) -> Bool? {
        guard let text = shortText, let other = other.shortText else { return nil }
        return text == other
    }
}

extension ValueMap.Storage {
    @inlinable
    func element(of key: UnsafePointer<Value>) -> UnsafePointer<Value>? {
        guard let keyBase, let valueBase else { return nil }
        if _slowPath(isIndexed) { return elementByIndex(key) }
        let wanted = UnsafeRawPointer(key).load(as: (UInt64, UInt64).self)
        var position = 0
        while position < count {
            if case .string = keyBase[position] {
                let found = UnsafeRawPointer(keyBase + position).load(as: (UInt64, UInt64).self)
                if found == wanted { return valueBase + position }
                // Both short (see `String.hasSameBytes`): they differ. Else their bytes tell.
                let areShort = found.1 & wanted.1 & String.smallFlag != 0
                if _slowPath(!areShort), hasKey(key, at: position) { return valueBase + position }
            }
            position &+= 1
        }
        return nil
    }

    // Apart from the search, which so needs no registers but those that its caller leaves to it.

    @usableFromInline @inline(never)
    func hasKey(_ key: UnsafePointer<Value>, at position: Int) -> Bool {
        keyBase.map { ValueMap.sameKey($0[position], key.pointee) } ?? false
    }

    @usableFromInline @inline(never)
    func elementByIndex(_ key: UnsafePointer<Value>) -> UnsafePointer<Value>? {
        ValueMap(self).position(of: key.pointee).flatMap { position in valueBase.map { $0 + position } }
    }
}
