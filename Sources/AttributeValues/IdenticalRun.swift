/// Counts the elements at the beginning or the end of two lists that are identical: the same numbers, the same short
/// texts, or references to the same storage.
///
/// Chunks that both lists share are not examined. In other chunks, the words of the values in memory are compared; this
/// takes a fraction of the time of `==`, which counts references.
/// Lifetime: the memory is read only inside `withUnsafeBytes`. Values with different words may still be equal, so the
/// caller continues with `==`.
public enum IdenticalRun {
    /// - Returns: the number of elements from `a[x]` and `b[y]` on, at most `count`, that are identical one by one.
    public static func countFrom(_ a: ValueList, from x: Int, _ b: ValueList, from y: Int, count: Int) -> Int {
        precondition(x >= 0 && y >= 0 && count <= a.count - x && count <= b.count - y)
        var (before, after) = (Stretch(a, from: x), Stretch(b, from: y))
        var done = 0
        while done < count {
            done += before.pass(sharedWith: &after, atMost: count - done, backwards: false)
            let part = min(count - done, before.left, after.left)
            let same = run(before.elements, before.offset, after.elements, after.offset, part, by: 1)
            done += same
            guard same == part else { break }
            before.advance(part)
            after.advance(part)
        }
        return done
    }

    /// The same from the ends of both lists.
    public static func countFromEnd(_ a: ValueList, _ b: ValueList, count: Int) -> Int {
        precondition(count <= a.count && count <= b.count)
        var (before, after) = (Stretch(endOf: a), Stretch(endOf: b))
        var done = 0
        while done < count {
            done += before.pass(sharedWith: &after, atMost: count - done, backwards: true)
            let part = min(count - done, before.offset, after.offset)
            let same = run(before.elements, before.offset - 1, after.elements, after.offset - 1, part, by: -1)
            done += same
            guard same == part else { break }
            before.retreat(part)
            after.retreat(part)
        }
        return done
    }

    /// A position in a list, with the chunk around it.
    private struct Stretch {
        private let groups: [ChunkGroup]
        private var group = 0
        /// The number of the chunk in its group.
        private var chunk = 0
        private(set) var elements: [Value]
        /// The position in `elements`.
        private(set) var offset: Int

        /// The number of elements from the position to the end of the chunk.
        var left: Int { elements.count - offset }

        init(_ list: ValueList, from position: Int) {
            switch list.storage {
            case .flat(let elements): (groups, self.elements, offset) = ([], elements, position)
            case .chunked(let list):
                groups = list.groups
                group = list.group(of: position)
                let around = groups[group]
                chunk = around.chunk(of: position - list.starts[group])
                elements = around.chunks[chunk].elements
                offset = position - list.starts[group] - around.starts[chunk]
            }
            advance(0)
        }

        init(endOf list: ValueList) {
            switch list.storage {
            case .flat(let elements): (groups, self.elements) = ([], elements)
            case .chunked(let list):
                groups = list.groups
                group = groups.count - 1
                chunk = groups[group].chunks.count - 1
                elements = groups[group].chunks[chunk].elements
            }
            offset = elements.count
        }

        /// Goes to the next chunk, or to the one before, without opening it.
        /// - Returns: false if there is none.
        private mutating func go(backwards: Bool) -> Bool {
            if backwards ? chunk > 0 : chunk + 1 < groups[group].chunks.count {
                chunk += backwards ? -1 : 1
            } else if backwards ? group > 0 : group + 1 < groups.count {
                group += backwards ? -1 : 1
                chunk = firstChunk(backwards)
            } else {
                return false
            }
            return true
        }

        /// The number of the chunk of the group that comes first in a direction.
        private func firstChunk(_ backwards: Bool) -> Int { backwards ? groups[group].chunks.count - 1 : 0 }

        private mutating func open(atEnd: Bool) {
            elements = groups[group].chunks[chunk].elements
            offset = atEnd ? elements.count : 0
        }

        mutating func advance(_ distance: Int) {
            offset += distance
            if left == 0, !groups.isEmpty, go(backwards: false) { open(atEnd: false) }
        }

        mutating func retreat(_ distance: Int) {
            offset -= distance
            if offset == 0, !groups.isEmpty, go(backwards: true) { open(atEnd: true) }
        }

        /// Passes whole groups and chunks that both lists share, without a look at their elements.
        /// - Returns: the number of elements in them.
        mutating func pass(sharedWith other: inout Stretch, atMost count: Int, backwards: Bool) -> Int {
            let areAtEdges = backwards ? left == 0 && other.left == 0 : offset == 0 && other.offset == 0
            guard areAtEdges, !groups.isEmpty, !other.groups.isEmpty else { return 0 }
            var passed = 0
            var (isOver, isOtherOver) = (false, false)
            while !isOver, !isOtherOver {
                let (a, b) = (groups[group], other.groups[other.group])
                let first = firstChunk(backwards)
                if a === b, chunk == first, other.chunk == first, passed + a.count <= count {
                    passed += a.count
                    chunk = firstChunk(!backwards)
                    other.chunk = chunk
                } else if a.chunks[chunk] === b.chunks[other.chunk], passed + a.elementCount(of: chunk) <= count {
                    passed += a.elementCount(of: chunk)
                } else {
                    break
                }
                (isOver, isOtherOver) = (!go(backwards: backwards), !other.go(backwards: backwards))
            }
            if passed > 0 {
                open(atEnd: isOver != backwards)
                other.open(atEnd: isOtherOver != backwards)
            }
            return passed
        }
    }

    /// - Parameter step: 1 towards the end, -1 towards the beginning.
    private static func run(_ a: [Value], _ x: Int, _ b: [Value], _ y: Int, _ count: Int, by step: Int) -> Int {
        if x == y, a.isCopy(of: b) { return count }
        let size = MemoryLayout<Value>.stride
        return a.withUnsafeBytes { a in
            b.withUnsafeBytes { b in
                for position in 0..<count
                where !isSame(a, (x + position * step) * size, b, (y + position * step) * size) {
                    return position
                }
                return count
            }
        }
    }

    /// A value is two words and a byte that says how to read them. The bytes after it have no meaning.
    @inline(__always)
    private static func isSame(_ a: UnsafeRawBufferPointer, _ x: Int, _ b: UnsafeRawBufferPointer, _ y: Int) -> Bool {
        a.load(fromByteOffset: x, as: UInt64.self) == b.load(fromByteOffset: y, as: UInt64.self)
            && a.load(fromByteOffset: x + 8, as: UInt64.self) == b.load(fromByteOffset: y + 8, as: UInt64.self)
            && a.load(fromByteOffset: x + 16, as: UInt8.self) == b.load(fromByteOffset: y + 16, as: UInt8.self)
    }
}
