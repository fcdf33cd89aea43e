import AttributeValues

/// The remaining budget of an evaluation, and the time zones that it has read.
///
/// It refers to limits that it does not own: a program's, during an evaluation, or the standard ones.
@usableFromInline
struct Meter {
    @usableFromInline var remaining: Int
    @usableFromInline private(set) var budget: Int
    @usableFromInline private(set) var source: UnsafePointer<RuleLimits>
    let zones = TimeZoneCache()

    init(_ limits: UnsafePointer<RuleLimits> = RuleLimits.standard) {
        source = limits
        budget = limits.pointee.cost
        remaining = budget
    }

    var limits: RuleLimits { source.pointee }

    /// Steps taken since `begin`.
    @inlinable var spent: Int { budget - remaining }

    @inlinable @inline(__always)
    mutating func begin(_ limits: UnsafePointer<RuleLimits>, budget: Int, remaining: Int) {
        source = limits
        self.budget = budget
        self.remaining = remaining
    }

    @inline(__always)
    mutating func charge(_ steps: Int) throws(Fault) {
        remaining -= steps
        if _slowPath(remaining < 0) { throw exhausted }
    }

    // A function of its own, so that the many places that charge stay short.
    private var exhausted: Fault {
        @inline(never) get { Fault(limit: "the rule costs more than \(limits.cost) steps") }
    }

    @inline(__always)
    mutating func chargeBytes(_ bytes: Int) throws(Fault) {
        if bytes >= 10 { try charge(bytes / 10) }
    }

    /// Charges for comparing or hashing a value with all its parts. The value's depth bounds the recursion.
    mutating func chargeAll(of value: Value) throws(Fault) {
        switch value {
        case .string(let text): try charge(1 + text.utf8.count / 10)
        case .bytes(let bytes): try charge(1 + bytes.count / 10)
        case .list(let elements):
            try charge(1 + elements.count)
            for element in elements { try chargeAll(of: element) }
        case .map(let map):
            try charge(1 + map.count)
            for position in 0..<map.count {
                let (key, value) = map.entry(at: position)
                try chargeKey(key)
                try chargeAll(of: value)
            }
        case .optional(let wrapped?): try chargeAll(of: wrapped)
        case .opaque(let vector as VectorValue): try charge(1 + vector.components.count / 4)
        default: try charge(1)
        }
    }

    /// Charges for looking up a key in a map: a long one is hashed and compared.
    mutating func chargeKey(_ key: Value) throws(Fault) {
        if case .string(let text) = key { try chargeBytes(text.utf8.count) }
    }

    /// The number of items that the budget and the limits allow, each at a number of steps. One more exceeds a limit.
    func affordable(steps: Int) -> Int { min(limits.resultSize, remaining / steps) }

    /// Charges for a text of a number of bytes, before it is made.
    mutating func chargeText(_ bytes: Int) throws(Fault) {
        if bytes > limits.textSize {
            throw Fault(limit: "a text of \(bytes) bytes; at most \(limits.textSize) are allowed")
        }
        try charge(bytes / 10 + 1)
    }

    /// Charges for a list or map of a number of elements, before it is made.
    mutating func chargeElements(_ count: Int, steps: Int = 1) throws(Fault) {
        if count > limits.resultSize {
            throw Fault(limit: "a list or map of \(count) elements; at most \(limits.resultSize) are allowed")
        }
        try charge(count * steps + 1)
    }
}
