extension RandomAccessCollection where Index == Int {
    /// The first place from which on the condition holds, in a collection sorted by it; the end where it never does. O(log n).
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
