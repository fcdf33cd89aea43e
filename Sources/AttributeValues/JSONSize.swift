extension Value {
    /// Whether the value would fill more than so many bytes as JSON, found without writing it.
    public func isLonger(than limit: Int) -> Bool {
        var budget = limit
        draw(from: &budget, isTyped: false)
        return budget < 0
    }

    /// Whether the value may fill noticeably more than the one in whose place it comes, told without a look into either: a scalar or
    /// a text that needs no allocation does not.
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

    /// UTF-8 bytes of a text that lies in the value itself.
    private static let inlineTextLength = 15

    /// Takes from a budget the bytes that the value fills as JSON, escapes not counted; stops as soon as nothing is left. Parts that
    /// are shared count each time that they are written. Recursion is bounded by the depth that values are admitted with.
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
            for position in 0..<map.count {
                guard budget >= 0 else { return }
                budget -= 2
                let (key, value) = map.entry(at: position)
                key.draw(from: &budget, isTyped: isTyped)
                value.draw(from: &budget, isTyped: isTyped)
            }
        case .optional(let wrapped?): wrapped.draw(from: &budget, isTyped: isTyped)
        case .opaque(let opaque): opaque.json.draw(from: &budget, isTyped: false)
        default: budget -= 1
        }
    }

    /// `{"int":"…"}`
    private static let typedOverhead = 9
}
