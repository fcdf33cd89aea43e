extension Value {
    /// True if the value would take more than `limit` bytes as JSON. Does not write it.
    public func isLonger(than limit: Int) -> Bool {
        var budget = limit
        draw(from: &budget, isTyped: false)
        return budget < 0
    }

    /// True if the value is known to take at most 300 bytes as JSON: a scalar, a text that needs no allocation, or a
    /// map of a few of these.
    public var isShort: Bool {
        switch self {
        case .map(let map): map.isFlat
        default: !mayOutgrow(.null)
        }
    }

    /// True if the value may be much longer than the value that it replaces. Examines neither: a scalar, or a text that
    /// needs no allocation, cannot be.
    public func mayOutgrow(_ old: Value?) -> Bool {
        guard let old else { return true }
        switch self {
        case .null, .bool, .int, .uint, .double, .timestamp, .duration: return false
        case .string(let text):
            let count = text.utf8.count
            if count <= Value.inlineTextLength { return false }
            if case .string(let before) = old { return count > before.utf8.count }
            return true
        case .bytes, .list, .map, .type, .optional, .opaque: return true
        }
    }

    /// UTF-8 bytes of a text that is stored inside the value.
    private static let inlineTextLength = 15

    /// Subtracts the bytes of the value as JSON, without escapes, from a budget. Stops when nothing is left. Shared
    /// parts count each time they are written. The depth limit of admitted values bounds the recursion.
    public func draw(from budget: inout Int, isTyped: Bool) {
        if isTyped { budget -= Value.typedOverhead }
        switch self {
        case .string(let text), .type(let text): budget -= text.utf8.count + 2
        case .bytes(let bytes): budget -= bytes.count / 3 * 4 + 2
        case .list(let elements):
            for element in elements {
                guard budget >= 0 else { return }
                budget -= 1
                element.draw(from: &budget, isTyped: isTyped)
            }
        case .map(let map):
            let (keys, values) = map.bases
            for position in 0..<map.count {
                guard budget >= 0 else { return }
                budget -= 2
                (keys + position).draw(from: &budget, isTyped: isTyped)
                (values + position).draw(from: &budget, isTyped: isTyped)
            }
        case .optional(let wrapped?): wrapped.draw(from: &budget, isTyped: isTyped)
        case .opaque(let opaque): opaque.json.draw(from: &budget, isTyped: false)
        default: budget -= 1
        }
    }

    /// `{"int":"…"}`
    fileprivate static let typedOverhead = 9
}

extension UnsafePointer<Value> {
    /// The same for the value at the pointer, without copying a scalar or a short text.
    @inline(__always)
    fileprivate func draw(from budget: inout Int, isTyped: Bool) {
        let overhead = isTyped ? Value.typedOverhead : 0
        if let text = shortText {
            budget -= Int(text.1 >> 56 & 15) + 2 + overhead
            return
        }
        switch pointee {
        case .null, .bool, .int, .uint, .double, .timestamp, .duration: budget -= 1 + overhead
        default: pointee.draw(from: &budget, isTyped: isTyped)
        }
    }
}
