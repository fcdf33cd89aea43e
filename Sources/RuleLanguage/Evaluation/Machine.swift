import AttributeValues

/// The memory of an evaluation: registers, loops, output. Plain pointers, because this is where each instruction reads and
/// writes; all are owned by the one `Evaluator` that holds the machine, which calls `free` last.
struct Machine {
    private(set) var registers: UnsafeMutablePointer<Value> = .allocate(capacity: 0)
    private var registerCapacity = 0
    /// By input.
    private(set) var isLoaded: UnsafeMutablePointer<Bool> = .allocate(capacity: 0)
    private var inputCapacity = 0
    /// By fault number: whether one is noted.
    private(set) var hasFault: UnsafeMutablePointer<Bool> = .allocate(capacity: 0)
    private var faultCapacity = 0
    private(set) var loops: UnsafeMutablePointer<Loop> = .allocate(capacity: 0)
    private var loopCapacity = 0
    private(set) var lazies: UnsafeMutablePointer<Lazy> = .allocate(capacity: 0)
    private var lazyCapacity = 0
    /// What loops have put out so far, the outer loops' first.
    private(set) var output: UnsafeMutablePointer<Value> = .allocate(capacity: 0)
    private var outputCapacity = 0
    var outputCount = 0

    var isRunning = false
    var position = 0
    var result: Content = .value(.null)
    private(set) var lastCost = 0
    /// By fault number.
    var faults: [Fault?] = []
    /// By lazy value.
    var lazyFaults: [Fault?] = []
    /// In traced programs: by syntax node, what it gave (the last time, and how often).
    var trace: [Int: (content: Content, times: Int)]?
    /// The steps of the dynamic read at hand.
    var requestedSteps: [AttributePath.Step] = []
    /// The property read at hand.
    var requestedProperty: (object: OpaqueValue, name: String)?
    var meter = Meter(RuleLimits())
    /// The register that takes what the reader gives, and the input that is then loaded (-1: none).
    var target = 0
    var requestedInput = -1

    /// One loop's range and place. `keys` and `values` point into the storage of `range`, which the loop keeps alive.
    struct Loop {
        var range: Value
        var keys: UnsafePointer<Value>?
        var values: UnsafePointer<Value>?
        var count = 0
        var index = 0
        /// Its part of the output.
        var outputStart = 0
        var outputCount = 0
    }

    /// A value that is evaluated at its first use.
    struct Lazy {
        enum State { case unknown, known, failed, running }
        var state: State = .unknown
        var returnPosition = 0
        /// Where its own output begins.
        var outputStart = 0
    }

    private static func grow<T>(_ memory: inout UnsafeMutablePointer<T>, _ capacity: inout Int, to count: Int, _ filler: T) {
        if count <= capacity { return }
        let larger = UnsafeMutablePointer<T>.allocate(capacity: count)
        larger.moveInitialize(from: memory, count: capacity)
        (larger + capacity).initialize(repeating: filler, count: count - capacity)
        memory.deallocate()
        memory = larger
        capacity = count
    }

    mutating func prepare(_ program: Program) {
        if program.registerCount > registerCapacity || program.inputCount > inputCapacity
            || program.faultCount > faultCapacity || program.loopCount > loopCapacity || program.lazyCount > lazyCapacity
        {
            grow(for: program)
        }
        for input in 0..<program.inputCount { isLoaded[input] = false }
        for fault in 0..<program.faultCount { hasFault[fault] = false }
        position = 0
        meter.reset(program.limits)
        meter.remaining -= program.instructionCount
    }

    private mutating func grow(for program: Program) {
        Machine.grow(&registers, &registerCapacity, to: program.registerCount, .null)
        Machine.grow(&isLoaded, &inputCapacity, to: program.inputCount, false)
        faults += [Fault?](repeating: nil, count: max(0, program.faultCount - faultCapacity))
        Machine.grow(&hasFault, &faultCapacity, to: program.faultCount, false)
        Machine.grow(&loops, &loopCapacity, to: program.loopCount, Loop(range: .null))
        lazyFaults += [Fault?](repeating: nil, count: max(0, program.lazyCount - lazyCapacity))
        Machine.grow(&lazies, &lazyCapacity, to: program.lazyCount, Lazy())
    }

    /// An input's value, read before evaluation begins.
    mutating func preload(_ input: Int, _ value: consuming Value) {
        registers[input] = value
        isLoaded[input] = true
    }

    mutating func provide(_ value: consuming Value) {
        registers[target] = value
        if requestedInput >= 0 { isLoaded[requestedInput] = true }
    }

    mutating func takeResult() -> Content {
        let taken = result
        result = .value(.null)
        return taken
    }

    /// Lets go of all values.
    mutating func clear(_ program: Program) {
        for register in 0..<program.registerCount { release(register) }
        for loop in 0..<program.loopCount { loops[loop].range = .null }
        truncateOutput(to: 0)
        lastCost = meter.limits.cost - meter.remaining
    }

    /// Lets go of what a register holds; what holds nothing may stay.
    @inline(__always)
    private func release(_ register: Int) {
        if !(registers + register).holdsNothing { registers[register] = .null }
    }

    func free() {
        registers.deinitialize(count: registerCapacity)
        registers.deallocate()
        isLoaded.deallocate()
        hasFault.deallocate()
        loops.deinitialize(count: loopCapacity)
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
        loops[loop].outputStart = outputCount
        loops[loop].outputCount = 0
    }

    /// The loop's output as a list, taken away.
    mutating func takeList(_ loop: Int) -> [Value] {
        let start = loops[loop].outputStart
        let count = outputCount - start
        outputCount = start
        return [Value](unsafeUninitializedCapacity: count) { buffer, initialized in
            if count > 0 { buffer.baseAddress?.moveInitialize(from: output + start, count: count) }
            initialized = count
        }
    }

    /// The loop's output as a map, key and value by turns, taken away.
    mutating func takeMap(_ loop: Int) throws(Fault) -> ValueMap {
        let entries = takeList(loop)
        var map = ValueMap(minimumCapacity: entries.count / 2)
        for at in stride(from: 0, to: entries.count, by: 2) {
            if map.position(of: entries[at]) != nil { throw Fault("repeated key: \(CELText.brief(entries[at]))") }
            map[entries[at]] = entries[at + 1]
        }
        return map
    }

    // MARK: loops

    /// - Parameter isStrict: keys and values are wanted both, or only a list will do.
    mutating func open(_ loop: Int, over range: Value, wantsValues: Bool) throws(Fault) {
        var opened = Loop(range: range)
        switch range {
        case .list(let elements):
            opened.count = elements.count
            // The array's storage stays where it is while `range` holds it.
            opened.values = elements.withUnsafeBufferPointer { $0.baseAddress }
        case .map(let map):
            opened.count = map.count
            opened.keys = map.keys.withUnsafeBufferPointer { $0.baseAddress }
            opened.values = wantsValues ? map.values.withUnsafeBufferPointer { $0.baseAddress } : opened.keys
        case .opaque(let opaque as VectorValue):
            return try open(loop, over: .list(opaque.components.map { .double($0) }), wantsValues: wantsValues)
        default: throw Fault("no such overload: a value of type '\(CELText.shortTypeName(range))' has no elements")
        }
        opened.outputStart = outputCount
        loops[loop] = opened
    }
}

extension UnsafeMutablePointer<Value> {
    /// Whether the value here holds no reference, so that it may be overwritten without a release.
    @inline(__always)
    var holdsNothing: Bool {
        switch pointee {
        case .null, .bool, .int, .uint, .double, .timestamp, .duration: true
        // A short string lies in its own words (bit 61 of the second, see `String.hasSameBytes`).
        case .string: (UnsafeRawPointer(self) + 8).load(as: UInt64.self) & 1 << 61 != 0
        default: false
        }
    }
}
