extension Value: Hashable {
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let x): hasher.combine(x)
        case .int(let x): hasher.combine(x)
        case .uint(let x): hasher.combine(x)
        case .double(let x): hasher.combine(x.contentBits)
        case .string(var x), .type(var x): x.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .bytes(let x): hasher.combine(x)
        case .list(let x): hasher.combine(x)
        case .map(let x):
            // Equality ignores the order, so the hash must too.
            var sum = 0
            for (key, value) in x { sum &+= Value.list([key, value]).hashValue }
            hasher.combine(sum)
        case .timestamp(let x): hasher.combine(x)
        case .duration(let x): hasher.combine(x)
        case .optional(let x): hasher.combine(x)
        case .opaque(let x): x.hash(into: &hasher)
        }
    }
}
