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
            done += before.pass(sharedWith: &after, atMost: count - done)
            let part = min(count - done, before.left, after.left)
            let same = run(before.elements, before.place, after.elements, after.place, part, by: 1)
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
            done += before.passBack(sharedWith: &after, atMost: count - done)
            let part = min(count - done, before.place, after.place)
            let same = run(before.elements, before.place - 1, after.elements, after.place - 1, part, by: -1)
            done += same
            guard same == part else { break }
            before.retreat(part)
            after.retreat(part)
        }
        return done
    }

    /// A position in a list, with the chunk around it.
    private struct Stretch {
        private let chunks: [ListChunk]
        /// See `ValueList.Chunks`.
        private let starts: [Int]
        private var number: Int
        private(set) var elements: [Value]
        /// The position in `elements`.
        private(set) var place: Int

        /// The number of elements from the position to the end of the chunk.
        var left: Int { elements.count - place }

        init(_ list: ValueList, from position: Int) {
            switch list.storage {
            case .flat(let elements): (chunks, starts, number, self.elements, place) = ([], [], 0, elements, position)
            case .chunked(let list):
                (chunks, starts) = (list.chunks, list.starts)
                number = list.chunk(of: position)
                elements = chunks[number].elements
                place = position - list.starts[number]
            }
            advance(0)
        }

        init(endOf list: ValueList) {
            switch list.storage {
            case .flat(let elements): (chunks, starts, number, self.elements) = ([], [], 0, elements)
            case .chunked(let list):
                (chunks, starts) = (list.chunks, list.starts)
                number = chunks.count - 1
                elements = chunks[number].elements
            }
            place = elements.count
        }

        mutating func advance(_ distance: Int) {
            place += distance
            guard left == 0, number + 1 < chunks.count else { return }
            number += 1
            (elements, place) = (chunks[number].elements, 0)
        }

        /// Passes whole chunks that both lists share, without a look at them.
        /// - Returns: the number of elements in them.
        mutating func pass(sharedWith other: inout Stretch, atMost count: Int) -> Int {
            guard place == 0, other.place == 0, !chunks.isEmpty, !other.chunks.isEmpty else { return 0 }
            var (here, there) = (number, other.number)
            chunks.withUnsafeBufferPointer { a in
                other.chunks.withUnsafeBufferPointer { b in
                    while here < a.count, there < b.count, a[here] === b[there] {
                        (here, there) = (here + 1, there + 1)
                    }
                }
            }
            while starts[here] - starts[number] > count { (here, there) = (here - 1, there - 1) }
            let passed = starts[here] - starts[number]
            if passed > 0 {
                stand(before: here)
                other.stand(before: there)
            }
            return passed
        }

        private mutating func stand(before next: Int) {
            number = min(next, chunks.count - 1)
            elements = chunks[number].elements
            place = next > number ? elements.count : 0
        }

        /// As `pass`, from the ends.
        mutating func passBack(sharedWith other: inout Stretch, atMost count: Int) -> Int {
            guard left == 0, other.left == 0, !chunks.isEmpty, !other.chunks.isEmpty else { return 0 }
            var (here, there) = (number, other.number)
            chunks.withUnsafeBufferPointer { a in
                other.chunks.withUnsafeBufferPointer { b in
                    while here >= 0, there >= 0, a[here] === b[there] { (here, there) = (here - 1, there - 1) }
                }
            }
            while starts[number + 1] - starts[here + 1] > count { (here, there) = (here + 1, there + 1) }
            let passed = starts[number + 1] - starts[here + 1]
            if passed > 0 {
                stand(behind: here)
                other.stand(behind: there)
            }
            return passed
        }

        private mutating func stand(behind last: Int) {
            number = max(last, 0)
            elements = chunks[number].elements
            place = last < 0 ? 0 : elements.count
        }

        mutating func retreat(_ distance: Int) {
            place -= distance
            guard place == 0, number > 0 else { return }
            number -= 1
            elements = chunks[number].elements
            place = elements.count
        }
    }

    /// True if two arrays are the same storage.
    static func isShared(_ a: [Value], _ b: [Value]) -> Bool {
        a.count == b.count
            && a.withUnsafeBufferPointer { x in b.withUnsafeBufferPointer { x.baseAddress == $0.baseAddress } }
    }

    /// - Parameter step: 1 towards the end, -1 towards the beginning.
    private static func run(_ a: [Value], _ x: Int, _ b: [Value], _ y: Int, _ count: Int, by step: Int) -> Int {
        if x == y, isShared(a, b) { return count }
        let size = MemoryLayout<Value>.stride
        return a.withUnsafeBytes { a in
            b.withUnsafeBytes { b in
                for place in 0..<count where !isSame(a, (x + place * step) * size, b, (y + place * step) * size) {
                    return place
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
