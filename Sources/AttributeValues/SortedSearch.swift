extension RandomAccessCollection where Index == Int {
    /// The first index at which the condition is true, in a collection where it is true from some index on; the end
    /// index if it is never true. O(log n).
    @inlinable
    public func partitioningIndex(where holds: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
