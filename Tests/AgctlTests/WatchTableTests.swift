import AttributeValues
import Testing
import WireProtocol
@testable import agctl

@Suite("watched values")
struct WatchTableTests {
    private func update(_ revision: UInt64, _ changes: [(String, Content)], initial: Bool = false, moving: Bool = false)
        -> Event
    {
        .update(
            revision: revision, from: nil, label: nil, isInitial: initial,
            changes: changes.map { Change(path: $0.0, content: $0.1, timeline: moving ? ValueMap([("id", 1)]) : nil) },
            typed: false
        )
    }

    private func table(_ events: [Event], at now: Double = 10) -> WatchTable {
        var table = WatchTable(patterns: ["/**"], socket: "/s")
        for event in events { table.take(event, at: now) }
        return table
    }

    private func lines(_ table: WatchTable, columns: Int = 60, rows: Int = 10) -> [String] {
        var scroll = Scroll()
        return lines(table, columns: columns, rows: rows, &scroll)
    }

    private func lines(_ table: WatchTable, columns: Int = 60, rows: Int = 10, _ scroll: inout Scroll) -> [String] {
        table.text(columns: columns, rows: rows, scroll: &scroll, Style(isOn: false)).split(separator: "\n")
            .map(String.init)
    }

    @Test("the table shows each path once with its last value")
    func last() {
        let table = table([
            update(1, [("/a.b", .value(1)), ("/a.c", .failure(Failure(.cycle, "round")))], initial: true),
            update(2, [("/a.b", .value(2))]),
        ])
        #expect(lines(table) == ["/**  2 values  revision 2  /s", "/a.b  2", "/a.c  error: round"])
    }

    @Test("a value in motion is shown as displayed with its goal, and at rest as itself")
    func motion() {
        var table = table([
            update(1, [("/a.b", .value(0.0))], initial: true), update(2, [("/a.b", .value(1.0))], moving: true),
        ])
        #expect(lines(table)[1] == "/a.b  0.000 → 1.0")
        table.take(.frames(time: 0, values: [("/a.b", 0.33333), ("/unknown", 1.0)]), at: 10)
        #expect(lines(table)[1] == "/a.b  0.333 → 1.0")
        table.take(.frames(time: 0, values: [("/a.b", 1.0)]), at: 10)
        #expect(lines(table)[1] == "/a.b  1.0")
    }

    @Test("a change stands out for a while; the first values do not")
    func freshness() {
        var table = table([update(1, [("/a.b", .value(1))], initial: true)], at: 10)
        #expect(table.nextFade == nil)
        table.take(update(2, [("/a.b", .value(2))]), at: 10)
        #expect(table.nextFade == 10 + WatchTable.freshness)
        let early = table.fade(at: 10.1)
        let late = table.fade(at: 11)
        #expect(!early && late && table.nextFade == nil)
    }

    @Test("removed attributes leave the table, and a new snapshot drops what it does not name")
    func removal() {
        var table = table([
            update(1, [("/a.b", .value(1)), ("/a.c", .value(2)), ("/a.d", .value(3))], initial: true),
            update(2, [("/a.b", .failure(Failure(.removed, "gone")))]),
        ])
        #expect(table.paths == ["/a.c", "/a.d"])
        table.interrupted("lost")
        #expect(lines(table)[0] == "lost; waiting for agd")
        table.resumed(isSnapshot: true)
        table.take(update(9, [("/a.d", .value(4)), ("/a.e", .value(5))], initial: true), at: 20)
        #expect(lines(table).dropFirst() == ["/a.d  4", "/a.e  5"])
    }

    @Test("rows that do not fit are counted, and no line is wider than the terminal")
    func size() {
        let table = table([
            update(1, (0..<20).map { ("/node.attribute\($0)", .value("a rather long text")) }, initial: true)
        ])
        let lines = lines(table, columns: 30, rows: 6)
        #expect(lines.count <= 6 && lines.last == "… and 17 more")
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 30 })
    }

    @Test("a scrolled table shows its last rows, and says that they are the last ones")
    func scrolled() {
        let table = table([update(1, (0..<9).map { ("/n.a\($0)", .value(1)) }, initial: true)])
        var scroll = Scroll()
        _ = scroll.move(.end, page: 3)
        let lines = lines(table, rows: 6, &scroll)
        #expect(lines.dropFirst() == ["/n.a6  1", "/n.a7  1", "/n.a8  1", "the end of 9"])
    }
}

@Suite("changes as lines")
struct ChangeLogTests {
    private func update(_ changes: [(String, Value)], initial: Bool = false) -> Event {
        .update(
            revision: 1, from: nil, label: nil, isInitial: initial,
            changes: changes.map { Change(path: $0.0, content: .value($0.1)) },
            typed: false)
    }

    /// A log behind a reference, so that it can be asked inside an expectation.
    private final class Log {
        var log = ChangeLog()
        func text(_ event: Event) -> [String] { log.formatLines(of: event).map { "\($0.path) \($0.text)" } }
    }

    @Test("every change is a line")
    func changes() {
        let log = Log()
        #expect(log.text(update([("/a.b", 1)], initial: true)) == ["/a.b 1"])
        #expect(log.text(update([("/a.b", "x")])) == ["/a.b \"x\""])
        #expect(log.text(.frames(time: 0, values: [("/a.b", 0.5)])) == ["/a.b ~0.5"])
        #expect(log.text(.invalidate(revision: 1, paths: ["/a.b"])) == ["/a.b invalid"])
        #expect(
            log.text(.structure(revision: 1, added: ["/x"], removed: ["/y"], moved: ["/z"])) == [
                "/x added", "/y removed", "/z moved",
            ])
        #expect(
            log.text(.completion(revision: 2, transaction: 1, phase: "logical", paths: [])) == ["- completed logical 1"]
        )
    }

    @Test("after a restart only what differs is told, and what has gone")
    func snapshot() {
        let log = Log()
        _ = log.text(update([("/a.b", 1), ("/a.c", 2), ("/a.d", 3)], initial: true))
        log.log.expectSnapshot()
        #expect(log.text(update([("/a.b", 1), ("/a.c", 5)], initial: true)) == ["/a.d error: removed", "/a.c 5"])
    }

    @Test("after a restart the end of a motion is told, unless the last frame has shown it")
    func endOfMotion() {
        for (frame, told) in [(0.5, ["/a.b 1.0"]), (1.0, [])] {
            let log = Log()
            _ = log.text(update([("/a.b", 1.0)], initial: true))
            #expect(log.text(.frames(time: 0, values: [("/a.b", .double(frame))])) == ["/a.b ~\(frame)"])
            log.log.expectSnapshot()
            #expect(log.text(update([("/a.b", 1.0)], initial: true)) == told)
        }
    }

    @Test("after a restart the goal of a motion that goes on is not told again")
    func runningMotion() {
        let log = Log()
        _ = log.text(update([("/a.b", 1.0)], initial: true))
        _ = log.text(.frames(time: 0, values: [("/a.b", 0.5)]))
        log.log.expectSnapshot()
        let moving = Change(path: "/a.b", content: .value(1.0), timeline: ValueMap())
        let snapshot = Event.update(
            revision: 1, from: nil, label: nil, isInitial: true, changes: [moving], typed: false)
        #expect(log.text(snapshot) == [])
    }
}
