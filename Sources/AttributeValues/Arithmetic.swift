/// Sums of the operation `add`: exact, or refused.
public enum Arithmetic {
    /// The sum in the type of `a`, because a state keeps its type.
    public static func sum(_ a: Value, _ b: Value, path: String) throws(Failure) -> Value {
        /// In twice the width, so that no sum of two summands overflows.
        func exact<T: FixedWidthInteger>(_ a: T, _ b: some BinaryInteger, _ name: String) throws(Failure) -> T {
            let sum = Int128(a) + Int128(b)
            guard let exact = T(exactly: sum) else {
                throw Failure(.ruleFailed, "\(name) overflow: the sum is \(sum)", path: path)
            }
            return exact
        }
        switch (a, b) {
        case (.int(let x), .int(let y)): return .int(try exact(x, y, "integer"))
        case (.int(let x), .uint(let y)): return .int(try exact(x, y, "integer"))
        case (.uint(let x), .uint(let y)): return .uint(try exact(x, y, "unsigned integer"))
        case (.uint(let x), .int(let y)): return .uint(try exact(x, y, "unsigned integer"))
        case (.double(let x), _):
            guard let y = b.number else { break }
            return .double(x + y)
        case (.duration(let x), .duration(let y)):
            return .duration(TimeSpan(nanoseconds: try exact(x.nanoseconds, y.nanoseconds, "duration")))
        case (.duration, .string(let text)), (.timestamp, .string(let text)):
            guard let span = TimeSpan(text) else { break }
            return try sum(a, .duration(span), path: path)
        case (.timestamp(let x), .duration(let y)):
            guard let sum = x.advanced(by: y) else { throw Failure(.ruleFailed, "timestamp out of range", path: path) }
            return .timestamp(sum)
        case (.opaque(let x as AngleValue), _):
            guard let y = b.number else { break }
            return .opaque(AngleValue(degrees: x.degrees + y))
        default: break
        }
        throw Failure(.typeMismatch, "add cannot add \(b.shortTypeName) to \(a.shortTypeName)", path: path)
    }
}

extension Value {
    /// RFC 7396. Recursion is bounded by the depth of the patch.
    public func merging(_ patch: Value) -> Value {
        guard case .map(let changes) = patch else { return patch }
        var merged = map ?? ValueMap()
        var removed = 0
        for (key, change) in changes {
            if case .null = change {
                removed += 1
            } else {
                merged[key] = (merged[key] ?? .null).merging(change)
            }
        }
        // Each removal from a map moves the entries behind it.
        if removed > 1 {
            return .map(ValueMap(merged.lazy.filter { changes[$0.key] != .null }.map { ($0.key, $0.value) }))
        }
        if removed == 1 { for (key, change) in changes where change == .null { merged[key] = nil } }
        return .map(merged)
    }
}
