import AttributeValues

extension Value {
    /// CEL's `==`, outside of a rule. Identical contents, NaN included, are also equal. O(parts).
    public func isEqual(to other: Value) -> Bool {
        if self == other { return true }
        var meter = Meter()
        meter.remaining = .max
        return (try? Equality.areEqual(self, other, &meter)) ?? false
    }
}

/// CEL's `==` and order.
enum Equality {
    /// CEL's `==`: numbers by value across their types, all else by type and content. Costs a step per compared part.
    static func areEqual(_ a: Value, _ b: Value, _ meter: inout Meter) throws(Fault) -> Bool {
        switch (a, b) {
        case (.int(let x), .int(let y)): return x == y
        case (.string(let x), .string(let y)):
            if !x.isSmall, x.utf8.count == y.utf8.count { try meter.chargeBytes(x.utf8.count) }
            return x.hasSameBytes(as: y)
        case (.bool(let x), .bool(let y)): return x == y
        case (.double(let x), .double(let y)): return x == y
        case (.uint(let x), .uint(let y)): return x == y
        case (.null, .null): return true
        case (.bytes(let x), .bytes(let y)):
            if x.count == y.count { try meter.chargeBytes(x.count) }
            return x == y
        case (.timestamp(let x), .timestamp(let y)): return x == y
        case (.duration(let x), .duration(let y)): return x == y
        case (.type(let x), .type(let y)): return x == y
        case (.list(let x), .list(let y)):
            guard x.count == y.count else { return false }
            try meter.charge(x.count + 1)
            for (x, y) in zip(x, y) where try !areEqual(x, y, &meter) { return false }
            return true
        case (.map(let x), .map(let y)):
            guard x.count == y.count else { return false }
            try meter.charge(x.count + 1)
            for position in 0..<x.count {
                let (key, value) = x.entry(at: position)
                try meter.chargeKey(key)
                guard let other = y[key], try areEqual(value, other, &meter) else { return false }
            }
            return true
        case (.optional(let x), .optional(let y)):
            switch (x, y) {
            case (nil, nil): return true
            case (let x?, let y?): return try areEqual(x, y, &meter)
            default: return false
            }
        case (.opaque(let x), .opaque(let y)):
            if x === y { return true }
            try meter.charge(1 + ((x as? VectorValue)?.components.count ?? 0) / 4)
            return x.isEqual(to: y)
        case (.opaque(let x), .list), (.list, .opaque(let x)):
            guard let vector = x as? VectorValue else { return false }
            try meter.charge(vector.components.count)
            let list = Value.list(vector.components.map { .double($0) })
            return if case .list = a { try areEqual(a, list, &meter) } else { try areEqual(list, b, &meter) }
        default: return numericOrder(a, b) == .same
        }
    }

    enum Order { case less, same, greater, unordered }

    /// Numbers of different types compare by value. To compare an int with a double, it is rounded to a double, as in
    /// cel-go; the conformance suite requires it.
    static func numericOrder(_ a: Value, _ b: Value) -> Order? {
        switch (a, b) {
        case (.int(let x), .int(let y)): order(x, y)
        case (.uint(let x), .uint(let y)): order(x, y)
        case (.double(let x), .double(let y)): order(x, y)
        case (.int(let x), .uint(let y)): x < 0 ? .less : order(UInt64(x), y)
        case (.uint(let x), .int(let y)): y < 0 ? .greater : order(x, UInt64(y))
        case (.int(let x), .double(let y)): order(Double(x), y)
        case (.double(let x), .int(let y)): order(x, Double(y))
        case (.uint(let x), .double(let y)): order(Double(x), y)
        case (.double(let x), .uint(let y)): order(x, Double(y))
        default: nil
        }
    }

    private static func order<T: Comparable>(_ a: T, _ b: T) -> Order {
        a < b ? .less : a == b ? .same : a > b ? .greater : .unordered
    }

    /// The order of two values; nil if they have none (`no such overload`).
    static func order(_ a: Value, _ b: Value) -> Order? {
        switch (a, b) {
        case (.string(let x), .string(let y)): x.precedesByBytes(y) ? .less : y.precedesByBytes(x) ? .greater : .same
        case (.bool(let x), .bool(let y)): order(x ? 1 : 0, y ? 1 : 0)
        case (.bytes(let x), .bytes(let y)):
            x.lexicographicallyPrecedes(y) ? .less : y.lexicographicallyPrecedes(x) ? .greater : .same
        case (.timestamp(let x), .timestamp(let y)): order(x, y)
        case (.duration(let x), .duration(let y)): order(x, y)
        default: numericOrder(a, b)
        }
    }
}
