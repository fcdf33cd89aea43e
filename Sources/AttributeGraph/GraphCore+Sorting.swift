/// Making orders (see `Order`).
extension GraphCore where Host: ~Copyable {
    /// Sorts what is downstream of an input whose write has just marked it, as far as it can be known to be brought up to
    /// date for a target that is read from outside, or for the reported observers.
    ///
    /// If there is no order, none is looked for until an edge changes. O(vertices + edges), as the marking was.
    @inlinable @inline(never)
    func makeOrder(of input: UInt32, to target: UInt32) {
        let edgeChanges = s.pointee.counters.edgeChanges
        if s.pointee.edgeChangesAtOrders != edgeChanges {
            s.pointee.edgeChangesAtOrders = edgeChanges
            s.pointee.steps.count = 0
            // No order lies at 0.
            appendHeader(Order(to: target))
        }
        let place = s.pointee.steps.count
        appendHeader(Order(to: target))
        if collectCone(of: input) && sortCone(of: input, behind: place) {
            s.pointee.vertex(input).pointee.order = UInt32(truncatingIfNeeded: place)
        } else {
            s.pointee.pending.count = 0
            s.pointee.steps.count = place
            s.pointee.vertex(input).pointee.edgeChangesAtWrite = edgeChanges | Vertex.orderlessBit
        }
    }

    @inlinable
    func appendHeader(_ order: Order) {
        let place = s.pointee.steps.count
        for _ in 0..<Order.headerLength { s.pointee.steps.append(0) }
        self.order(at: place).initialize(to: order)
    }

    /// Appends everything downstream of an input to the steps, and lets each vertex's hint say where. False if something of
    /// it is not marked, or if it is much more than the write has marked, or too much to keep.
    @inlinable
    func collectCone(of input: UInt32) -> Bool {
        let start = s.pointee.steps.count
        let most = s.pointee.markedLast &* 2
        guard UInt64(start) + s.pointee.markedLast <= Order.leastSteps + s.pointee.counters.liveEdges,
            most <= UInt64(ConePlace.most)
        else { return false }
        var next = start
        var vertex = input
        while true {
            let readers = readers(of: s.pointee.vertex(vertex))
            for slot in 0..<Int(readers.count) {
                let reader = readers.ends[slot]
                if place(of: reader, from: start, to: s.pointee.steps.count) != nil { continue }
                let row = s.pointee.vertex(reader)
                guard UInt64(s.pointee.steps.count - start) < most, row.pointee.flags.contains(.maybe) else {
                    return false
                }
                row.pointee.hint = ConePlace(s.pointee.steps.count - start).rawValue
                s.pointee.steps.append(reader)
            }
            if next == s.pointee.steps.count { return true }
            vertex = s.pointee.steps.base[next]
            next += 1
        }
    }

    /// Where a vertex stands in the cone that lies in the steps; `nil` if it is not in it. Its hint may be anything.
    @inlinable
    func place(of vertex: UInt32, from start: Int, to end: Int) -> ConePlace? {
        let place = ConePlace(rawValue: s.pointee.vertex(vertex).pointee.hint)
        let position = start + place.position
        return position < end && s.pointee.steps.base[position] == vertex ? place : nil
    }

    /// Replaces the cone at the end of the steps by an order of the same vertices, and keeps that. False if there is a
    /// cycle, or if most of it would only be marked.
    @inlinable
    func sortCone(of source: UInt32, behind place: Int) -> Bool {
        let start = place + Order.headerLength
        let end = s.pointee.steps.count
        let target = order(at: place).pointee.target
        if target != Order.observers {
            guard visit(target, source, start, end) else { return false }
        } else {
            for position in 0..<s.pointee.invalidated.count {
                let observer = s.pointee.invalidated.base[position]
                guard s.pointee.isAlive(observer), s.pointee.vertex(observer.index).pointee.kind.isObserver,
                    visit(observer.index, source, start, end)
                else { return false }
            }
        }
        let count = s.pointee.steps.count - end
        guard count * 2 >= end - start else { return false }
        for position in start..<end {
            let index = s.pointee.steps.base[position]
            if !ConePlace(rawValue: s.pointee.vertex(index).pointee.hint).isLeft { s.pointee.steps.append(index) }
        }
        (s.pointee.steps.base + start).update(from: s.pointee.steps.base + end, count: end - start)
        s.pointee.steps.count = end
        order(at: place).pointee.count = UInt32(truncatingIfNeeded: count)
        order(at: place).pointee.sideCount = UInt32(truncatingIfNeeded: end - start - count)
        // Nobody reads an observer: in a cone of observers all read the input.
        order(at: place).pointee.isDirect =
            count == end - start
            && (start..<end).allSatisfy { s.pointee.vertex(s.pointee.steps.base[$0]).pointee.kind.isObserver }
        return true
    }

    /// Depth-first search upstream from a vertex, within the cone of a source; the stack is that of evaluation. Appends what
    /// it leaves to the steps. False on a cycle, and where it depends on values what a rule reads.
    @inlinable
    func visit(_ root: UInt32, _ source: UInt32, _ start: Int, _ end: Int) -> Bool {
        guard let place = place(of: root, from: start, to: end) else { return false }
        if place.isLeft { return true }
        guard enter(root, place) else { return false }
        search: while s.pointee.pending.count > 0 {
            let top = s.pointee.pending.count &- 1
            let index = s.pointee.pending.base[top].vertex
            let vertex = s.pointee.vertex(index)
            let inputs = inputs(of: vertex)
            var walked = s.pointee.pending.base[top].walked
            var hasMet = s.pointee.pending.base[top].hasChanged
            while walked != inputs.count {
                let input = inputs.ends[Int(walked)]
                walked &+= 1
                guard let place = self.place(of: input, from: start, to: end) else {
                    hasMet = hasMet || input == source
                    continue
                }
                if hasMet && !vertex.pointee.kind.isFixed || place.isEntered { return false }
                s.pointee.pending.base[top].note(walked, hasChanged: true)
                if !place.isLeft {
                    guard enter(input, place) else { return false }
                }
                continue search
            }
            s.pointee.pending.count = top
            vertex.pointee.hint = ConePlace(rawValue: vertex.pointee.hint).left.rawValue
            s.pointee.steps.append(index)
        }
        return true
    }

    /// Begins the search from a vertex, which must be one whose inputs decide.
    @inlinable
    func enter(_ vertex: UInt32, _ place: ConePlace) -> Bool {
        guard s.pointee.vertex(vertex).pointee.flags.intersection(.decisive) == .maybe else { return false }
        s.pointee.vertex(vertex).pointee.hint = place.entered.rawValue
        s.pointee.push(vertex)
        return true
    }
}

/// A vertex's place in a cone that is being sorted, and how far the search has come with it; kept as the vertex's hint.
@usableFromInline
struct ConePlace: BitwiseCopyable {
    @usableFromInline let rawValue: UInt32
    @usableFromInline static let most: UInt32 = 1 << 30 - 1

    @inlinable
    init(rawValue: UInt32) { self.rawValue = rawValue }

    @inlinable
    init(_ position: Int) { rawValue = UInt32(truncatingIfNeeded: position) }

    @inlinable var position: Int { Int(rawValue & ConePlace.most) }
    @inlinable var isEntered: Bool { rawValue >> 30 == 1 }
    @inlinable var isLeft: Bool { rawValue >> 30 == 2 }
    @inlinable var entered: ConePlace { ConePlace(rawValue: rawValue & ConePlace.most | 1 << 30) }
    @inlinable var left: ConePlace { ConePlace(rawValue: rawValue & ConePlace.most | 2 << 30) }
}
