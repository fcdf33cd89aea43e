/// A binary heap: the least element is the first.
public struct Heap<Element: Comparable> {
    @usableFromInline var items: [Element] = []

    @inlinable public init() {}

    @inlinable public var first: Element? { items.first }
    @inlinable public var count: Int { items.count }

    public mutating func giveBack() { items.giveBack() }

    /// O(n log n).
    @inlinable
    public mutating func removeAll(where shouldRemove: (Element) -> Bool) {
        items.removeAll(where: shouldRemove)
        items.sort()  // a sorted array is a heap
    }

    @inlinable
    public mutating func push(_ element: Element) {
        var position = items.count
        items.append(element)
        while position > 0, element < items[(position - 1) / 2] {
            items[position] = items[(position - 1) / 2]
            position = (position - 1) / 2
        }
        items[position] = element
    }

    @inlinable
    public mutating func removeFirst() {
        guard let last = items.popLast(), !items.isEmpty else { return }
        var position = 0
        while true {
            var below = 2 * position + 1
            guard below < items.count else { break }
            if below + 1 < items.count, items[below + 1] < items[below] { below += 1 }
            guard items[below] < last else { break }
            items[position] = items[below]
            position = below
        }
        items[position] = last
    }
}
