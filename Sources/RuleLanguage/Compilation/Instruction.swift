/// One step of a compiled rule. An operand is a register (≥ 0) or a constant (the complement of its number).
struct Instruction {
    var opcode: Opcode
    /// A choice within the opcode.
    var flag: Bool = false
    /// Mostly the register that takes the result.
    var a: Int32 = 0
    var b: Int32 = 0
    var c: Int32 = 0
}

/// What the fields of an instruction mean is said at each case; "→" is the register written.
enum Opcode: UInt8 {
    /// Input `a` → a, unless it has been read already.
    case load
    /// → a: what lies at path `dynamicPaths[b]`.
    case loadDynamic
    /// b → a
    case move
    /// To c.
    case jump
    /// To c when b is false; b must be a bool.
    case jumpUnless

    // b ∘ c → a; flag, where it `mayEnd`: a is the rule's result, and need not be written
    case add, subtract, multiply, divide, modulo
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, isIn
    // ∘ b → a
    case negate, not

    /// b[c] → a; flag: the optional form.
    case index
    /// b.c → a, c a constant; flag: the optional form.
    case select
    /// has(b.c) → a
    case presence

    /// operands[b ..< b + c] → a
    case makeList
    /// key, value, is-optional triples from operands[b], c of them → a
    case makeMap
    /// calls[b] → a
    case call
    /// operands[b ..< b + c], mostly strings, joined → a
    case concatenate
    /// string(b) → a
    case text
    /// b matches patterns[c] → a
    case matches

    /// b.getFullYear() and the like, by the function of calls[c] → a
    case timePart
    /// b starts with, ends with or contains c → a
    case startsWith, endsWith, contains

    /// Clears the fault noted under a.
    case beginLogic
    /// When b decides an `&&` (flag: `||`): false (flag: true) → a, and to c.
    case logicStep
    /// The last operand b: its value → a and to c, or throws the fault noted under the number in the next instruction's b.
    case lastLogicStep
    /// The end of a chain that is not decided: throws the fault noted under b, or → a true (flag: `||`, false).
    case endLogic

    /// Opens loop a over b. flag: two variables, or only a list will do.
    case iterate
    /// The next element of loop a into register b (and b + 1), then to c; falls through at the end.
    case next
    /// Counts in register a when b, a bool, is true.
    case count
    /// Adds c to the output of loop a when b, a bool, is true.
    case filter
    /// Adds b to the output of loop a; flag: the content of the optional b, if any.
    case append
    /// Adds the entry b: c to the output of loop a.
    case appendEntry
    /// Adds all entries of the map b to the output of loop a.
    case appendMap
    /// Opens an output, loop a, without iteration.
    case beginOutput
    /// The output of loop b → a.
    case finishList, finishMap
    /// The range of loop b, sorted by the keys in its output → a.
    case finishSort

    /// Forgets the lazy value a.
    case beginLazy
    /// Evaluates the lazy value a unless it is known.
    case force
    /// The end of lazy value a's code.
    case endLazy

    /// The optional b: when present → a (flag: its content) and to c. Else falls through.
    case branchIfPresent
    /// b must be optional → a
    case requireOptional
    /// optional.of(b) → a
    case wrapOptional
    /// Input b is present: falls through; else optional.none() → a and to c.
    case branchIfAbsent

    /// Throws messages[a].
    case fail
    /// Notes b as a result of syntax node a.
    case record
    /// The result is b.
    case end
}

extension Opcode {
    /// Whether the operation, when it gives the rule's result, can end the evaluation.
    var mayEnd: Bool {
        switch self {
        case .add, .subtract, .multiply, .modulo, .equal, .less, .lessOrEqual, .greater, .greaterOrEqual: true
        default: false
        }
    }

    /// Whether the register written, if one is, gets a value without references.
    var givesScalar: Bool {
        switch self {
        case .jump, .jumpUnless, .subtract, .multiply, .divide, .modulo, .equal, .notEqual, .less, .lessOrEqual, .greater,
            .greaterOrEqual, .isIn, .negate, .not, .presence, .matches, .startsWith, .endsWith, .contains, .timePart, .beginLogic,
            .logicStep, .lastLogicStep, .endLogic, .iterate, .count, .beginLazy, .force, .endLazy, .fail, .record, .end:
            true
        default: false
        }
    }
}

/// Where a fault inside [start, end) goes on.
struct FaultRegion {
    var start: Int32
    var end: Int32
    /// For a lazy value's code: its number, else -1.
    var lazy: Int32 = -1
    /// Otherwise: noted under this number, going on at `resume`.
    var fault: Int32 = -1
    var resume: Int32 = -1
    /// The innermost loop around the region that has an output; -1 for none.
    var output: Int32 = -1
    /// The lazy value whose code the region lies in; -1 for none.
    var owner: Int32 = -1
}

/// A call's function and where its operands stand.
struct Call {
    var function: Function
    var start: Int32
    var count: Int32
    var isMember: Bool
}
