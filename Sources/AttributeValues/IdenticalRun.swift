/// Counts the elements at the beginning or the end of two lists that are identical: the same numbers, the same short
/// texts, or references to the same storage.
///
/// Compares the words of the values in memory. This takes a fraction of the time of `==`, which counts references.
/// Lifetime: the memory is read only inside `withUnsafeBytes`. Values with different words may still be equal, so the
/// caller continues with `==`.
public enum IdenticalRun {
    /// - Returns: the number of elements from `a[x]` and `b[y]` on, at most `count`, that are identical one by one.
    public static func length(_ a: [Value], from x: Int, _ b: [Value], from y: Int, count: Int) -> Int {
        precondition(x >= 0 && y >= 0 && count <= a.count - x && count <= b.count - y)
        let stride = MemoryLayout<Value>.stride
        return a.withUnsafeBytes { a in
            b.withUnsafeBytes { b in
                for place in 0..<count where !isSame(a, (x + place) * stride, b, (y + place) * stride) { return place }
                return count
            }
        }
    }

    /// The same from the ends of both lists.
    public static func lengthFromEnd(_ a: [Value], _ b: [Value], count: Int) -> Int {
        precondition(count <= a.count && count <= b.count)
        let stride = MemoryLayout<Value>.stride
        return a.withUnsafeBytes { a in
            b.withUnsafeBytes { b in
                for place in 1..<count + 1 where !isSame(a, a.count - place * stride, b, b.count - place * stride) {
                    return place - 1
                }
                return count
            }
        }
    }

    /// A value is two words and a byte that says what they are; what lies behind, up to the stride, has no meaning.
    @inline(__always)
    private static func isSame(_ a: UnsafeRawBufferPointer, _ x: Int, _ b: UnsafeRawBufferPointer, _ y: Int) -> Bool {
        a.load(fromByteOffset: x, as: UInt64.self) == b.load(fromByteOffset: y, as: UInt64.self)
            && a.load(fromByteOffset: x + 8, as: UInt64.self) == b.load(fromByteOffset: y + 8, as: UInt64.self)
            && a.load(fromByteOffset: x + 16, as: UInt8.self) == b.load(fromByteOffset: y + 16, as: UInt8.self)
    }
}
