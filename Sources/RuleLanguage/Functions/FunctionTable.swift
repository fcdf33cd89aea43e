import AttributeValues

/// One way to call a function.
public struct Overload: Sendable {
    /// True for `receiver.name(…)`; the receiver is the first parameter.
    var isMember: Bool
    var parameters: [RuleType]
    var result: RuleType
    /// Names of the type parameters.
    var typeParameters: [String]

    public init(isMember: Bool, parameters: [RuleType], result: RuleType) {
        self.isMember = isMember
        self.parameters = parameters
        self.result = result
        typeParameters = parameters.reduce(into: result.parameterNames) { $0.formUnion($1.parameterNames) }.sorted()
    }
}

/// A function's name with its overloads. `function` is nil if a `RuleScope` declares it and it has no code here.
struct FunctionDeclaration: Sendable {
    var name: String
    var function: Function?
    /// Empty for `math.greatest` and `math.least`, which take any number of arguments.
    var overloads: [Overload]

    /// True if an overload has this style and this number of parameters.
    func takes(_ count: Int, isMember: Bool) -> Bool {
        if overloads.isEmpty { return !isMember && count > 0 }
        return overloads.contains { $0.isMember == isMember && $0.parameters.count == count }
    }
}

/// The standard functions, made once from their signatures.
enum FunctionTable {
    static let standard: [String: FunctionDeclaration] = {
        var table: [String: FunctionDeclaration] = [:]
        table.reserveCapacity(160)
        for function in Function.allCases {
            table[function.rawValue] = FunctionDeclaration(name: function.rawValue, function: function, overloads: [])
        }
        for line in FunctionTable.signatures.split(separator: "\n") {
            var reader = SignatureReader(line)
            let (name, overloads) = reader.read()
            table[name, default: FunctionDeclaration(name: name, function: nil, overloads: [])].overloads += overloads
        }
        return table
    }()

    /// The parts of functions' names before the dot.
    static let namespaces = Set(
        Function.allCases.compactMap {
            $0.rawValue.utf8.firstIndex(of: UInt8(ascii: ".")).map($0.rawValue.prefix(upTo:))
        }.map(String.init))

    /// `name(parameters) -> result`; the type of a receiver precedes `::`. Capital letters are type parameters, `[…]`
    /// is optional. A line with alternatives `a|b` makes one overload for each position in them; `=` repeats the
    /// alternatives of the first parameter.
    static let signatures = """
        size(string|bytes|list(A)|map(A,B)|vector) -> int
        string|bytes|list(A)|map(A,B)::size() -> int
        type(A) -> type(A)
        dyn(A) -> dyn
        string::contains(string) -> bool
        string::startsWith(string) -> bool
        string::endsWith(string) -> bool
        string::matches(string) -> bool
        matches(string,string) -> bool
        int(int|uint|double|string|timestamp|duration) -> int
        uint(uint|int|double|string) -> uint
        double(double|int|uint|string|angle) -> double
        bool(bool|string) -> bool
        string(string|bool|int|uint|double|bytes|timestamp|duration|ip|cidr|color) -> string
        bytes(bytes|string) -> bytes
        timestamp(timestamp|string|int) -> timestamp
        duration(duration|string) -> duration
        timestamp::getFullYear([string]) -> int
        timestamp::getMonth([string]) -> int
        timestamp::getDate([string]) -> int
        timestamp::getDayOfMonth([string]) -> int
        timestamp::getDayOfWeek([string]) -> int
        timestamp::getDayOfYear([string]) -> int
        timestamp::getHours([string]) -> int
        duration::getHours() -> int
        timestamp::getMinutes([string]) -> int
        duration::getMinutes() -> int
        timestamp::getSeconds([string]) -> int
        duration::getSeconds() -> int
        timestamp::getMilliseconds([string]) -> int
        duration::getMilliseconds() -> int
        optional.of(A) -> optional(A)
        optional.none() -> optional(A)
        optional.ofNonZeroValue(A) -> optional(A)
        optional.unwrap(list(optional(A))) -> list(A)
        list(optional(A))::unwrapOpt() -> list(A)
        optional(A)::hasValue() -> bool
        optional(A)::value() -> A
        optional(A)::or(optional(A)) -> optional(A)
        optional(A)::orValue(A) -> A
        list(A)::first() -> optional(A)
        list(A)::last() -> optional(A)
        string::charAt(int) -> string
        string::indexOf(string[,int]) -> int
        string::lastIndexOf(string[,int]) -> int
        list(string)::join([string]) -> string
        string::lowerAscii() -> string
        string::upperAscii() -> string
        string::replace(string,string[,int]) -> string
        string::split(string[,int]) -> list(string)
        string::substring(int[,int]) -> string
        string::trim() -> string
        string|list(A)::reverse() -> =
        string::format(list(dyn)) -> string
        strings.quote(string) -> string
        math.ceil(double) -> double
        math.floor(double) -> double
        math.round(double) -> double
        math.trunc(double) -> double
        math.abs(int|uint|double) -> =
        math.sign(int|uint|double) -> =
        math.isNaN(double) -> bool
        math.isInf(double) -> bool
        math.isFinite(double) -> bool
        math.sqrt(double|int|uint) -> double
        math.bitOr(int|uint,=) -> =
        math.bitAnd(int|uint,=) -> =
        math.bitXor(int|uint,=) -> =
        math.bitNot(int|uint) -> =
        math.bitShiftLeft(int|uint,int) -> =
        math.bitShiftRight(int|uint,int) -> =
        list(A)::slice(int,int) -> list(A)
        list(list(A))::flatten() -> list(A)
        list(dyn)::flatten(int) -> list(dyn)
        list(A)::distinct() -> list(A)
        list(A)::sort() -> list(A)
        lists.range(int) -> list(int)
        sets.contains(list(A),list(A)) -> bool
        sets.equivalent(list(A),list(A)) -> bool
        sets.intersects(list(A),list(A)) -> bool
        base64.encode(bytes) -> string
        base64.decode(string) -> bytes
        regex.replace(string,string,string[,int]) -> string
        regex.extract(string,string) -> optional(string)
        regex.extractAll(string,string) -> list(string)
        ip(string) -> ip
        cidr(string) -> cidr
        isIP(string) -> bool
        isCIDR(string) -> bool
        ip.isCanonical(string) -> bool
        ip::family() -> int
        ip::isUnspecified() -> bool
        ip::isLoopback() -> bool
        ip::isGlobalUnicast() -> bool
        ip::isLinkLocalMulticast() -> bool
        ip::isLinkLocalUnicast() -> bool
        cidr::containsIP(ip|string) -> bool
        cidr::containsCIDR(cidr|string) -> bool
        cidr::ip() -> ip
        cidr::masked() -> cidr
        cidr::prefixLength() -> int
        A::hasTag(dyn) -> bool
        A::tag() -> dyn
        A::tag(type(B)) -> dyn
        _+_(int|uint|double|string|bytes|list(A)|duration,=) -> =
        _+_(timestamp|duration,duration|timestamp) -> timestamp
        _-_(int|uint|double|duration,=) -> =
        _-_(timestamp,timestamp|duration) -> duration|timestamp
        _*_(int|uint|double,=) -> =
        _/_(int|uint|double,=) -> =
        _/_(duration,duration) -> double
        _%_(int|uint,=) -> =
        _in_(A,list(A)|map(A,B)) -> bool
        _<_(bool|int|uint|double|string|bytes|timestamp|duration,=) -> bool
        """
}

/// Reads one line of `FunctionTable.signatures`.
private struct SignatureReader {
    private var rest: Substring.UTF8View

    init(_ line: Substring) { rest = line.utf8 }

    mutating func read() -> (String, [Overload]) {
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
