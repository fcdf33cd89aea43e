/// One step of a compiled rule. An operand is a register (≥ 0) or a constant (the complement of its number).
struct Instruction {
    var opcode: Opcode
    /// A choice within the opcode.
    var flag: Bool = false
    /// For arithmetic: an int beside a double is converted. True if the checker did not know the type of an operand.
    var mixes: Bool = false
    /// Mostly the register that takes the result.
    var a: Int32 = 0
    var b: Int32 = 0
    var c: Int32 = 0
}

/// The comment of each case explains the fields of the instruction. "→" marks the register that is written.
enum Opcode: UInt8 {
    /// Input `a` → a, unless it has been read already.
    case load
    /// → a: the value at path `dynamicPaths[b]`.
    case loadDynamic
    /// b → a
    case move
    /// Jumps to c.
    case jump
    /// Jumps to c if b is false. b must be a bool.
    case jumpUnless

    // b ∘ c → a. flag, if it `mayEnd`: a is the rule's result and need not be written.
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
    /// operands[b ..< b + c], mostly strings, concatenated → a
    case concatenate
    /// string(b) → a
    case text
    /// b matches patterns[c] → a
    case matches

    /// b.getFullYear() and similar functions, by the `TimePart` c → a
    case timePart
    /// b starts with, ends with or contains c → a
    case startsWith, endsWith, contains

    /// Clears the fault stored under a.
    case beginLogic
    /// If b decides an `&&` (flag: `||`): false (flag: true) → a, and jumps to c.
    case logicStep
    /// The last operand b: its value → a and jumps to c, or throws the fault stored under the number in the next
    /// instruction's b.
    case lastLogicStep
    /// The end of a chain that is not decided: throws the fault stored under b, or → a true (flag: `||`, false).
    case endLogic

    /// Throws the fault stored under a, if nothing may absorb it: a limit or a cycle.
    case absorb

    /// Opens loop a over b. flag: the loop has two variables, or accepts only a list.
    case iterate
    /// The next element of loop a into register b (and b + 1), then jumps to c. Continues after the last element.
    case next
    /// Adds 1 to register a if b, a bool, is true.
    case count
    /// b → the register c, the accumulator of loop a.
    case accumulate
    /// Adds c to the output of loop a if b, a bool, is true.
    case filter
    /// Adds b to the output of loop a. flag: adds the content of the optional b, if any.
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

    /// Drops the result of the lazy value a.
    case beginLazy
    /// Evaluates the lazy value a unless it has a result.
    case force
    /// The end of lazy value a's code.
    case endLazy

    /// If the optional b has a value: → a (flag: its content) and jumps to c. Otherwise continues.
    case branchIfPresent
    /// b must be optional → a
    case requireOptional
    /// optional.of(b) → a
    case wrapOptional
    /// If input b is present, continues. Otherwise optional.none() → a and jumps to c.
    case branchIfAbsent

    /// Throws messages[a].
    case fail
    /// Records b as a result of syntax node a.
    case record
    /// The result is b.
    case end
}

extension Opcode {
    /// The sign of a binary operator, whose opcodes have the order of `SyntaxTree.Operation`.
    var symbol: String { SyntaxTree.Operation(rawValue: rawValue &- Opcode.add.rawValue)?.text ?? "" }

    /// True if the operation can end the evaluation when it gives the rule's result.
    var mayEnd: Bool {
        switch self {
        case .add, .subtract, .multiply, .modulo, .equal, .less, .lessOrEqual, .greater, .greaterOrEqual: true
        default: false
        }
    }

    /// True if the register that is written, if any, gets a value without references.
    var givesScalar: Bool {
        switch self {
        case .jump, .jumpUnless, .subtract, .multiply, .divide, .modulo, .equal, .notEqual, .less, .lessOrEqual,
            .greater,
            .greaterOrEqual, .isIn, .negate, .not, .presence, .matches, .startsWith, .endsWith, .contains, .timePart,
            .beginLogic, .absorb,
            .logicStep, .lastLogicStep, .endLogic, .iterate, .count, .beginLazy, .force, .endLazy, .fail, .record, .end:
            true
        default: false
        }
    }
}

/// The position at which evaluation continues after a fault inside [start, end).
struct FaultRegion {
    var start: Int32
    var end: Int32
    /// For the code of a lazy value: its number, else -1.
    var lazy: Int32 = -1
    /// Otherwise the fault is stored under this number, and evaluation continues at `resume`.
    var fault: Int32 = -1
    var resume: Int32 = -1
    /// The innermost loop around the region that has an output; -1 if there is none.
    var output: Int32 = -1
    /// The lazy value whose code contains the region; -1 if there is none.
    var owner: Int32 = -1
}

/// The function of a call, and the position of its operands.
struct Call {
    /// The table of functions keeps it alive. Calls in a program's memory are not released.
    unowned(unsafe) let function: Function
    var start: Int32
    var count: Int32
}
