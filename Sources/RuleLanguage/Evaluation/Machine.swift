import AttributeValues

/// The memory of an evaluation: registers, loops, output. Plain pointers, because every instruction reads and writes
/// it. The one `Evaluator` with this machine owns all of it, and calls `free` last.
@usableFromInline
struct Machine {
    @usableFromInline private(set) var registers: UnsafeMutablePointer<Value> = .allocate(capacity: 0)
    /// By input.
    @usableFromInline private(set) var isLoaded: UnsafeMutablePointer<Bool> = .allocate(capacity: 0)
    /// By fault number: true if a fault is stored.
    @usableFromInline private(set) var hasFault: UnsafeMutablePointer<Bool> = .allocate(capacity: 0)
    private(set) var loops: UnsafeMutablePointer<Loop> = .allocate(capacity: 0)
    private(set) var lazies: UnsafeMutablePointer<Lazy> = .allocate(capacity: 0)
    /// The capacity of each of these. It suffices for a program whose `frameSize` is not larger.
    @usableFromInline private(set) var frameCapacity = 0
    /// The output of the loops so far, outer loops first.
    private(set) var output: UnsafeMutablePointer<Value> = .allocate(capacity: 0)
    private var outputCapacity = 0
    var outputCount = 0

    @usableFromInline var isRunning = false
    /// The memory that may contain references, which must be released at the end of an evaluation.
    @usableFromInline var retained: Retained = []
    /// The position after the instruction that waits for the reader.
    var position = 0
    /// The result of the evaluation, until it is taken.
    @usableFromInline let result: UnsafeMutablePointer<Content> = .allocate(capacity: 1)
    /// By fault number.
    var faults: [Fault?] = []
    /// By lazy value.
    var lazyFaults: [Fault?] = []
    /// In traced programs, by syntax node: its last result, and the number of its results.
    var trace: [Int: (content: Content, times: Int)]?
    /// The steps of the present dynamic read.
    var requestedSteps: [AttributePath.Step] = []
    @usableFromInline var meter = Meter()
    /// The register for the result of the present dynamic read.
    var target = 0

    @usableFromInline
    struct Retained: OptionSet {
        @usableFromInline let rawValue: UInt8

        @inlinable init(rawValue: UInt8) { self.rawValue = rawValue }

        @inlinable static var byRegisters: Retained { Retained(rawValue: 1) }
        /// References in ranges or the output.
        @inlinable static var byLoops: Retained { Retained(rawValue: 2) }
    }

    /// The range and position of one loop. `keys` and `values` point into `range`, which the loop keeps alive.
    struct Loop {
        var range: Value
        var keys: UnsafePointer<Value>?
        var values: UnsafePointer<Value>?
        var count = 0
        var index = 0
        /// The beginning of its part of the output.
        var outputStart = 0
        var outputCount = 0
    }

    /// A value that is evaluated at its first use.
    struct Lazy {
        enum State { case unknown, known, failed, running }
        var state: State = .unknown
        var returnPosition = 0
        /// The beginning of its own output.
        var outputStart = 0
    }

    private static func grow<T>(_ memory: inout UnsafeMutablePointer<T>, from old: Int, to count: Int, _ filler: T) {
        let larger = UnsafeMutablePointer<T>.allocate(capacity: count)
        larger.moveInitialize(from: memory, count: old)
        (larger + old).initialize(repeating: filler, count: count - old)
        memory.deallocate()
        memory = larger
    }

    @inlinable @inline(__always)
    mutating func begin(_ program: Program) {
        precondition(!isRunning, "a reader must not use the evaluator that calls it")
        isRunning = true
        if _slowPath(program.frameSize > frameCapacity) { grow(to: program.frameSize) }
        Machine.clear(isLoaded, program.inputCount)
        if program.faultCount > 0 { Machine.clear(hasFault, program.faultCount) }
        meter.begin(UnsafePointer(program.limits), budget: program.budget, remaining: program.budgetBehindInstructions)
    }

    /// Flags are cleared in words of eight.
    @inlinable @inline(__always)
    static func clear(_ marks: UnsafeMutablePointer<Bool>, _ count: Int) {
        if _fastPath(count <= 8) {
            UnsafeMutableRawPointer(marks).storeBytes(of: 0, as: UInt64.self)
        } else {
            marks.update(repeating: false, count: count)
        }
    }

    @usableFromInline @inline(never)
    mutating func grow(to size: Int) {
        let size = (size + 7) / 8 * 8
        Machine.grow(&registers, from: frameCapacity, to: size, .null)
        Machine.grow(&isLoaded, from: frameCapacity, to: size, false)
        Machine.grow(&hasFault, from: frameCapacity, to: size, false)
        Machine.grow(&loops, from: frameCapacity, to: size, Loop(range: .null))
        Machine.grow(&lazies, from: frameCapacity, to: size, Lazy())
        faults += [Fault?](repeating: nil, count: size - frameCapacity)
        lazyFaults += [Fault?](repeating: nil, count: size - frameCapacity)
        frameCapacity = size
    }

    /// Finishes with an operand as the result.
    @inline(__always)
    mutating func finish(_ program: Program, _ operand: Int32) {
        let position = (operand >= 0 ? registers : program.constants) + Int(operand)
        switch position.pointee {
        // These are made anew, because copying them whole would wait for the stores that have just made them.
        case .bool(let flag): finish(program, .value(.bool(flag)))
        case .int(let number): finish(program, .value(.int(number)))
        default: finish(program, .value(position.pointee))
        }
    }

    @inline(__always)
    mutating func finish(_ program: Program, _ content: consuming Content) {
        result.initialize(to: content)
        clear(program)
    }

    /// Releases all values, so that another evaluation may begin.
    @inline(__always)
    mutating func clear(_ program: Program) {
        if !retained.isEmpty { letGo(program) }
        isRunning = false
    }

    @inline(never)
    private mutating func letGo(_ program: Program) {
        for retained in UnsafeBufferPointer(start: program.form.retaining, count: program.form.retainingCount) {
            let register = registers + Int(retained)
            // A value without references need not be released.
            if !UnsafePointer(register).retainsNothing { register.pointee = .null }
        }
        for loop in 0..<program.form.parts.loopCount { loops[loop].range = .null }
        truncateOutput(to: 0)
        retained = []
    }

    func free() {
        registers.deinitialize(count: frameCapacity)
        registers.deallocate()
        result.deallocate()
        isLoaded.deallocate()
        hasFault.deallocate()
        loops.deinitialize(count: frameCapacity)
        loops.deallocate()
        lazies.deallocate()
        output.deinitialize(count: outputCount)
        output.deallocate()
    }

    // MARK: output

    mutating func append(_ value: Value, to loop: Int) throws(Fault) {
        if outputCount == outputCapacity { growOutput() }
        if loops[loop].outputCount >= meter.limits.resultSize { try meter.chargeElements(loops[loop].outputCount + 1) }
        (output + outputCount).initialize(to: value)
        outputCount += 1
        loops[loop].outputCount += 1
    }

    private mutating func growOutput() {
        let larger = UnsafeMutablePointer<Value>.allocate(capacity: max(64, outputCapacity * 2))
        larger.moveInitialize(from: output, count: outputCount)
        output.deallocate()
        output = larger
        outputCapacity = max(64, outputCapacity * 2)
    }

    mutating func truncateOutput(to count: Int) {
        guard outputCount > count else { return }
        (output + count).deinitialize(count: outputCount - count)
        outputCount = count
    }

    mutating func openOutput(_ loop: Int) {
        retained.insert(.byLoops)
        loops[loop].outputStart = outputCount
        loops[loop].outputCount = 0
    }

    /// Takes the loop's output as a list.
    mutating func takeList(_ loop: Int) -> [Value] {
        let start = loops[loop].outputStart
        let count = outputCount - start
        outputCount = start
        return [Value](unsafeUninitializedCapacity: count) { buffer, initialized in
            if count > 0 { buffer.baseAddress?.moveInitialize(from: output + start, count: count) }
            initialized = count
        }
    }

    /// Steps for adding an entry to a map.
    static let stepsPerEntry = 5

    /// Takes the loop's output, alternating keys and values, as a map.
    mutating func takeMap(_ loop: Int) throws(Fault) -> ValueMap {
        let entries = takeList(loop)
        try meter.charge(entries.count / 2 * Machine.stepsPerEntry)
        var map = ValueMap(minimumCapacity: entries.count / 2)
        for at in stride(from: 0, to: entries.count, by: 2) {
            try meter.chargeKey(entries[at])
            if map.position(of: entries[at]) != nil { throw Fault("repeated key: \(CELText.brief(entries[at]))") }
            map[entries[at]] = entries[at + 1]
        }
        return map
    }

    // MARK: loops

    /// - Parameter wantsValues: true if the loop has two variables or sorts. A loop with one variable goes over the
    ///   keys of a map.
    mutating func open(_ loop: Int, over range: Value, wantsValues: Bool) throws(Fault) {
        var opened = Loop(range: range)
        switch range {
        case .list(let elements):
            opened.count = elements.count
            opened.range = .list(elements.contiguous)
            // The array's storage does not move while `range` retains it.
            opened.values = opened.range.list?.withContiguousStorageIfAvailable { $0.baseAddress } ?? nil
        case .map(let map):
            opened.count = map.count
            opened.keys = map.bases.keys
            opened.values = wantsValues ? map.bases.values : opened.keys
        case .opaque(let opaque as VectorValue):
            try meter.charge(opaque.components.count)
            return try open(loop, over: .list(opaque.components.map { .double($0) }), wantsValues: wantsValues)
        default: throw Fault("no such overload: a value of type '\(range.shortTypeName)' has no elements")
        }
        opened.outputStart = outputCount
        retained.insert(.byLoops)
        loops[loop] = opened
    }
}
