import AttributeGraph

/// While no edge changes, a write to an input concerns the same vertices every time, and they can be evaluated in the
/// same order. They are stored as the input's *order*: everything downstream of it, topologically sorted. The next
/// write checks one vertex after the other, in place of the walks that mark and evaluate.
///
/// An order decides nothing: if a closure does anything unforeseen, the rest is marked and reported, and the walk
/// continues from there. An order is made for the observers that a write has reported. Its steps are the vertices that
/// these observers update whatever the values are: through all fixed inputs, and through an input of a tracked rule if
/// it is the only affected one. The other vertices downstream, the order's *side*, are only marked.
///
/// In the table an order is the number of its steps and the size of its side, and then their vertices. The input's row
/// (`ClosureRow`) says where its order begins.
extension GraphContext {
    /// The number of steps that may be cached in any graph, in addition to one for each edge.
    @inlinable static var leastSteps: UInt64 { 8192 }

    /// Commits a write to one input outside a batch, while nothing runs, and runs the observers that are due. Returns
    /// true if there are errors, or observers that are still due.
    @inlinable @inline(__always)
    func commitAlone(_ input: UInt32) -> Bool {
        guard core.isAtRest, !core.hasInvalidated, !core.host.pointee.hasOwners, Int(input) < table.pointee.capacity
        else {
            core.commit(input)
            return core.hasInvalidated && runObservers()
        }
        let row = core.host.pointee.rows + Int(input)
        let edgeChanges = core.edgeChanges
        if row.pointee.edgeChangesAtWrite == edgeChanges {
            if row.pointee.hasOrder { return follow(row.pointee.order, from: input) }
            if row.pointee.order == 0 { return commitMakingOrder(input, edgeChanges) }
        } else {
            row.pointee.edgeChangesAtWrite = edgeChanges
            row.pointee.order = 0
        }
        core.commit(input)
        return core.hasInvalidated && runObservers()
    }

    /// Brings the vertices of an order up to date. They are not marked first, unless other code would notice that.
    @inlinable @inline(__always)
    func follow(_ order: Int, from input: UInt32) -> Bool {
        // No order is made while one is followed, so the steps do not move.
        let header = table.pointee.steps.base + order
        return header[OrderHeader.isDirect] != 0
            ? runSteps(of: header, from: input) : takeSteps(of: header, from: input)
    }

    @inlinable @inline(never)
    func takeSteps(of header: UnsafeMutablePointer<UInt32>, from input: UInt32) -> Bool {
        var (step, end) = setOut(along: header, from: input)
        while step != end, core.takeStep(step) { step += 1 }
        return arrive()
    }

    @inlinable @inline(never)
    func runSteps(of header: UnsafeMutablePointer<UInt32>, from input: UInt32) -> Bool {
        var (step, end) = setOut(along: header, from: input)
        while step != end, core.runStep(step, because: input) { step += 1 }
        return arrive()
    }

    @inlinable @inline(__always)
    func setOut(along header: UnsafeMutablePointer<UInt32>, from input: UInt32)
        -> (step: UnsafeMutablePointer<UInt32>, end: UnsafeMutablePointer<UInt32>)
    {
        core.noteWrite(to: input, core.s.pointee.vertex(input))
        let step = header + OrderHeader.length
        let end = step + Int(header[OrderHeader.count])
        if header[OrderHeader.side] != 0 { core.mark(Int(header[OrderHeader.side]), from: end) }
        core.deferMarks(from: step, to: end)
        core.beginSteps()
        return (step, end)
    }

    /// Ends an order: all steps have been taken, or the rest has been marked. Returns the same as `runObservers`.
    @inlinable @inline(__always)
    func arrive() -> Bool {
        if _fastPath(core.defersMarks) {
            core.endDeferring()
            table.pointee.followed &+= 1
        }
        core.endSteps()
        return core.hasInvalidated ? runObservers() : core.host.pointee.hasFailures
    }

    /// The second write without a change of an edge in between: makes an order. If there is none, none is tried again
    /// until an edge changes.
    @inlinable @inline(never)
    func commitMakingOrder(_ input: UInt32, _ edgeChanges: UInt64) -> Bool {
        let before = core.counters.invalidations
        core.commit(input)
        guard core.hasInvalidated else { return false }
        if table.pointee.edgeChangesAtOrders != edgeChanges {
            table.pointee.edgeChangesAtOrders = edgeChanges
            // Index 0 means that there is no order.
            table.pointee.steps.count = 1
        }
        let start = table.pointee.steps.count
        let marked = core.counters.invalidations &- before
        for _ in 0..<OrderHeader.length { table.pointee.steps.append(0) }
        let row = core.host.pointee.rows + Int(input)
        if UInt64(start) + marked <= GraphContext.leastSteps + core.counters.liveEdges,
            let count = core.sort(Int(marked), downstreamOf: input, into: &table.pointee.steps)
        {
            let header = table.pointee.steps.base + start
            let total = table.pointee.steps.count - start - OrderHeader.length
            header[OrderHeader.count] = UInt32(truncatingIfNeeded: count)
            header[OrderHeader.side] = UInt32(truncatingIfNeeded: total - count)
            // Nobody reads an observer. So if all vertices are observers, all read the input.
            let areObservers = (0..<total).allSatisfy { core.isObserver(header[OrderHeader.length + $0]) }
            header[OrderHeader.isDirect] = areObservers ? 1 : 0
            row.pointee.order = start
        } else {
            table.pointee.steps.count = start
            row.pointee.order = ClosureRow.noOrder
        }
        return runObservers()
    }
}

extension GraphCore where Host: ~Copyable {
    /// Begins to run steps. All run from the bottom of the stack.
    @inlinable @inline(__always)
    func beginSteps() {
        s.pointee.pending.count = 1
        s.pointee.beginNesting()
    }

    @inlinable @inline(__always)
    func endSteps() {
        s.pointee.pending.count = 0
        rest()
    }

    /// True if the vertex is current, as far as its marks tell, and alive; an observer must also be watched.
    @inlinable
    func isRegular(_ vertex: UnsafeMutablePointer<Vertex>) -> Bool {
        vertex.pointee.flags.isDisjoint(with: .decisive) && !vertex.pointee.kind.isCondemned
            && (!vertex.pointee.kind.isObserver || vertex.pointee.flags.contains(.watched))
    }

    @inlinable
    func isObserver(_ index: UInt32) -> Bool { s.pointee.vertex(index).pointee.kind.isObserver }

    /// Runs an observer that reads the input itself. Returns the same as `takeStep`.
    @inlinable @inline(__always)
    func runStep(_ step: UnsafeMutablePointer<UInt32>, because input: UInt32) -> Bool {
        assert(isRegular(s.pointee.vertex(step.pointee)), "what could make it otherwise has the rest marked first")
        deferMarks(from: step + 1)
        observe(step.pointee, input, at: 0)
        return defersMarks
    }

    /// Brings a vertex of an order up to date. Returns false if something unforeseen has happened and the rest of the
    /// order has been marked.
    @inlinable @inline(__always)
    func takeStep(_ step: UnsafeMutablePointer<UInt32>) -> Bool {
        let index = step.pointee
        let vertex = s.pointee.vertex(index)
        assert(isRegular(vertex), "what could make it otherwise has the rest marked first")
        switch reason(of: vertex) {
        case .none:
            s.pointee.counters.cutOffs &+= 1
            return true
        case .unknown: return stop(at: step)
        case .change(let cause):
            deferMarks(from: step + 1)
            if vertex.pointee.kind.isObserver {
                s.pointee.nesting = 0
                observe(index, cause, at: 0)
                return defersMarks
            }
            s.pointee.nesting = 1
            Pending.store(index, in: s.pointee.pending.base)
            let outcome = runEither(index, vertex, cause, at: 0)
            if _slowPath(outcome != .finished) {
                if outcome != .finishedWithCare { markDeferred() }
                if outcome == .interrupted { updateRest() }
            }
            return defersMarks
        }
    }

    @inlinable @inline(never)
    func stop(at step: UnsafeMutablePointer<UInt32>) -> Bool {
        deferMarks(from: step)
        markDeferred()
        return false
    }

    /// Appends everything downstream of an input whose write has just marked it. First, sorted, the vertices that the
    /// reported observers bring up to date whatever the values are, found by a depth-first search upstream from the
    /// observers; then the rest. Returns the number of the former; nil if there is no such order, or if most of it
    /// would only be marked. O(vertices + edges), as the marking was.
    ///
    /// The hint of a vertex is its position in the list.
    @inlinable @inline(never)
    func sort(_ marked: Int, downstreamOf source: UInt32, into steps: inout Buffer<UInt32>) -> Int? {
        let start = steps.count
        var stack = Buffer<Search>(capacity: 16)
        for position in 0..<s.pointee.invalidated.count {
            stack.append(Search(vertex: s.pointee.invalidated.base[position].index))
            guard s.pointee.vertex(stack.base[0].vertex).pointee.kind.isObserver else { return nil }
            search: while stack.count > 0 {
                let top = stack.base + (stack.count - 1)
                let vertex = s.pointee.vertex(top.pointee.vertex)
                guard vertex.pointee.flags.intersection(.decisive) == .maybe, stack.count <= marked else { return nil }
                let inputs = inputs(of: vertex)
                while top.pointee.walked != inputs.count {
                    let input = inputs.ends[Int(top.pointee.walked)]
                    top.pointee.walked += 1
                    let row = s.pointee.vertex(input)
                    let isMarked = row.pointee.flags.contains(.maybe)
                    if !isMarked && input != source { continue }
                    if top.pointee.hasMet && !vertex.pointee.kind.isFixed { return nil }
                    top.pointee.hasMet = true
                    if !isMarked || isListed(input, in: steps, from: start) { continue }
                    stack.append(Search(vertex: input))
                    continue search
                }
                vertex.pointee.hint = UInt32(truncatingIfNeeded: steps.count)
                steps.append(top.pointee.vertex)
                stack.count -= 1
            }
        }
        let count = steps.count - start
        var vertex = source
        var next = start
        while true {
            let readers = readers(of: s.pointee.vertex(vertex))
            for slot in 0..<Int(readers.count) where !isListed(readers.ends[slot], in: steps, from: start) {
                guard steps.count - start < 2 * count else { return nil }
                s.pointee.vertex(readers.ends[slot]).pointee.hint = UInt32(truncatingIfNeeded: steps.count)
                steps.append(readers.ends[slot])
            }
            if next == steps.count { return count }
            vertex = steps.base[next]
            next += 1
        }
    }

    @inlinable
    func isListed(_ vertex: UInt32, in steps: borrowing Buffer<UInt32>, from start: Int) -> Bool {
        let hint = Int(s.pointee.vertex(vertex).pointee.hint)
        return hint >= start && hint < steps.count && steps.base[hint] == vertex
    }
}

/// The fields before the vertices of an order.
@usableFromInline
enum OrderHeader {
    /// The number of steps.
    @inlinable static var count: Int { 0 }
    /// The number of vertices that are only marked.
    @inlinable static var side: Int { 1 }
    /// 1 if all vertices are observers that read the input, so that each has to run.
    @inlinable static var isDirect: Int { 2 }
    @inlinable static var length: Int { 3 }
}

/// A vertex whose inputs are being searched.
@usableFromInline
struct Search: BitwiseCopyable {
    @usableFromInline let vertex: UInt32
    @usableFromInline var walked: UInt32 = 0
    /// True if one of its inputs was affected.
    @usableFromInline var hasMet = false

    @inlinable
    init(vertex: UInt32) { self.vertex = vertex }
}
