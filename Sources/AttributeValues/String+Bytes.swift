extension String {
    /// Equality of the UTF-8 bytes. (`==` would also call canonically equivalent strings equal.)
    ///
    /// Strings of up to 15 bytes lie in the string's own 16 bytes, unused ones zero, and bit 61 of the second word tells
    /// that they do: then two comparisons decide. `StringBytesTests` holds the standard library to this.
    @inlinable
    public func hasSameBytes(as other: String) -> Bool {
        let a = unsafeBitCast(self, to: (UInt64, UInt64).self)
        let b = unsafeBitCast(other, to: (UInt64, UInt64).self)
        if a == b { return true }
        if a.1 & b.1 & 1 << 61 != 0 { return false }
        return hasSameBytesAtLength(as: other)
    }

    @usableFromInline
    func hasSameBytesAtLength(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        var a = self
        var b = other
        return a.withUTF8 { x in b.withUTF8 { y in x.elementsEqual(y) } }
    }

    /// Order of the UTF-8 bytes, which is the order of the Unicode scalars.
    @inlinable
    public func precedesByBytes(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }
}
