/// Memory for the edge lists of all attributes: blocks of a few sizes inside two parallel arrays.
///
/// An edge is stored twice, once in its reader's list of inputs and once in its input's list of readers.
/// Each entry is a pair: in `ends` the row at the other end, in `slots` the entry's position in the list
/// at the other end. The pair makes removal O(1): the list's last entry moves into the hole and the one
/// number that pointed at it is corrected. Lists are contiguous because they are walked far more often than
/// changed; walking touches `ends` alone. Positions are relative to the block, so a block can move freely.
///
/// Sizes are 2, 3, 4, 6, 8, 12, 16, 24 …. A block that has just grown is at least two thirds full, one of up to eight
/// readers at least half. So an edge costs 16 to 24 bytes. A list of one edge costs nothing here: it is stored in its
/// vertex (`EdgeList`). Freed blocks are listed by size; a large one is carved up before the pool grows.
@usableFromInline
package struct EdgePool: ~Copyable {
    @usableFromInline package var ends: UnsafeMutablePointer<UInt32>
    @usableFromInline package var slots: UnsafeMutablePointer<UInt32>
    @usableFromInline package var capacity: UInt32
    /// The region that new blocks are cut from.
    @usableFromInline package var next: UInt32
    @usableFromInline package var limit: UInt32
    /// The first free block of each size class (0: none). The first entry of a free block names the next one.
    @usableFromInline package let free: UnsafeMutablePointer<UInt32>

    @usableFromInline package static let classCount = 64
    /// The largest class with a list of free blocks: 800 million entries.
    @usableFromInline package static let largestFreeClass: UInt8 = 59
    /// The class of lists of one edge, which are stored in the vertex.
    @usableFromInline package static let single: UInt8 = 1
    /// Only blocks of this class or larger are worth carving up.
    @usableFromInline package static let carvedClass: UInt8 = 10

    @inlinable
    package init(capacity: UInt32 = 1024) {
        self.capacity = capacity
        ends = .allocate(capacity: Int(capacity))
        slots = .allocate(capacity: Int(capacity))
        next = 1
        limit = capacity
        free = .allocate(capacity: EdgePool.classCount)
        free.initialize(repeating: 0, count: EdgePool.classCount)
    }

    @inlinable
    deinit {
        ends.deallocate()
        slots.deallocate()
        free.deallocate()
    }

    /// The number of entries in a list of this class: 0, 1, 2, 3, 4, 6, 8, 12, 16 …
    @inlinable @inline(__always)
    package static func size(of sizeClass: UInt8) -> UInt32 {
        let number = UInt32(sizeClass)
        return number < 2 ? number : (2 | number & 1) &<< ((number &>> 1) &- 1)
    }

    /// The smallest class for this many entries. There must be at least two.
    @inlinable @inline(__always)
    package static func sizeClass(of count: Int) -> UInt8 {
        // Between two powers of two there is one other size.
        let exponent = UInt8(truncatingIfNeeded: Int.bitWidth - 1 - (count &- 1).leadingZeroBitCount)
        let lower = 2 &* exponent &+ 1
        return count <= Int(size(of: lower)) ? lower : lower &+ 1
    }

    /// The class that a full list of readers grows to. Short lists double, because making things in bulk fills many of
    /// them.
    @inlinable @inline(__always)
    package static func classOfReaders(after sizeClass: UInt8) -> UInt8 {
        sizeClass &+ (sizeClass == 2 || sizeClass == 4 ? 2 : 1)
    }

    @inlinable @inline(__always)
    package mutating func allocate(_ sizeClass: UInt8) -> UInt32 {
        let first = free[Int(sizeClass)]
        if first != 0 {
            free[Int(sizeClass)] = ends[Int(first)]
            return first
        }
        let size = EdgePool.size(of: sizeClass)
        // Do not leave a remainder of one entry: it could never be used.
        if _slowPath(size > limit &- next || size &+ 1 == limit &- next) { refill(size) }
        let block = next
        next &+= size
        return block
    }

    @inlinable @inline(__always)
    package mutating func release(_ block: UInt32, _ sizeClass: UInt8) {
        ends[Int(block)] = free[Int(sizeClass)]
        free[Int(sizeClass)] = block
    }

    @inlinable @inline(never)
    package mutating func refill(_ size: UInt32) {
        recycleRemainder()
        var sizeClass = EdgePool.carvedClass
        while EdgePool.size(of: sizeClass) < size { sizeClass += 1 }
        while sizeClass <= EdgePool.largestFreeClass {
            let block = free[Int(sizeClass)]
            if block != 0 {
                free[Int(sizeClass)] = ends[Int(block)]
                next = block
                limit = block + EdgePool.size(of: sizeClass)
                return
            }
            sizeClass += 1
        }
        let oldCapacity = capacity
        let wanted = UInt64(oldCapacity) + max(UInt64(oldCapacity), UInt64(size))
        precondition(wanted <= UInt64(UInt32.max), "a graph has at most four thousand million edge entries")
        capacity = UInt32(wanted)
        ends = EdgePool.grown(ends, from: oldCapacity, to: capacity)
        slots = EdgePool.grown(slots, from: oldCapacity, to: capacity)
        next = oldCapacity
        limit = capacity
    }

    /// Puts the rest of the region into the free lists, largest blocks first.
    @inlinable
    package mutating func recycleRemainder() {
        var sizeClass = EdgePool.largestFreeClass
        while next < limit {
            while EdgePool.size(of: sizeClass) > limit - next || EdgePool.size(of: sizeClass) + 1 == limit - next {
                sizeClass -= 1
            }
            release(next, sizeClass)
            next += EdgePool.size(of: sizeClass)
        }
    }

    @inlinable
    package static func grown(_ old: UnsafeMutablePointer<UInt32>, from count: UInt32, to capacity: UInt32)
        -> UnsafeMutablePointer<UInt32>
    {
        let larger = UnsafeMutablePointer<UInt32>.allocate(capacity: Int(capacity))
        larger.update(from: old, count: Int(count))
        old.deallocate()
        return larger
    }
}
