import AttributeGraph

/// The values of the fixed inputs of a rule or observer, in the order of its inputs.
///
/// **Lifetime:** valid during the run that got it. Reading through it later reads the inputs of another attribute, or
/// traps.
@frozen
public struct GraphInputs<Value: Equatable> {
    @usableFromInline let core: GraphCore<ClosureHost<Value>>
    /// The rule or observer.
    @usableFromInline let reader: UInt32

    @inlinable @inline(__always)
    init(_ core: GraphCore<ClosureHost<Value>>, of reader: UInt32) {
        self.core = core
        self.reader = reader
    }

    /// The list at its present address: things that the run creates may move it.
    @inlinable @inline(__always)
    var list: EdgeEntries { core.inputs(of: core.s.pointee.vertex(reader)) }

    @inlinable
    public var count: Int { Int(list.count) }

    /// The value of an input, which has already been evaluated. O(1).
    ///
    /// - Throws: the error of reading the attribute.
    @inlinable @inline(__always)
    public subscript(position: Int) -> Value {
        @inline(__always) get throws {
            let list = list
            if _fastPath(UInt(bitPattern: position) < UInt(list.count)), let value = valid(list.ends[position]) {
                return value.pointee
            }
            return try readSlowly(position).pointee
        }
    }

    /// As the subscript, for a rule or observer over exactly one input whose run has done nothing yet.
    @inlinable @inline(__always)
    func only() throws -> Value {
        if let value = valid(core.s.pointee.vertex(reader).pointee.inputs.start) { return value.pointee }
        return try readSlowly(0).pointee
    }

    /// As the subscript, for a rule or observer over exactly two inputs whose run has done nothing yet.
    @inlinable @inline(__always)
    func both() throws -> (Value, Value) {
        let list = core.s.pointee.edges.ends + Int(core.s.pointee.vertex(reader).pointee.inputs.start)
        if let one = valid(list[0]), let two = valid(list[1]) { return (one.pointee, two.pointee) }
        return (try readSlowly(0).pointee, try readSlowly(1).pointee)
    }

    @inlinable @inline(__always)
    func valid(_ input: UInt32) -> UnsafeMutablePointer<Value>? {
        let vertex = core.s.pointee.vertex(input)
        return _fastPath(core.isReadable(vertex)) ? GraphStorage<ClosureHost<Value>>.value(of: vertex) : nil
    }

    /// Reads an input that has failed, that is gone, or that is on a cycle.
    @inlinable @inline(never)
    func readSlowly(_ position: Int) throws -> UnsafeMutablePointer<Value> {
        if core.isInterrupted { throw Interruption() }
        core.settleIfNeeded()
        let list = list
        precondition(UInt32(exactly: position).map { $0 < list.count } ?? false, "there is no such input")
        let input = list.ends[position]
        if input == 0 {
            let place = LostInput(reader: reader, position: UInt32(truncatingIfNeeded: position))
            let lost = core.host.pointee.table.pointee.lostInputs[place]
            throw GraphError.removed(lost ?? AttributeID(index: 0, generation: 0))
        }
        if core.isCondemned(input) { throw GraphError.removed(core.formerID(input)) }
        let value = try core.current(core.s.pointee.id(input))
        // Evaluating the input may have destroyed the reader, whose run then must not continue.
        if core.isCondemned(reader) { throw GraphError.removed(core.formerID(reader)) }
        return value
    }
}

/// A position in the fixed inputs of a rule or observer whose attribute has been destroyed.
@usableFromInline
struct LostInput: Hashable {
    @usableFromInline let reader: UInt32
    @usableFromInline let position: UInt32

    @inlinable
    init(reader: UInt32, position: UInt32) {
        self.reader = reader
        self.position = position
    }
}
