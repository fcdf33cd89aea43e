import AttributeValues

/// Why an evaluation cannot go on in the ordinary way.
struct Fault: Error {
    enum Kind {
        /// An error in CEL's sense: `&&`, `||` and the like may absorb it.
        case error
        /// A limit: ends the evaluation.
        case limit
    }

    var kind: Kind = .error
    var message: String
    /// The failure that an input holds instead of a value; passed on as it is.
    var failure: Failure?
    /// Set where the fault is caught.
    var instruction: Int32 = -1

    init(_ message: String) { self.message = message }

    init(limit message: String) {
        self.message = message
        kind = .limit
    }

    init(_ failure: Failure) {
        message = ""
        self.failure = failure
    }

    static var noSuchOverload: Fault { @inline(never) get { Fault("no such overload") } }

    static func noSuchOverload(_ name: String, _ arguments: Value...) -> Fault {
        let types = arguments.map { $0.shortTypeName }.joined(separator: ", ")
        return Fault("no such overload: '\(name)' applied to '(\(types))'")
    }

    /// As above, for operands where they lie.
    @inline(never)
    static func noSuchOverload(_ name: String, _ arguments: UnsafeMutablePointer<Value>...) -> Fault {
        let types = arguments.map { $0.pointee.shortTypeName }.joined(separator: ", ")
        return Fault("no such overload: '\(name)' applied to '(\(types))'")
    }

    @inline(never)
    static func notOptional(_ argument: UnsafeMutablePointer<Value>) -> Fault {
        Fault("no such overload: '\(argument.pointee.shortTypeName)' is not optional")
    }

    static var integerOverflow: Fault { @inline(never) get { Fault("integer overflow") } }

    static func noSuchKey(_ key: Value) -> Fault { Fault("no such key: \(CELText.brief(key))") }
    static func outOfBounds(_ index: Int64) -> Fault { Fault("index out of bounds: \(index)") }
}

/// What an evaluation may still spend, and the time zones it has met.
///
/// It refers to limits that it does not own: a program's, for the length of an evaluation, or the standard ones.
@usableFromInline
struct Meter {
    /// Steps left.
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
    @inlinable
    var spent: Int { budget - remaining }

    @inlinable @inline(__always)
    mutating func begin(_ program: Program) {
        source = UnsafePointer(program.limits)
        budget = program.budget
        remaining = program.budgetBehindInstructions
    }

    mutating func charge(_ steps: Int) throws(Fault) {
        remaining -= steps
        if remaining < 0 { throw Fault(limit: "the rule costs more than \(limits.cost) steps") }
    }

    /// For text of that many bytes, before it is made.
    mutating func chargeText(_ bytes: Int) throws(Fault) {
        if bytes > limits.textSize { throw Fault(limit: "a text of \(bytes) bytes; at most \(limits.textSize) are allowed") }
        try charge(bytes / 10 + 1)
    }

    /// For a list or map of that many elements, before it is made.
    mutating func chargeElements(_ count: Int) throws(Fault) {
        if count > limits.resultSize {
            throw Fault(limit: "a list or map of \(count) elements; at most \(limits.resultSize) are allowed")
        }
        try charge(count + 1)
    }
}
