import AttributeValues

extension FunctionList {
    mutating func defineConversions() {
        let scalar = Work(base: 2, bytesPerStep: 5, elementsPerStep: 0)
        let time = Work(base: 10, bytesPerStep: 2, elementsPerStep: 0)
        define("int(int|uint|double|string|timestamp|duration) -> int", work: scalar, of: Conversions.int)
        define("uint(uint|int|double|string) -> uint", work: scalar, of: Conversions.uint)
        define("double(double|int|uint|string|angle) -> double", work: scalar, of: Conversions.double)
        define("bool(bool|string) -> bool", work: scalar, of: Conversions.bool)
        define(
            "string(string|bool|int|uint|double|bytes|timestamp|duration|ip|cidr|color) -> string",
            work: Work(base: 2, elementsPerStep: 0)
        ) { (a, meter) throws(Fault) in try Conversions.string(a[0], &meter) }
        define("bytes(bytes|string) -> bytes", work: scalar) { (a, meter) throws(Fault) in
            try Conversions.bytes(a[0], &meter)
        }
        define("timestamp(timestamp|string|int) -> timestamp", work: time, of: Conversions.timestamp)
        define("duration(duration|string) -> duration", "duration(int|double,string) -> duration", work: time) {
            (a, _) throws(Fault) in
            guard a.count > 1 else { return try Conversions.duration(a[0]) }
            guard let unit = a.text(1) else { return nil }
            return try Conversions.duration(a[0], unit)
        }
    }
}

/// `int(x)` and similar functions.
enum Conversions {
    /// `string(x)` of a value in memory.
    @inline(never)
    static func text(_ value: UnsafePointer<Value>, _ meter: inout Meter) throws(Fault) -> Value {
        if case .int(let number) = value.pointee { return .string(String(decimal: number)) }
        if !value.retainsNothing { try meter.charge(Conversions.opaqueTextCost) }
        guard let text = try string(value.pointee, &meter) else { throw .noSuchOverload("string", value.pointee) }
        return text
    }

    private static func fault(_ value: Value, _ type: String) -> Fault {
        let text = if case .string(let text) = value { ": \"\(CELText.brief(.string(text)))\"" } else { "" }
        return Fault("type conversion error from '\(value.shortTypeName)' to '\(type)'\(text)")
    }

    private static func outOfRange(_ type: String) -> Fault { Fault("\(type) range: the value does not fit") }

    fileprivate static func int(_ value: Value) throws(Fault) -> Value? {
        switch value {
        case .int: return value
        case .uint(let x):
            guard let x = Int64(exactly: x) else { throw outOfRange("int") }
            return .int(x)
        case .double(let x):
            guard x > -0x1p63, x < 0x1p63 else { throw outOfRange("int") }
            return .int(Int64(x))
        case .string(let text):
            guard let x = Int64(text) else { throw fault(value, "int") }
            return .int(x)
        case .timestamp(let time): return .int(time.seconds)
        case .duration(let span): return .int(span.nanoseconds)
        default: return nil
        }
    }

    fileprivate static func uint(_ value: Value) throws(Fault) -> Value? {
        switch value {
        case .uint: return value
        case .int(let x):
            guard let x = UInt64(exactly: x) else { throw outOfRange("uint") }
            return .uint(x)
        case .double(let x):
            guard x >= 0, x < 0x1p64 else { throw outOfRange("uint") }
            return .uint(UInt64(x))
        case .string(let text):
            guard let first = text.utf8.first, first.isDigit, let x = UInt64(text) else {
                throw fault(value, "uint")
            }
            return .uint(x)
        default: return nil
        }
    }

    fileprivate static func double(_ value: Value) throws(Fault) -> Value? {
        switch value {
        case .double: return value
        case .int(let x): return .double(Double(x))
        case .uint(let x): return .double(Double(x))
        case .string(let text):
            guard let x = number(text) else { throw fault(value, "double") }
            return .double(x)
        case .opaque(let opaque): return (opaque as? AngleValue).map { .double($0.degrees) }
        default: return nil
        }
    }

    /// A decimal number, or infinity or NaN by name.
    private static func number(_ text: String) -> Double? {
        var name = text.utf8[...]
        let isNegative = name.first == UInt8(ascii: "-")
        if isNegative || name.first == UInt8(ascii: "+") { name.removeFirst() }
        guard let first = name.first else { return nil }
        if first.beginsName {
            switch String(decoding: name.map { $0 | 0x20 }, as: UTF8.self) {
            case "inf", "infinity": return isNegative ? -.infinity : .infinity
            case "nan": return .nan
            default: return nil
            }
        }
        let isPlain = name.allSatisfy { byte in
            byte.isDigit || byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e")
                || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
        }
        guard isPlain, let number = Double(text), number.isFinite else { return nil }
        return number
    }

    fileprivate static func bool(_ value: Value) throws(Fault) -> Value? {
        switch value {
        case .bool: return value
        case .string("true"), .string("True"), .string("TRUE"), .string("t"), .string("1"): return .bool(true)
        case .string("false"), .string("False"), .string("FALSE"), .string("f"), .string("0"): return .bool(false)
        case .string: throw fault(value, "bool")
        default: return nil
        }
    }

    fileprivate static func string(_ value: Value, _ meter: inout Meter) throws(Fault) -> Value? {
        switch value {
        case .string: return value
        case .bool(let flag): return .string(flag ? "true" : "false")
        case .int(let x): return .string(String(decimal: x))
        case .uint(let x): return .string(String(x))
        case .double(let x):
            try meter.charge(textCost)
            return .string(CELText.text(x))
        case .bytes(let bytes):
            try meter.chargeText(bytes.count)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw Fault("type conversion error from 'bytes' to 'string': not UTF-8")
            }
            return .string(text)
        case .timestamp(let time):
            try meter.charge(textCost)
            return .string(time.description)
        case .duration(let span):
            try meter.charge(textCost)
            return .string(span.description)
        case .opaque(let opaque as IPAddress): return .string(opaque.description)
        case .opaque(let opaque as IPNetwork): return .string(opaque.description)
        case .opaque(let opaque as ColorValue): return .string(opaque.color.css)
        default: return nil
        }
    }

    /// Steps for the text of a number or a time, and of an address, network or colour.
    private static let textCost = 20
    private static let opaqueTextCost = 60

    fileprivate static func bytes(_ value: Value, _ meter: inout Meter) throws(Fault) -> Value? {
        switch value {
        case .bytes: return value
        case .string(let text):
            try meter.chargeText(text.utf8.count)
            return .bytes(Array(text.utf8))
        default: return nil
        }
    }

    fileprivate static func timestamp(_ value: Value) throws(Fault) -> Value? {
        switch value {
        case .timestamp: return value
        case .int(let seconds):
            guard let time = Timestamp(seconds: seconds) else { throw outOfRange("timestamp") }
            return .timestamp(time)
        case .string(let text):
            guard let time = Timestamp(text) else { throw fault(value, "timestamp") }
            return .timestamp(time)
        default: return nil
        }
    }

    /// Nanoseconds of the units of durations.
    private static let units: KeyValuePairs<String, Int64> = [
        "d": 86_400_000_000_000, "h": 3_600_000_000_000, "m": 60_000_000_000, "s": 1_000_000_000, "ms": 1_000_000,
        "us": 1000, "ns": 1,
    ]

    fileprivate static func duration(_ count: Value, _ unit: String) throws(Fault) -> Value? {
        guard let unit = units.first(where: { $0.key == unit })?.value else {
            throw Fault(
                "unknown unit \(CELText.brief(.string(unit)))",
                hint: "the units are \(units.map(\.key).joined(separator: ", "))")
        }
        return try Operators.multiply(TimeSpan(nanoseconds: unit), by: count).map { .duration($0) }
    }

    fileprivate static func duration(_ value: Value) throws(Fault) -> Value? {
        switch value {
        case .duration: return value
        case .string(let text):
            guard let span = TimeSpan(text) else { throw fault(value, "duration") }
            return .duration(span)
        default: return nil
        }
    }
}
