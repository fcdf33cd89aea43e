/// A growable array of trivial elements without reference counting, bounds checks or copy-on-write.
///
/// Lifetime: the buffer owns its memory and frees it at its end. A pointer into the memory is valid until the next
/// `append`.
@usableFromInline
package struct Buffer<Element: BitwiseCopyable>: ~Copyable {
    @usableFromInline package var base: UnsafeMutablePointer<Element>
    @usableFromInline package var count: Int
    @usableFromInline package var capacity: Int

    @inlinable
    package init(capacity: Int) {
        base = .allocate(capacity: capacity)
        count = 0
        self.capacity = capacity
    }

    @inlinable
    deinit { base.deallocate() }

    @inlinable @inline(__always)
    package mutating func append(_ element: Element) {
        if _slowPath(count == capacity) { grow(to: capacity * 2) }
        base[count] = element
        count &+= 1
    }

    @inlinable @inline(__always)
    package mutating func removeLast() -> Element {
        count &-= 1
        return base[count]
    }

    @inlinable
    package var last: Element? { count == 0 ? nil : base[count &- 1] }

    @inlinable @inline(never)
    package mutating func grow(to newCapacity: Int) {
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: newCapacity)
        moved.update(from: base, count: count)
        base.deallocate()
        base = moved
        capacity = newCapacity
    }

    /// Shrinks the memory if at least three quarters of it are unused.
    mutating func shrink() {
        if capacity > 1024, count <= capacity / 4 { grow(to: max(64, count * 2)) }
    }
}
