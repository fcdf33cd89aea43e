// Functions on two values of one attribute that share most of their parts. The cost is proportional to the parts that
// differ.

extension Value {
    /// True if two values are known to be equal without examining their parts: equal scalars, or shared storage. O(1).
    public func isIdentical(to other: Value) -> Bool {
        switch (self, other) {
        case (.map(let a), .map(let b)): return a.isIdentical(to: b)
        case (.list(let a), .list(let b)): return a.isIdentical(to: b)
        case (.bytes(let a), .bytes(let b)):
            return a.count == b.count
                && a.withUnsafeBufferPointer { x in b.withUnsafeBufferPointer { x.baseAddress == $0.baseAddress } }
        case (.optional, .optional): return false
        default: return self == other
        }
    }

    /// The number of bytes by which this value is longer than another one as JSON, and the number of bytes that were
    /// measured in both. Shared parts are not measured. Counts in the same way as `draw`.
    public func growth(since old: Value) -> (bytes: Int, measured: Int) {
        if isIdentical(to: old) { return (0, 0) }
        switch (self, old) {
        case (.list(let new), .list(let old)):
            var growth = (bytes: new.count - old.count, measured: 0)
            var (x, y) = (0, 0)
            while x < old.count, y < new.count {
                let same = IdenticalRun.countFrom(old, from: x, new, from: y, count: min(old.count - x, new.count - y))
                x += same
                y += same
                guard x < old.count, y < new.count else { break }
                // If an element was removed or inserted, the following ones are found one position later or earlier.
                if x + 1 < old.count, old[x + 1].isIdentical(to: new[y]) {
                    Value.add(old[x].length, -1, to: &growth)
                    x += 1
                } else if y + 1 < new.count, new[y + 1].isIdentical(to: old[x]) {
                    Value.add(new[y].length, 1, to: &growth)
                    y += 1
                } else {
                    Value.add(new[y].growth(since: old[x]), to: &growth)
                    x += 1
                    y += 1
                }
            }
            for element in old[x...] { Value.add(element.length, -1, to: &growth) }
            for element in new[y...] { Value.add(element.length, 1, to: &growth) }
            return growth
        case (.map(let new), .map(let old)) where new.count == old.count && new.hasSameKeys(as: old):
            var growth = (bytes: 0, measured: 0)
            for position in 0..<new.count {
                Value.add(new.value(at: position).growth(since: old.value(at: position)), to: &growth)
            }
            return growth
        default:
            let (long, short) = (length, old.length)
            return (long - short, long + short)
        }
    }

    private static func add(_ more: (bytes: Int, measured: Int), to growth: inout (bytes: Int, measured: Int)) {
        growth.bytes += more.bytes
        growth.measured += more.measured
    }

    private static func add(_ length: Int, _ sign: Int, to growth: inout (bytes: Int, measured: Int)) {
        growth.bytes += sign * length
        growth.measured += length
    }

    /// The bytes of the value as JSON, counted as by `draw`.
    private var length: Int {
        var budget = Int.max
        draw(from: &budget, isTyped: false)
        return Int.max - budget
    }

    /// The positions between the identical elements at the beginning and at the end of two lists.
    fileprivate static func stretch(_ old: ValueList, _ new: ValueList) -> (old: Range<Int>, new: Range<Int>) {
        let shorter = min(old.count, new.count)
        let prefix = IdenticalRun.countFrom(old, from: 0, new, from: 0, count: shorter)
        let suffix = IdenticalRun.countFromEnd(old, new, count: shorter - prefix)
        return (prefix..<old.count - suffix, prefix..<new.count - suffix)
    }
}

extension ValueMap {
    /// True if the keys at the same positions are identical.
    fileprivate func hasSameKeys(as other: ValueMap) -> Bool {
        let ((keys, _), (others, _)) = (bases, other.bases)
        return (0..<count).allSatisfy { (keys + $0).isEqual(to: others + $0) }
    }
}

extension ValueType {
    /// Accepts a value that shares most of its parts with a value that this type has already accepted. Converts only
    /// the other parts. If no part is converted, the value keeps its storage. The type must not contain objects.
    public func accept(_ value: Value, after old: Value) -> Value? {
        if value.isIdentical(to: old) { return value }
        switch (self, value, old) {
        case (.nullable(let wrapped), _, _) where value != .null: return wrapped.accept(value, after: old)
        case (.list(let type), .list(let new), .list(let old)) where type != .dyn:
            let (before, after) = Value.stretch(old, new)
            var accepted = new
            for position in after {
                let place = before.lowerBound + position - after.lowerBound
                let element =
                    before.count == after.count
                    ? type.accept(new[position], after: old[place]) : type.accept(new[position])
                guard let element else { return nil }
                if !element.isIdentical(to: new[position]) { accepted[position] = element }
            }
            return .list(accepted)
        case (.map(_, let type), .map(let new), .map(let old)) where new.count == old.count && new.hasSameKeys(as: old):
            var accepted = new
            for position in 0..<new.count {
                let entry = new.entry(at: position)
                guard let element = type.accept(entry.value, after: old.value(at: position)) else { return nil }
                if !element.isIdentical(to: entry.value) { accepted[entry.key] = element }
            }
            return .map(accepted)
        default: return accept(value)
        }
    }
}
