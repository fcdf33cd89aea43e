import AttributeValues

/// One way to call a function.
public struct Overload: Sendable {
    /// Called as `receiver.name(…)`; the receiver is the first parameter.
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

/// A function's name with its overloads; `function` is nil for one that is declared, but has no implementation here.
struct FunctionDeclaration: Sendable {
    var name: String
    var function: Function?
    var overloads: [Overload]
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

    /// What stands before the dot in functions' names.
    static let namespaces = Set(
        Function.allCases.compactMap { $0.rawValue.utf8.firstIndex(of: UInt8(ascii: ".")).map($0.rawValue.prefix(upTo:)) }.map(String.init))

    /// `name(parameters) -> result`, or `receiver.name(parameters) -> result`; a receiver's type stands before `::`.
    /// Capital letters are type parameters. Several lines of one name are overloads.
    static let signatures = """
        size(string) -> int
        size(bytes) -> int
        size(list(A)) -> int
        size(map(A,B)) -> int
        size(vector) -> int
        string::size() -> int
        bytes::size() -> int
        list(A)::size() -> int
        map(A,B)::size() -> int
        type(A) -> type(A)
        dyn(A) -> dyn
        string::contains(string) -> bool
        string::startsWith(string) -> bool
        string::endsWith(string) -> bool
        string::matches(string) -> bool
        matches(string,string) -> bool
        int(int) -> int
        int(uint) -> int
        int(double) -> int
        int(string) -> int
        int(timestamp) -> int
        int(duration) -> int
        uint(uint) -> uint
        uint(int) -> uint
        uint(double) -> uint
        uint(string) -> uint
        double(double) -> double
        double(int) -> double
        double(uint) -> double
        double(string) -> double
        double(angle) -> double
        bool(bool) -> bool
        bool(string) -> bool
        string(string) -> string
        string(bool) -> string
        string(int) -> string
        string(uint) -> string
        string(double) -> string
        string(bytes) -> string
        string(timestamp) -> string
        string(duration) -> string
        string(ip) -> string
        string(cidr) -> string
        string(color) -> string
        bytes(bytes) -> bytes
        bytes(string) -> bytes
        timestamp(timestamp) -> timestamp
        timestamp(string) -> timestamp
        timestamp(int) -> timestamp
        duration(duration) -> duration
        duration(string) -> duration
        timestamp::getFullYear() -> int
        timestamp::getFullYear(string) -> int
        timestamp::getMonth() -> int
        timestamp::getMonth(string) -> int
        timestamp::getDate() -> int
        timestamp::getDate(string) -> int
        timestamp::getDayOfMonth() -> int
        timestamp::getDayOfMonth(string) -> int
        timestamp::getDayOfWeek() -> int
        timestamp::getDayOfWeek(string) -> int
        timestamp::getDayOfYear() -> int
        timestamp::getDayOfYear(string) -> int
        timestamp::getHours() -> int
        timestamp::getHours(string) -> int
        duration::getHours() -> int
        timestamp::getMinutes() -> int
        timestamp::getMinutes(string) -> int
        duration::getMinutes() -> int
        timestamp::getSeconds() -> int
        timestamp::getSeconds(string) -> int
        duration::getSeconds() -> int
        timestamp::getMilliseconds() -> int
        timestamp::getMilliseconds(string) -> int
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
        string::indexOf(string) -> int
        string::indexOf(string,int) -> int
        string::lastIndexOf(string) -> int
        string::lastIndexOf(string,int) -> int
        list(string)::join() -> string
        list(string)::join(string) -> string
        string::lowerAscii() -> string
        string::upperAscii() -> string
        string::replace(string,string) -> string
        string::replace(string,string,int) -> string
        string::split(string) -> list(string)
        string::split(string,int) -> list(string)
        string::substring(int) -> string
        string::substring(int,int) -> string
        string::trim() -> string
        string::reverse() -> string
        list(A)::reverse() -> list(A)
        string::format(list(dyn)) -> string
        strings.quote(string) -> string
        math.ceil(double) -> double
        math.floor(double) -> double
        math.round(double) -> double
        math.trunc(double) -> double
        math.abs(int) -> int
        math.abs(uint) -> uint
        math.abs(double) -> double
        math.sign(int) -> int
        math.sign(uint) -> uint
        math.sign(double) -> double
        math.isNaN(double) -> bool
        math.isInf(double) -> bool
        math.isFinite(double) -> bool
        math.sqrt(double) -> double
        math.sqrt(int) -> double
        math.sqrt(uint) -> double
        math.bitOr(int,int) -> int
        math.bitOr(uint,uint) -> uint
        math.bitAnd(int,int) -> int
        math.bitAnd(uint,uint) -> uint
        math.bitXor(int,int) -> int
        math.bitXor(uint,uint) -> uint
        math.bitNot(int) -> int
        math.bitNot(uint) -> uint
        math.bitShiftLeft(int,int) -> int
        math.bitShiftLeft(uint,int) -> uint
        math.bitShiftRight(int,int) -> int
        math.bitShiftRight(uint,int) -> uint
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
        regex.replace(string,string,string) -> string
        regex.replace(string,string,string,int) -> string
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
        cidr::containsIP(ip) -> bool
        cidr::containsIP(string) -> bool
        cidr::containsCIDR(cidr) -> bool
        cidr::containsCIDR(string) -> bool
        cidr::ip() -> ip
        cidr::masked() -> cidr
        cidr::prefixLength() -> int
        A::hasTag(dyn) -> bool
        A::tag() -> dyn
        _+_(int,int) -> int
        _+_(uint,uint) -> uint
        _+_(double,double) -> double
        _+_(string,string) -> string
        _+_(bytes,bytes) -> bytes
        _+_(list(A),list(A)) -> list(A)
        _+_(timestamp,duration) -> timestamp
        _+_(duration,timestamp) -> timestamp
        _+_(duration,duration) -> duration
        _-_(int,int) -> int
        _-_(uint,uint) -> uint
        _-_(double,double) -> double
        _-_(timestamp,timestamp) -> duration
        _-_(timestamp,duration) -> timestamp
        _-_(duration,duration) -> duration
        _*_(int,int) -> int
        _*_(uint,uint) -> uint
        _*_(double,double) -> double
        _/_(int,int) -> int
        _/_(uint,uint) -> uint
        _/_(double,double) -> double
        _%_(int,int) -> int
        _%_(uint,uint) -> uint
        _in_(A,list(A)) -> bool
        _in_(A,map(A,B)) -> bool
        _<_(bool,bool) -> bool
        _<_(int,int) -> bool
        _<_(uint,uint) -> bool
        _<_(double,double) -> bool
        _<_(string,string) -> bool
        _<_(bytes,bytes) -> bool
        _<_(timestamp,timestamp) -> bool
        _<_(duration,duration) -> bool
        """
}

/// Reads one line of `FunctionTable.signatures`.
private struct SignatureReader {
    var rest: Substring

    init(_ line: Substring) { rest = line }

    mutating func read() -> (String, [Overload]) {
        var parameters: [RuleType] = []
        var isMember = false
        if let mark = rest.firstRange(of: "::") {
            parameters.append(readType())
            isMember = true
            rest = rest[mark.upperBound...]
        }
        let name = String(rest.prefix { $0 != "(" })
        rest = rest.dropFirst(name.count + 1)
        while rest.first != ")" {
            parameters.append(readType())
            if rest.first == "," { rest.removeFirst() }
        }
        rest = rest.dropFirst(") -> ".count)
        let result = readType()
        return (name, [Overload(isMember: isMember, parameters: parameters, result: result)])
    }

    private mutating func readType() -> RuleType {
        let name = String(rest.prefix { $0.isLetter })
        rest = rest.dropFirst(name.count)
        var parameters: [RuleType] = []
        if rest.first == "(" {
            repeat {
                rest.removeFirst()
                parameters.append(readType())
            } while rest.first == ","
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

extension Substring {
    fileprivate func firstRange(of mark: String) -> Range<Index>? {
        var at = startIndex
        while at < endIndex {
            if self[at...].hasPrefix(mark) { return at..<index(at, offsetBy: mark.count) }
            at = index(after: at)
        }
        return nil
    }
}
