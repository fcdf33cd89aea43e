import AttributeValues

/// Functions by their names, as they are defined.
///
/// A signature is `name(parameters) -> result`; the type of a receiver precedes `::`. Capital letters are type
/// parameters, `[…]` is optional. A signature with alternatives `a|b` makes one overload for each position in them; `=`
/// repeats the alternatives of the first parameter.
struct FunctionList {
    private(set) var functions: [String: Function] = [:]

    mutating func add(_ function: Function) { functions[function.name] = function }

    mutating func define(_ signatures: String..., work: Work = Work(), code: Function.Code? = nil) {
        define(signatures, work: work, code: code)
    }

    mutating func define(_ signatures: [String], work: Work, code: Function.Code?) {
        let read = signatures.map { signature in
            var reader = SignatureReader(signature)
            return reader.read()
        }
        add(Function(read[0].name, read.flatMap(\.overloads), work: work, code))
    }

    /// Defines a function of one argument of a type.
    mutating func define<A: FunctionArgument>(
        _ signature: String, work: Work = Work(), of code: @escaping @Sendable (A) throws(Fault) -> Value?
    ) {
        define(signature, work: work) { (a, _) throws(Fault) in
            guard let first = A.read(a[0]) else { return nil }
            return try code(first)
        }
    }

    /// Defines a function of two arguments of certain types.
    mutating func define<A: FunctionArgument, B: FunctionArgument>(
        _ signature: String, work: Work = Work(), of code: @escaping @Sendable (A, B) throws(Fault) -> Value?
    ) {
        define(signature, work: work) { (a, _) throws(Fault) in
            guard let first = A.read(a[0]), let second = B.read(a[1]) else { return nil }
            return try code(first, second)
        }
    }

    /// Operators are evaluated without a call.
    mutating func defineOperators() {
        define(
            "_+_(int|uint|double|string|bytes|list(A)|duration,=) -> =",
            "_+_(timestamp|duration,duration|timestamp) -> timestamp")
        define("_-_(int|uint|double|duration,=) -> =", "_-_(timestamp,timestamp|duration) -> duration|timestamp")
        define(
            "_*_(int|uint|double,=) -> =", "_*_(duration,int|double) -> duration",
            "_*_(int|double,duration) -> duration")
        define(
            "_/_(int|uint|double,=) -> =", "_/_(duration,duration) -> double", "_/_(duration,int|double) -> duration")
        define("_%_(int|uint,=) -> =")
        define("_in_(A,list(A)|map(A,B)) -> bool")
        define("_<_(bool|int|uint|double|string|bytes|timestamp|duration,=) -> bool")
    }
}

/// A type of arguments.
protocol FunctionArgument: SendableMetatype {
    /// nil for a value of another type.
    static func read(_ value: Value) -> Self?
}

extension Value: FunctionArgument {
    static func read(_ value: Value) -> Value? { value }
}

extension String: FunctionArgument {
    static func read(_ value: Value) -> String? { value.string }
}

extension Int64: FunctionArgument {
    static func read(_ value: Value) -> Int64? { if case .int(let number) = value { number } else { nil } }
}

extension Double: FunctionArgument {
    static func read(_ value: Value) -> Double? { if case .double(let number) = value { number } else { nil } }
}

extension ValueList: FunctionArgument {
    static func read(_ value: Value) -> ValueList? { value.list }
}

/// Reads a signature.
private struct SignatureReader {
    private var rest: Substring.UTF8View

    init(_ signature: String) { rest = signature[...].utf8 }

    mutating func read() -> (name: String, overloads: [Overload]) {
        var parameters: [[RuleType]] = []
        var fewest: Int?
        let isMember = rest.contains(UInt8(ascii: ":"))
        if isMember {
            parameters.append(readTypes(nil))
            rest = rest.dropFirst("::".count)
        }
        let name = readText { $0 != UInt8(ascii: "(") }
        rest = rest.dropFirst()
        while let mark = rest.first, mark != UInt8(ascii: ")") {
            switch mark {
            case UInt8(ascii: "["):
                fewest = parameters.count
                rest.removeFirst()
            case UInt8(ascii: ","), UInt8(ascii: "]"): rest.removeFirst()
            default: parameters.append(readTypes(parameters.first))
            }
        }
        rest = rest.dropFirst(") -> ".count)
        let results = readTypes(parameters.first)
        var overloads: [Overload] = []
        for form in 0..<(parameters.map(\.count).max() ?? 1) {
            let types = parameters.map { $0.count == 1 ? $0[0] : $0[form] }
            let result = results.count == 1 ? results[0] : results[form]
            for count in (fewest ?? types.count)...types.count {
                overloads.append(Overload(isMember: isMember, parameters: Array(types[..<count]), result: result))
            }
        }
        return (name, overloads)
    }

    private mutating func readText(while isPart: (UInt8) -> Bool) -> String {
        let text = rest.prefix(while: isPart)
        rest = rest.dropFirst(text.count)
        return String(Substring(text))
    }

    /// Reads a type, or alternatives such as `int|uint`.
    private mutating func readTypes(_ first: [RuleType]?) -> [RuleType] {
        if rest.first == UInt8(ascii: "="), let first {
            rest.removeFirst()
            return first
        }
        var types = [readType()]
        while rest.first == UInt8(ascii: "|") {
            rest.removeFirst()
            types.append(readType())
        }
        return types
    }

    private mutating func readType() -> RuleType {
        let name = readText { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") }
        var parameters: [RuleType] = []
        if rest.first == UInt8(ascii: "(") {
            repeat {
                rest.removeFirst()
                parameters.append(readType())
            } while rest.first == UInt8(ascii: ",")
            rest.removeFirst()
        }
        switch (name, parameters.count) {
        case ("dyn", _): return .dyn
        case ("ip", _): return .ip
        case ("cidr", _): return .cidr
        case ("list", 1): return .list(parameters[0])
        case ("map", 2): return .map(parameters[0], parameters[1])
        case ("type", 1): return .type(parameters[0])
        case ("optional", 1): return .optional(parameters[0])
        case ("color", _), ("angle", _), ("vector", _): return .abstract(name, [])
        default:
            if let type = ScalarType(rawValue: name) { return .scalar(type) }
            precondition(name.utf8.count == 1, "unknown type \(name) in a signature")
            return .parameter(name)
        }
    }
}
