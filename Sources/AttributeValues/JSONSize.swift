extension Value {
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
