import AttributeValues
import TestSupport

/// Values of every kind, from a seed: small and extreme numbers, and those that JSON has no form for.
struct RandomValues {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func next(_ bound: Int) -> Int { random.below(bound) }

    private mutating func pick<T>(_ choices: [T]) -> T { random.pick(choices) }

    private mutating func double() -> Double {
        pick([
            0, -0.0, 1, -1.5, 1e308, .leastNonzeroMagnitude, 0.1, .nan, .infinity, -.infinity, Double(next(1000)) / 7,
        ])
    }

    private mutating func int() -> Int64 { pick([0, 1, -1, .min, .max, Int64(next(1000))]) }

    private mutating func text() -> String {
        pick(["", "a", "NaN", "\"quoted\" \\", "line\nend", "é\u{1F600}", "e\u{301}", "1"])
    }

    private mutating func color() -> Color {
        Color(
            linearRed: Double(next(256)) / 255, green: Double(next(5)) - 2, blue: Double(next(100)) / 7,
            alpha: Double(next(4)) / 3)
    }

    /// A key that rules admit, of every kind.
    private mutating func key() -> Value {
        pick([.bool(next(2) == 0), .int(int()), .uint(.max - UInt64(next(3))), .string(text())])
    }

    mutating func value(depth: Int) -> Value {
        switch next(depth > 0 ? 17 : 13) {
        case 0: return .null
        case 1: return .bool(next(2) == 0)
        case 2: return .int(int())
        case 3: return .uint(pick([0, 1, .max]))
        case 4: return .double(double())
        case 5: return .string(text())
        case 6: return .bytes((0..<next(5)).map { UInt8($0 * 63) })
        case 7:
            let seconds = pick([Timestamp.secondsRange.lowerBound, -1, 0, Timestamp.secondsRange.upperBound])
            return Timestamp(seconds: seconds, nanoseconds: pick([0, 1, 999_999_999])).map { .timestamp($0) } ?? .null
        case 8: return .duration(TimeSpan(nanoseconds: int()))
        case 9: return .type(pick(["int", "google.protobuf.Timestamp"]))
        case 10: return .opaque(ColorValue(color()))
        case 11: return .opaque(AngleValue(degrees: double()))
        case 12: return .opaque(VectorValue((0..<next(4)).map { _ in double() }))
        case 13: return .optional(next(3) == 0 ? nil : value(depth: depth - 1))
        case 14, 15: return .list((0..<next(4)).map { _ in value(depth: depth - 1) })
        default: return .map(ValueMap((0..<next(4)).map { _ in (key(), value(depth: depth - 1)) }))
        }
    }
}
