import Testing

@testable import agctl

@Suite("When a condition has come and stayed")
struct RisingEdgeTests {
    /// What it is noted as at which time, or nil to ask; and when it is due.
    private func dueTimes(_ delay: Double, _ notes: [(time: Double, isTrue: Bool?)]) -> [Double] {
        var edge = RisingEdge(delay: delay)
        var due: [Double] = []
        for (time, isTrue) in notes {
            if let isTrue { edge.note(isTrue, at: time) }
            if edge.takeIfDue(at: time) { due.append(time) }
        }
        return due
    }

    @Test("it is due once, when it has stayed for the time, and again only after it was false") func once() {
        let notes: [(Double, Bool?)] = [
            (0, nil), (10, true), (13, true), (14.9, nil), (15, nil), (16, nil), (20, true), (30, nil), (31, false),
            (32, true), (36, nil), (37, nil),
        ]
        #expect(dueTimes(5, notes) == [15, 37])
    }

    @Test("a call before its time is not due") func short() {
        #expect(dueTimes(5, [(0, true), (4, false), (9, nil), (10, true), (14, nil)]) == [])
    }

    @Test("without a time it is due at once, and tells how long it waits") func atOnce() {
        #expect(dueTimes(0, [(1, true), (2, true), (3, false), (4, true)]) == [1, 4])
        var edge = RisingEdge(delay: 5)
        #expect(edge.wait(at: 0) == nil)
        edge.note(true, at: 10)
        #expect(edge.wait(at: 12) == 3 && edge.wait(at: 20) == 0)
    }

    /// What it is noted as each second, where nil is an error; and the seconds at which it is due.
    private func dueSeconds(_ notes: [Bool?], delay: Double = 0, skipsFirst: Bool = false) -> [Int] {
        var edge = RisingEdge(delay: delay, skipsFirst: skipsFirst)
        var due: [Int] = []
        for (second, isTrue) in notes.enumerated() {
            edge.note(isTrue, at: Double(second))
            if isTrue == nil { #expect(edge.wait(at: Double(second)) == nil) }
            if edge.takeIfDue(at: Double(second)) { due.append(second) }
        }
        return due
    }

    @Test("an error is no value: it neither ends a call nor begins one, and nothing is due while it lasts")
    func errors() {
        #expect(dueSeconds([true, nil, true, nil, false, true]) == [0, 5])
        #expect(dueSeconds([nil, nil, true, nil, nil, true]) == [2])
        #expect(dueSeconds([true, nil, nil, nil, nil, true, true], delay: 3) == [5])
        #expect(dueSeconds([true, nil, false, nil, true, true], delay: 3) == [])
    }

    @Test("the first value alone makes nothing due, if that is asked for") func first() {
        #expect(dueSeconds([true, true, nil, true, false, true], skipsFirst: true) == [5])
        #expect(dueSeconds([nil, true, false, true], skipsFirst: true) == [3])
        #expect(dueSeconds([false, true], skipsFirst: true) == [1])
    }
}
