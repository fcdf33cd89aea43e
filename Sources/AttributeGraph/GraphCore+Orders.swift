/// While no edge changes, a write to an input concerns the same vertices every time, and they can be evaluated in the same
/// order. It is kept as the input's *order*: everything downstream of it, topologically sorted. One pass over a list then
/// takes the place of the walks that mark and evaluate.
///
/// An order is made for the observers that a write has reported, or for the attribute that was read from outside after it.
/// Its *steps* are what the walk would bring up to date too, whatever values turn up: what these reach upstream through all
/// fixed inputs, and through the input of a tracked rule that is the only one the write concerns. What else is downstream,
/// its *side*, is only marked.
///
/// It decides nothing but the order: each vertex is asked on the spot whether it has to run. While closures run, the rest
/// counts as a batch that has not settled: who does anything but read what he read last time has it settled first, which
/// marks the rest, and then the walk goes on with it.
extension GraphCore where Host: ~Copyable {
    // MARK: Writing

    /// The order of the one write of a batch that has been closed, if this is all that is due.
    @inlinable @inline(__always)
    var orderOfBatch: UnsafeMutablePointer<Order>? {
        guard s.pointee.logCount == 1 else { return nil }
        let input = s.pointee.log.pointee.input
        let vertex = s.pointee.vertex(input.index)
        let order = orderToObservers(of: vertex)
        assert(
            order == nil || vertex.pointee.generation == input.generation, "the edges of one that is gone went with it")
        return order
    }

    /// Settles the one write of a batch, whose input lives. Returns the input if it then holds another value than before.
    @inlinable @inline(__always)
    func settleOne() -> UInt32? {
        s.pointee.logCount = 0
        s.pointee.revision &+= 1
        let entry = s.pointee.log.move()
        let input = entry.input.index
        return hasSettled(s.pointee.vertex(input), entry.old) ? input : nil
    }

    /// An input's order, if it leads to observers, at rest, and none is due.
    @inlinable @inline(__always)
    func orderToObservers(of vertex: UnsafeMutablePointer<Vertex>) -> UnsafeMutablePointer<Order>? {
        guard s.pointee.pending.count == 0, s.pointee.invalidated.count == 0, let order = order(of: vertex),
            order.pointee.target == Order.observers
        else { return nil }
        return order
    }

    /// An input's order, if it has one and no edge has changed since.
    @inlinable @inline(__always)
    func order(of vertex: UnsafeMutablePointer<Vertex>) -> UnsafeMutablePointer<Order>? {
        vertex.pointee.order != 0 && vertex.pointee.edgeChangesAtWrite == s.pointee.counters.edgeChanges
            ? order(at: Int(vertex.pointee.order)) : nil
    }

    @inlinable @inline(__always)
    func order(at place: Int) -> UnsafeMutablePointer<Order> {
        UnsafeMutableRawPointer(s.pointee.steps.base + place).assumingMemoryBound(to: Order.self)
    }

    /// An input holds another value than before, and is the only one that does. Marks what is downstream, and prepares for what
    /// comes next if no edge has changed since the last write.
    @inlinable @inline(__always)
    func commitAlone(_ input: UInt32) {
        let vertex = s.pointee.vertex(input)
        noteWrite(to: input, vertex)
        let edgeChanges = s.pointee.counters.edgeChanges
        let since = vertex.pointee.edgeChangesAtWrite ^ edgeChanges
        if since == 0 { return commitAgain(input) }
        if since != Vertex.orderlessBit {
            vertex.pointee.edgeChangesAtWrite = edgeChanges
            vertex.pointee.order = 0
        }
        s.pointee.upcoming = .none
        markReaders(of: input)
    }

    @inlinable @inline(never)
    func commitAgain(_ input: UInt32) {
        let isUndisturbed = s.pointee.pending.count == 0 && s.pointee.invalidated.count == 0
        let vertex = s.pointee.vertex(input)
        let order = order(of: vertex)
        let isCurrent = order?.pointee.isCurrent ?? false
        order?.pointee.isCurrent = false
        if let order, isCurrent && isUndisturbed {
            // All of it is current, because its target has been read; the marks are paid by that.
            let marked = mark(order.pointee.count, from: Order.steps(of: order))
            markSide(of: order)
            s.pointee.upcoming = marked == order.pointee.count ? .order(at: vertex.pointee.order) : .input(input)
            return
        }
        let before = s.pointee.counters.invalidations
        markReaders(of: input)
        s.pointee.markedLast = s.pointee.counters.invalidations &- before
        if !isUndisturbed {
            s.pointee.upcoming = .none
        } else if s.pointee.invalidated.count != 0 {
            s.pointee.upcoming = .none
            if order == nil { makeOrder(of: input, to: Order.observers) }
        } else if order == nil || s.pointee.upcoming != .order(at: vertex.pointee.order) {
            s.pointee.upcoming = .input(input)
        }
    }

    /// Marks a few steps. Returns how many were not marked before.
    @inlinable @inline(__always)
    func mark(_ count: UInt32, from first: UnsafeMutablePointer<UInt32>) -> UInt32 {
        let vertices = s.pointee.vertices
        var step = first
        let end = first + Int(count)
        var marked: UInt64 = 0
        while step != end {
            // Nothing is running that has read it: see `hasRead`.
            _ = mark(vertices[step.pointee], step.pointee, .max, &marked)
            step += 1
        }
        s.pointee.counters.invalidations &+= marked
        return UInt32(truncatingIfNeeded: marked)
    }

    @inlinable @inline(__always)
    func markSide(of order: UnsafeMutablePointer<Order>) {
        if order.pointee.sideCount != 0 {
            _ = mark(order.pointee.sideCount, from: Order.steps(of: order) + Int(order.pointee.count))
        }
    }

    // MARK: Following

    /// Runs what a write concerns, observers included. Nothing of it is marked beforehand.
    ///
    /// That all of it was current before is certain: an observer that was not would have been reported, and be due.
    @inlinable @inline(__always)
    func observe(along order: UnsafeMutablePointer<Order>, from input: UInt32) {
        setOut(along: order, from: input)
        markSide(of: order)
        takeSteps(of: order)
        arrive()
    }

    /// As `observe(along:from:)`, where all steps are observers that read the input.
    @inlinable @inline(__always)
    func observeDirectly(along order: UnsafeMutablePointer<Order>, from input: UInt32) {
        setOut(along: order, from: input)
        runSteps(of: order, because: input)
        arrive()
    }

    /// Counts and notes down a write whose order is about to be followed.
    @inlinable @inline(__always)
    func setOut(along order: UnsafeMutablePointer<Order>, from input: UInt32) {
        noteWrite(to: input, s.pointee.vertex(input))
        s.pointee.counters.invalidations &+= UInt64(order.pointee.count)
        s.pointee.upcoming = .none
        s.pointee.logCount = GraphStorage<Host>.restOfOrder
    }

    /// Before an attribute is read from outside, at rest, after a single write: follows that write's order if it leads to
    /// the attribute, or makes one for the next time. Marks are set already.
    @inlinable @inline(never)
    func validateAfterWrite(_ target: UInt32) {
        let upcoming = s.pointee.upcoming
        s.pointee.upcoming = .none
        if upcoming.isInput {
            if order(of: s.pointee.vertex(upcoming.number)) == nil { makeOrder(of: upcoming.number, to: target) }
        } else if s.pointee.edgeChangesAtOrders == s.pointee.counters.edgeChanges {
            let order = order(at: Int(upcoming.number))
            if order.pointee.target != target {
                s.pointee.upcoming = upcoming
                return validateAtRest(target)
            }
            takeSteps(of: order)
            arrive()
        }
        if s.pointee.vertex(target).pointee.flags.contains(.maybe) { validateAtRest(target) }
        noteCurrent(target, upcoming)
    }

    /// A target has been read after a write whose order, if it has one, may lead there: everything upstream of what is current is
    /// current.
    @inlinable @inline(__always)
    func noteCurrent(_ target: UInt32, _ upcoming: Upcoming) {
        guard s.pointee.edgeChangesAtOrders == s.pointee.counters.edgeChanges,
            s.pointee.vertex(target).pointee.flags.isDisjoint(with: .maybeOrRunning)
        else { return }
        let order = upcoming.isInput ? order(of: s.pointee.vertex(upcoming.number)) : order(at: Int(upcoming.number))
        if let order, order.pointee.target == target { order.pointee.isCurrent = true }
    }

    /// Leaves rest. All steps of an order run from the bottom of the stack.
    @inlinable @inline(__always)
    func beginOrder(_ order: UnsafeMutablePointer<Order>) {
        s.pointee.followedOrder = order
        s.pointee.pending.count = 1
        s.pointee.beginNesting()
    }

    /// An order has been followed to its end.
    @inlinable @inline(__always)
    func endOrder() {
        s.pointee.followedOrder = nil
        s.pointee.logCount = 0
        s.pointee.counters.followed &+= 1
    }

    /// An order has been followed, as far as that went: nothing runs any more.
    @inlinable @inline(__always)
    func arrive() {
        s.pointee.pending.count = 0
        rest()
    }

    /// Runs all steps of an order whose observers read the input themselves.
    @inlinable @inline(__always)
    func runSteps(of order: UnsafeMutablePointer<Order>, because input: UInt32) {
        var step = Order.steps(of: order)
        let end = step + Int(order.pointee.count)
        beginOrder(order)
        // No order is empty.
        repeat {
            let index = step.pointee
            step += 1
            s.pointee.followedTo = step
            if !observe(index, input, at: 0) && s.pointee.followedOrder == nil { return }
        } while step != end
        endOrder()
    }

    /// Asks one step after the other whether it has to run, and runs it. Stops, and marks the rest, where something else
    /// turns up than was foreseen.
    @inlinable @inline(__always)
    func takeSteps(of order: UnsafeMutablePointer<Order>) {
        var step = Order.steps(of: order)
        let end = step + Int(order.pointee.count)
        beginOrder(order)
        // No order is empty.
        repeat {
            let index = step.pointee
            let vertex = s.pointee.vertex(index)
            assert(
                vertex.pointee.flags.isDisjoint(with: .runningStaleOrCyclic),
                "what could make it so has settled the order")
            step += 1
            switch reason(of: vertex) {
            case .none:
                vertex.pointee.flags = vertex.pointee.flags.subtracting(.maybe)
                s.pointee.counters.cutOffs &+= 1
                continue
            case .unknown: return stopFollowing(at: step - 1)
            case .change(let cause):
                s.pointee.followedTo = step
                if vertex.pointee.kind.isObserver {
                    s.pointee.nesting = 0
                    if !observe(index, cause, at: 0) && s.pointee.followedOrder == nil { return }
                } else {
                    s.pointee.nesting = 1
                    Pending.store(index, in: s.pointee.pending.base)
                    let outcome = runEither(index, vertex, cause, at: 0)
                    if _slowPath(outcome != .finished) {
                        if outcome != .finishedWithCare { markRest() }
                        if outcome == .interrupted { updateRest() }
                        if s.pointee.followedOrder == nil { return }
                    }
                }
            }
        } while step != end
        endOrder()
    }

    @inlinable @inline(never)
    func stopFollowing(at step: UnsafeMutablePointer<UInt32>) {
        s.pointee.followedTo = step
        markRest()
    }

    /// Before anything that could tell, or that what follows in an order might not survive.
    @inlinable @inline(__always)
    func settleOrder() { if _slowPath(s.pointee.followedOrder != nil) { markRest() } }

    /// The order is not followed any further: what comes in it is marked, and observers reported, as if the write had only
    /// just been noticed.
    @inlinable @inline(never)
    func markRest() {
        guard let order = s.pointee.followedOrder else { return }
        s.pointee.followedOrder = nil
        s.pointee.attention.insert(.strayed)
        // Of an order to what is read from outside all steps have been marked by the write.
        if s.pointee.logCount == 0 { return }
        s.pointee.logCount = 0
        let before = s.pointee.counters.invalidations
        let left = Order.steps(of: order) + Int(order.pointee.count) - s.pointee.followedTo
        _ = mark(UInt32(truncatingIfNeeded: left), from: s.pointee.followedTo)
        // They have been counted.
        s.pointee.counters.invalidations = before
    }

    /// What an order would run is not watched any more, or on a cycle: none is followed to observers until an edge changes. O(orders).
    @inlinable
    func forgetOrders() {
        var place = 0
        while place != s.pointee.steps.count {
            let order = order(at: place)
            order.pointee.target = Order.nobody
            place += Order.headerLength + Int(order.pointee.count) + Int(order.pointee.sideCount)
        }
    }
}

/// What precedes an order's steps, and then its side, where they lie.
///
/// Lifetime: until the next order is made, which never happens while one is followed.
@usableFromInline
struct Order: BitwiseCopyable {
    /// What is read from outside; or `observers`, which are in the steps in the order of their reports; or `nobody`.
    @usableFromInline var target: UInt32
    /// How many steps there are, and how many vertices beside.
    @usableFromInline var count: UInt32 = 0
    @usableFromInline var sideCount: UInt32 = 0
    /// Of an order to what is read from outside: all steps have been current at once since they were last marked.
    @usableFromInline var isCurrent = false
    /// All steps are observers that read the input themselves: each has to run.
    @usableFromInline var isDirect = false

    @usableFromInline static let observers: UInt32 = 0
    @usableFromInline static let nobody = UInt32.max
    /// So many steps are kept in any graph, and one for each edge beside.
    @usableFromInline static let leastSteps: UInt64 = 8192

    @inlinable
    init(to target: UInt32) { self.target = target }

    @inlinable static var headerLength: Int { MemoryLayout<Order>.stride / MemoryLayout<UInt32>.stride }

    @inlinable @inline(__always)
    static func steps(of order: UnsafeMutablePointer<Order>) -> UnsafeMutablePointer<UInt32> {
        UnsafeMutableRawPointer(order + 1).assumingMemoryBound(to: UInt32.self)
    }
}

/// What the last write has prepared for the next update: nothing; an order whose steps it has marked, all of which were
/// current before; or an input that may get an order.
@usableFromInline
struct Upcoming: Equatable, BitwiseCopyable {
    @usableFromInline let rawValue: UInt64

    @inlinable @inline(__always)
    init(rawValue: UInt64) { self.rawValue = rawValue }

    @inlinable static var none: Upcoming { Upcoming(rawValue: 0) }
    @inlinable @inline(__always)
    static func order(at place: UInt32) -> Upcoming { Upcoming(rawValue: UInt64(place)) }
    @inlinable @inline(__always)
    static func input(_ row: UInt32) -> Upcoming { Upcoming(rawValue: 1 << 32 | UInt64(row)) }

    @inlinable @inline(__always)
    var isInput: Bool { rawValue >> 32 != 0 }
    @inlinable @inline(__always)
    var number: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
}
