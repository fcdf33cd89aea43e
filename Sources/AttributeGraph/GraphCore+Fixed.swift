/// Rules and observers over fixed inputs: their list of inputs is made with them and stays as it is, in the order given. An
/// attribute may stand in it twice. A place whose attribute is gone is empty (0), and its id is kept in `lostInputs`.
extension GraphCore where Host: ~Copyable {
    @inlinable @inline(__always)
    func fixInputs(of reader: UInt32, _ inputs: some Collection<AttributeID>) {
        let count = inputs.count
        if count > 1 { return fixList(of: reader, inputs, count) }
        if count == 0 { return }
        guard let input = inputs.first else { return }
        let vertex = s.pointee.vertex(reader)
        if _fastPath(s.pointee.isAlive(input)) { return linkFirst(input.index, to: reader, vertex) }
        vertex.pointee.inputClass = EdgePool.single
        noteLoss(of: input, by: reader, at: 0)
    }

    @inlinable @inline(__always)
    func fixList(of reader: UInt32, _ inputs: some Collection<AttributeID>, _ count: Int) {
        reserveInputs(count, of: s.pointee.vertex(reader))
        // To get the next may run anything, so rows and lists are found anew each time.
        for input in inputs {
            let position = s.pointee.vertex(reader).pointee.inputs.extent
            precondition(position < count, "a collection has as many elements as it counts")
            var (end, slot): (UInt32, UInt32) = (0, 0)
            if _fastPath(s.pointee.isAlive(input)) {
                end = input.index
                slot = addReader(reader, at: position, to: end)
            } else {
                noteLoss(of: input, by: reader, at: position)
            }
            let vertex = s.pointee.vertex(reader)
            let entry = Int(vertex.pointee.inputs.start &+ position)
            s.pointee.edges.ends[entry] = end
            s.pointee.edges.slots[entry] = slot
            vertex.pointee.inputs.extent = position &+ 1
        }
    }

    /// A rule depends on all its fixed inputs, whether its run comes to look at them or not: those that are running are on
    /// a cycle with it. If some went unnoticed, the edges of valid vertices could form a circle.
    @inlinable @inline(never)
    func noteCycles(through vertex: UnsafeMutablePointer<Vertex>) {
        let inputs = inputs(of: vertex)
        for position in 0..<Int(inputs.count)
        where s.pointee.vertex(inputs.ends[position]).pointee.flags.contains(.running) {
            noteCycle(inputs.ends[position])
        }
    }

    // MARK: What is gone

    @inlinable
    func keyOfLoss(by reader: UInt32, at position: UInt32) -> UInt64 { UInt64(reader) << 32 | UInt64(position) }

    @inlinable @inline(never)
    func noteLoss(of input: AttributeID, by reader: UInt32, at position: UInt32) {
        s.pointee.lostInputs[keyOfLoss(by: reader, at: position)] = input
    }

    /// Before the list of a fixed rule or observer goes.
    @inlinable @inline(never)
    func forgetLosses(of reader: UInt32) {
        for position in 0..<inputs(of: s.pointee.vertex(reader)).count {
            s.pointee.lostInputs[keyOfLoss(by: reader, at: position)] = nil
        }
    }

    // MARK: Reading

    /// The innermost run, which is that of the rule or observer whose inputs are read.
    @inlinable
    var fixedReader: UInt32 {
        precondition(s.pointee.pending.count > 0, "fixed inputs are read while the rule runs")
        return s.pointee.pending.base[s.pointee.pending.count &- 1].vertex
    }

    /// What cannot be had at once: an input that has failed, or is gone, or on a cycle; or the cursor is not where it was when the run
    /// began.
    @inlinable @inline(never)
    func readFixedSlowly(_ position: Int) throws -> UnsafeMutablePointer<Value> {
        if s.pointee.attention.contains(.interrupted) { throw Interruption() }
        if s.pointee.logCount != 0 { settle() }
        let reader = fixedReader
        let inputs = inputs(of: s.pointee.vertex(reader))
        precondition(UInt32(exactly: position).map { $0 < inputs.count } ?? false, "there is no such input")
        let input = inputs.ends[position]
        if input == 0 {
            let lost = s.pointee.lostInputs[keyOfLoss(by: reader, at: UInt32(truncatingIfNeeded: position))]
            return try stored(host.pointee.value(ofRemoved: lost ?? AttributeID(index: 0, generation: 0)))
        }
        if s.pointee.vertex(input).pointee.kind.isCondemned {
            return try stored(host.pointee.value(ofRemoved: formerID(input)))
        }
        let value = try current(s.pointee.id(input))
        // That may have destroyed the reader, which does not run then.
        return s.pointee.vertex(reader).pointee.kind.isCondemned
            ? try stored(host.pointee.value(ofRemoved: formerID(reader))) : value
    }

    /// The last id of a vertex that was destroyed during a run.
    @inlinable
    func formerID(_ index: UInt32) -> AttributeID {
        AttributeID(index: index, generation: s.pointee.vertex(index).pointee.generation &- 1)
    }
}

/// The values that a rule or observer over fixed inputs computes from, in the order of its inputs.
///
/// **Lifetime:** the run that got it; reading through it later reads the inputs of another, or traps.
public struct FixedInputs<Host: GraphHost & ~Copyable> {
    @usableFromInline let core: GraphCore<Host>
    /// The rule or observer, until something is made or evaluated.
    @usableFromInline let reader: UnsafeMutablePointer<Vertex>

    @inlinable @inline(__always)
    init(_ core: GraphCore<Host>, of reader: UnsafeMutablePointer<Vertex>) {
        self.core = core
        self.reader = reader
    }

    /// The list of the rule that is running, wherever it is now.
    @inlinable
    var list: EdgeEntries { core.inputs(of: core.s.pointee.vertex(core.fixedReader)) }

    /// O(1).
    @inlinable
    public var count: Int { Int(list.count) }

    /// An input's value, evaluated already. O(1).
    ///
    /// - Throws: what reading the attribute would throw.
    @inlinable @inline(__always)
    public subscript(position: Int) -> Host.Value {
        @inline(__always) get throws {
            if _fastPath(UInt(bitPattern: position) < core.listed),
                let value = valid(core.s.pointee.cursorStart[position])
            {
                return value.pointee
            }
            return try core.readFixedSlowly(position).pointee
        }
    }

    /// As the subscript, of a rule or observer over exactly one input whose run has done nothing yet.
    @inlinable @inline(__always)
    public func only() throws -> Host.Value {
        if let value = valid(reader.pointee.inputs.start) { return value.pointee }
        return try core.readFixedSlowly(0).pointee
    }

    /// As the subscript, of a rule or observer over exactly two inputs whose run has done nothing yet.
    @inlinable @inline(__always)
    public func both() throws -> (Host.Value, Host.Value) {
        let list = core.s.pointee.edges.ends + Int(reader.pointee.inputs.start)
        if let one = valid(list[0]), let two = valid(list[1]) { return (one.pointee, two.pointee) }
        return (try core.readFixedSlowly(0).pointee, try core.readFixedSlowly(1).pointee)
    }

    @inlinable @inline(__always)
    func valid(_ input: UInt32) -> UnsafeMutablePointer<Host.Value>? {
        let vertex = core.s.pointee.vertex(input)
        return _fastPath(core.isReadable(vertex)) ? GraphStorage<Host>.value(of: vertex) : nil
    }

    /// Lets the run read any number of inputs through the subscript, whatever it does meanwhile.
    @inlinable @inline(__always)
    public func keep() {
        let reader = core.fixedReader
        core.s.pointee.reader = reader
        core.setCursor(core.s.pointee.vertex(reader), 0)
        core.s.pointee.cursor = core.s.pointee.cursorEnd
    }
}
