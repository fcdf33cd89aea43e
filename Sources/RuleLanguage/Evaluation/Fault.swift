import AttributeValues

/// The reason why an evaluation cannot continue normally.
struct Fault: Error {
    enum Kind {
        /// An error as CEL defines it: `&&`, `||` and similar operations may absorb it.
        case error
        /// An exceeded limit, which ends the evaluation.
        case limit
    }

    var kind: Kind = .error
    var message: String
    /// What to do about it.
    var hint: String?
    /// The failure of an input without a value. It is passed on unchanged.
    var failure: Failure?
    /// Set by the function that catches the fault.
    var instruction: Int32 = -1

    init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

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

    /// As above, for operands in memory.
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
