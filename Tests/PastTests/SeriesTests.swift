@testable import Archive
import AttributeValues
import Foundation
import GraphRuntime
import Replay
import SceneTesting
import TestSupport
import Testing
import ViewGraph
import WireProtocol
@testable import agd_past

extension Value {
    fileprivate subscript(_ name: String) -> Value? { map?[name] }
}

/// An archive, written by lives of which each begins with what the one before has left. The test moves the clock.
private final class Recording {
    let folder = NSTemporaryDirectory() + "agd-series-" + UUID().uuidString
    static let begin = Timestamp("2026-11-28T03:00:00Z") ?? .epoch
    private let scene: String
    private var daemon: VirtualDaemon
    private var archive: Archive?
    /// Seconds since the beginning.
    private(set) var time: Double = 0

    init(_ scene: String) throws {
        self.scene = "agd: 1\n" + scene
        daemon = VirtualDaemon(at: Moment(monotonic: 1000, wall: Recording.begin))
        try start(after: nil)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func start(after earlier: VirtualDaemon?) throws {
        let revision = daemon.runtime.revision
        daemon = VirtualDaemon(after: earlier, revision: revision, at: daemon.now)
        let archive = try Archive(
            folder: folder, limits: Archive.Limits(size: 1 << 20),
            basis: Archive.Basis(release: "1", epoch: "test", scenes: [("test.yaml", scene)], machine: [:]),
            of: daemon.runtime.store, others: [])
        try daemon.runtime.load(scene, file: "test.yaml")
        _ = daemon.runtime.restore(daemon.rows)
        archive.begin(at: daemon.now, revision: revision)
        self.archive = archive
        flush()
        daemon.connect(1)
    }

    func flush() {
        guard let archive else { return }
        repeat { archive.flush(at: daemon.now, revision: daemon.runtime.revision) } while archive.wait != nil
    }

    /// Waits until a number of seconds after the beginning, and does what is due on the way.
    func wait(until time: Double) {
        var left = Int64(((time - self.time) * 1e9).rounded())
        while archive != nil, let next = daemon.wait, next.nanoseconds <= left {
            daemon.advanceClock(next)
            left -= next.nanoseconds
            daemon.turn([.woken])
            if next.nanoseconds == 0 { break }
        }
        daemon.advanceClock(TimeSpan(nanoseconds: left))
        self.time = time
    }

    func call(_ request: Request) {
        _ = daemon.call(request, from: 1)
        while !daemon.postponed.isEmpty { daemon.turn(daemon.postponed) }
    }

    func set(_ path: String, _ value: Value, at time: Double) {
        wait(until: time)
        call(.set(Mutation(operation: .set, path: path, value: value), .init()))
    }

    func apply(_ document: String, at time: Double) {
        wait(until: time)
        call(
            .apply(.init(document: .string(document), at: "/", mode: .merge, dryRun: false, options: .init())))
    }

    /// The daemon ends, and begins again later.
    func restart(from: Double, to: Double) throws {
        wait(until: from)
        stop()
        wait(until: to)
        try start(after: daemon)
    }

    /// The daemon is killed, and begins again later.
    func kill(from: Double, to: Double) throws {
        wait(until: from)
        flush()
        archive = nil
        wait(until: to)
        try start(after: daemon)
    }

    func stop() {
        daemon.end()
        archive?.close(at: daemon.now, revision: daemon.runtime.revision)
        archive = nil
    }

    func series(
        _ subject: Request.Series.Subject, from: Double = 0, to: Double = 40, points: Int = 4,
        access: AccessRules? = nil, atMost steps: Int = .max, costing cost: Int = .max, room: Int = 1 << 20
    ) throws(Failure) -> Value {
        flush()
        var past = Past(folder: folder, access: access ?? AccessRules(), limits: RuntimeLimits())
        past.outputMaximum = room
        let request = Request.Series(
            subject, from: .time(Recording.moment(from)), to: .time(Recording.moment(to)), points: points,
            changes: true)
        return try SeriesQuery(
            request, in: past, for: ClientID(number: 1), Peer(pid: 1, uid: 1000, gid: 1000), as: nil,
            now: daemon.now.wall, atMost: steps, costing: cost
        ).answer()
    }

    func log(atMost count: Int? = nil, mayReadAll: Bool = true) throws -> Value {
        flush()
        var query = try LogQuery(
            Request.Log(count: count), in: folder, mayReadAll: mayReadAll, mayRead: { _ in true }, told: { _ in .null })
        return try query.answer()
    }

    /// The only series of an answer.
    func one(_ subject: Request.Series.Subject, from: Double = 0, to: Double = 40, points: Int = 4) throws -> Value {
        let all = try #require(try series(subject, from: from, to: to, points: points)["series"]?.list)
        try #require(all.count == 1)
        return all[0]
    }

    static func moment(_ seconds: Double) -> Timestamp {
        begin.advanced(by: TimeSpan(nanoseconds: Int64((seconds * 1e9).rounded()))) ?? begin
    }

    static func gap(_ from: Double, _ to: Double) -> Value {
        ["from": .timestamp(moment(from)), "to": .timestamp(moment(to))]
    }

    /// Each change as seconds since the beginning and what it was from then on.
    static func steps(_ series: Value) -> [String] {
        (series["steps"]?.list ?? []).map { step in
            guard case .timestamp(let time)? = step["time"] else { return "\(step)" }
            return "\(time.since(begin)?.seconds ?? -1) " + (step["value"]?.jsonText ?? step["error"]?.string ?? "-")
        }
    }
}

@Suite("Series of the past")
struct SeriesTests {
    private static let scene = """
        nodes:
          - id: a
            kind: container
            state: { load: 0.0, name: idle, open: false, items: [] }
            computed: { high: load > 5.0 }
            children:
              - { if: open, then: [{ id: inside, state: { level: 5 } }] }
              - { id: rows, forEach: { in: $items, as: item, node: { state: { x: 1 } } } }
          - { id: b, state: { other: 1 } }

        """

    private func recording() throws -> Recording {
        let recording = try Recording(SeriesTests.scene)
        recording.set("/a.load", 4.0, at: 10)
        recording.set("/a.load", 8.0, at: 15)
        recording.set("/a.name", "busy", at: 15)
        recording.set("/a.open", true, at: 30)
        recording.wait(until: 40)
        return recording
    }

    @Test("a number has its least, greatest, average and last value in each stretch") func number() throws {
        let load = try recording().one(.attributes(["/a.load"]))
        #expect(load["path"] == "/a.load")
        #expect(load["least"] == [0.0, 4.0, 8.0, 8.0])
        #expect(load["greatest"] == [0.0, 8.0, 8.0, 8.0])
        #expect(load["average"] == [0.0, 6.0, 8.0, 8.0])
        #expect(load["last"] == [0.0, 8.0, 8.0, 8.0])
        #expect(load["changes"] == [0, 2, 0, 0])
        #expect(Recording.steps(load) == ["0.0 0.0", "10.0 4.0", "15.0 8.0"])
        // The stretches need not begin with a second.
        let thirds = try recording().one(.attributes(["/a.load"]), from: 5, to: 16, points: 3)
        #expect(thirds["average"]?.list?[0] == 0.0)
        #expect(thirds["last"] == [0.0, 4.0, 8.0])
    }

    @Test("a text has values and changes, and a bool counts as 0 and 1") func otherTypes() throws {
        let recording = try recording()
        let name = try recording.one(.attributes(["/a.name"]))
        #expect(name["least"] == [.null, .null, .null, .null])
        #expect(name["average"] == [.null, .null, .null, .null])
        #expect(name["last"] == ["idle", "busy", "busy", "busy"])
        #expect(name["changes"] == [0, 1, 0, 0])
        let open = try recording.one(.attributes(["/a.open"]), points: 2)
        #expect(open["average"] == [0.0, 0.5])
        #expect(open["greatest"] == [0.0, 1.0])
    }

    @Test("a rule is judged on a time in which nobody had it") func rule() throws {
        let rule = try recording().one(.rule("load * 2.0 + (open ? 100.0 : 0.0)", at: "/a"))
        #expect(rule["at"] == "/a")
        #expect(rule["average"] == [0.0, 12.0, 16.0, 116.0])
        #expect(Recording.steps(rule) == ["0.0 0.0", "10.0 8.0", "15.0 16.0", "30.0 116.0"])
    }

    @Test("operators over time fire between two records, and know what was before the beginning")
    func operators() throws {
        let recording = try recording()
        let held = try recording.one(.rule("held(open, duration('5s'))", at: "/a"))
        #expect(Recording.steps(held) == ["0.0 false", "35.0 true"])
        #expect(held["average"] == [0.0, 0.0, 0.0, 0.5])
        // From 10 to 30: 4 for five seconds, 8 for fifteen.
        let average = try recording.one(.rule("average(load, duration('20s'))", at: "/a"), from: 30, points: 1)
        #expect(abs((average["steps"]?.list?.first?["value"]?.number ?? 0) - 7) < 0.1)
    }

    @Test("clocks tick although nobody watched them") func clocks() throws {
        let recording = try Recording(
            "nodes: [{ id: a, clock: { now: every 10s }, computed: { late: now.getSeconds() >= 20 } }]\n")
        recording.wait(until: 40)
        let rule = try recording.one(.rule("now.getSeconds()", at: "/a"))
        #expect(Recording.steps(rule) == ["0.0 0", "10.0 10", "20.0 20", "30.0 30"])
        #expect(try recording.one(.attributes(["/a.late"]))["last"] == [false, false, true, true])
    }

    @Test("there is a gap while the daemon is down, and before the archive begins") func gaps() throws {
        let recording = try Recording(SeriesTests.scene)
        recording.set("/a.load", 4.0, at: 10)
        try recording.restart(from: 20, to: 30)
        recording.wait(until: 40)
        let answer = try recording.series(.attributes(["/a.load"]))
        #expect(answer["gaps"] == [Recording.gap(20, 30)])
        let load = try #require(answer["series"]?.list?.first)
        #expect(load["last"] == [0.0, 4.0, .null, 4.0])
        #expect(load["average"] == [0.0, 4.0, .null, 4.0])
        #expect(load["changes"] == [0, 1, 0, 0])
        #expect(Recording.steps(load) == ["0.0 0.0", "10.0 4.0", "20.0 -", "30.0 4.0"])
        // A rule, too, and a beginning in the gap.
        let rule = try recording.one(.rule("load > 3.0", at: "/a"), from: 25, points: 3)
        #expect(rule["last"] == [.null, true, true])
        let earlier = try recording.series(.attributes(["/a.load"]), from: -20)
        #expect(earlier["gaps"]?.list?.first == Recording.gap(-20, 0))
        // After the end nothing is known, and the future is no gap.
        recording.stop()
        recording.wait(until: 60)
        let later = try recording.series(.attributes(["/a.load"]), from: 30, to: 70)
        #expect(later["gaps"] == [Recording.gap(40, 60)])
        #expect(later["series"]?.list?.first?["last"] == [4.0, .null, .null, .null])
    }

    @Test("after a kill, the gap goes from the last record to the next start") func killed() throws {
        let recording = try Recording(SeriesTests.scene)
        recording.set("/a.load", 4.0, at: 10)
        recording.set("/b.other", 2, at: 15)
        try recording.kill(from: 20, to: 30)
        recording.wait(until: 40)
        let answer = try recording.series(.attributes(["/a.load"]))
        #expect(answer["gaps"] == [Recording.gap(15, 30)])
        let load = try #require(answer["series"]?.list?.first)
        #expect(load["last"] == [0.0, 4.0, .null, 4.0])
        #expect(Recording.steps(load) == ["0.0 0.0", "10.0 4.0", "15.0 -", "30.0 4.0"])
        #expect(try recording.log()["gaps"] == [Recording.gap(15, 30)])
    }

    @Test("log has the gaps between its transactions, for those who may read everything") func logGaps() throws {
        let recording = try Recording(SeriesTests.scene)
        recording.set("/a.load", 4.0, at: 10)
        try recording.restart(from: 20, to: 30)
        recording.set("/a.load", 5.0, at: 35)
        try recording.restart(from: 40, to: 41)
        #expect(try recording.log()["gaps"] == [Recording.gap(40, 41), Recording.gap(20, 30)])
        #expect(try recording.log(mayReadAll: false)["gaps"] == [])
        // The answer leaves out gaps before its oldest transaction.
        recording.set("/a.load", 6.0, at: 45)
        #expect(try recording.log(atMost: 1)["gaps"] == [])
    }

    @Test("a node has values while it is there: of data, and of a document") func nodes() throws {
        let recording = try recording()
        recording.set("/a/inside.level", 7, at: 42)
        recording.set("/a.open", false, at: 44)
        recording.set("/a.items", [["id": "x"]], at: 46)
        recording.apply("agd: 1\nnodes: [{ id: c, state: { y: 3 } }]", at: 50)
        recording.wait(until: 60)
        let rule = try recording.one(.rule("level * 2", at: "/a/inside"), from: 20, to: 60)
        #expect(Recording.steps(rule) == ["20.0 -", "30.0 10", "42.0 14", "44.0 -"])
        let all = try recording.series(.attributes(["/**.level", "/c.y", "/a/rows/*.x", "/a.load"]), from: 20, to: 60)
        let steps = (all["series"]?.list ?? []).map { "\($0["path"]?.string ?? "") \(Recording.steps($0))" }
        #expect(
            steps == [
                #"/a.load ["20.0 8.0"]"#, #"/a/inside.level ["20.0 -", "30.0 5", "42.0 7", "44.0 -"]"#,
                #"/a/rows/x.x ["20.0 -", "46.0 1"]"#, #"/c.y ["20.0 -", "50.0 3"]"#,
            ])
    }

    @Test("what was never there says so") func missing() throws {
        let recording = try recording()
        #expect(try recording.one(.attributes(["/a.lood"]))["error"]?["code"] == "notFound")
        #expect(throws: Failure.self) { try recording.series(.rule("x", at: "/nowhere")) }
        do throws(Failure) {
            _ = try recording.series(.rule("lood > 1.0", at: "/a"))
            Issue.record("the rule names nothing")
        } catch { #expect(error.code == .ruleType) }
        do throws(Failure) {
            _ = try recording.series(.rule("load >", at: "/a"))
            Issue.record("the rule has a mistake")
        } catch { #expect(error.code == .ruleSyntax) }
        // Of a rule that fails at times, only these times are missing.
        let failing = try recording.one(.rule("load == 8.0 ? 1 / int(load - 8.0) : 1", at: "/a"))
        #expect(failing["last"] == [1, 1, .null, .null])
        #expect(failing["error"]?["code"] == "ruleFailed")
    }

    @Test("limits are refused with what to do") func limits() throws {
        let recording = try Recording(
            "nodes: [{ id: a, state: { " + (0..<101).map { "x\($0): 0" }.joined(separator: ", ") + " } }]\n")
        for second in 1...20 { recording.set("/a.x1", .int(Int64(second)), at: Double(second)) }
        func refusal(_ body: () throws(Failure) -> Value) -> ErrorCode? {
            do throws(Failure) {
                _ = try body()
                return nil
            } catch { return error.hint == nil ? nil : error.code }
        }
        #expect(refusal { () throws(Failure) in try recording.series(.attributes(["/a.*"]), points: 2000) } == .limit)
        let one = Request.Series.Subject.attributes(["/a.x1"])
        #expect(refusal { () throws(Failure) in try recording.series(one, to: 20, atMost: 18) } == .limit)
        #expect(refusal { () throws(Failure) in try recording.series(one, to: 20, atMost: 19) } == nil)
        #expect(throws: Failure.self) { try recording.series(.attributes(["/a.x1"]), from: 20, to: 20) }
    }

    @Test("values that would make the answer too long are refused before they fill the memory") func long() throws {
        let recording = try Recording("nodes: [{ id: a, state: { text: \"\" } }]\n")
        for second in 1...20 {
            recording.set("/a.text", .string(String(repeating: "\(second % 10)", count: 9000)), at: Double(second))
        }
        do throws(Failure) {
            _ = try recording.series(.attributes(["/a.text"]), to: 20, points: 20, room: 200_000)
            Issue.record("the answer has 360 kB")
        } catch { #expect(error.code == .limit && error.message.contains("output-maximum")) }
        #expect(try recording.one(.rule("size(text)", at: "/a"), to: 20.5, points: 1)["last"] == [9000])
    }

    @Test("a rule that costs too much ends the series, not the process") func costly() throws {
        let recording = try Recording("nodes: [{ id: a, state: { x: 0 } }]\n")
        for second in 1...20 { recording.set("/a.x", .int(Int64(second)), at: Double(second)) }
        let rule = Request.Series.Subject.rule("[1, 2, 3, 4, 5, 6, 7, 8, 9].map(i, i * x).size()", at: "/a")
        do throws(Failure) {
            _ = try recording.series(rule, to: 20, costing: 500)
            Issue.record("it costs more")
        } catch { #expect(error.code == .limit && error.hint != nil) }
        #expect(throws: Never.self) { try recording.series(rule, to: 20, costing: 1_000_000) }
    }

    @Test("a client gets series of what it may read, and no more") func rights() throws {
        let recording = try recording()
        let access = AccessRules([AccessRule(.read, [.user(1000)], try PathPattern("/a/**"))], owner: 7)
        let client = ClientID(number: 1)
        let graph = try PastGraph(
            Past(folder: recording.folder, access: access, limits: RuntimeLimits()), at: nil,
            for: PastClient(client, Peer(pid: 1, uid: 1000, gid: 1000))
        ) { 0 }
        func isRefused(_ subject: Request.Series.Subject) -> Bool {
            let series = Request.Series(subject, from: .time(Recording.begin))
            return graph.runtime.refusal(of: .series(series), by: client)?.code == .denied
        }
        #expect(!isRefused(.attributes(["/a.load", "/a/**"])))
        #expect(isRefused(.attributes(["/a.load", "/b.other"])))
        #expect(isRefused(.attributes(["/**.other"])))
        #expect(!isRefused(.rule("load", at: "/a")))
        #expect(isRefused(.rule("other", at: "/b")))
        #expect(isRefused(.rule("1", at: "/")))
        // A rule cannot name what is elsewhere.
        #expect(throws: Failure.self) {
            try recording.series(.rule("$/b.other", at: "/a"), access: access)
        }
        #expect(try recording.one(.rule("$/b.other", at: "/a"))["last"] == [1, 1, 1, 1])
    }

    @Test("a rule sees what an attribute with the same rule has seen", arguments: freshSeeds(2))
    func agrees(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let rules = [
            "mean": "average(level, duration('20s'))", "speed": "rate(level, duration('30s'))",
            "last": "previous(level)", "since": "changed(level)", "hot": "held(high, duration('3s'))",
            "most": "greatest(level, duration('15s'))",
            "calm": "debounced(level, duration('2s'))", "text": "string(now) + string(level)",
        ]
        let computed = rules.map { "\($0.key): \"\($0.value)\"" }.joined(separator: ", ")
        let recording = try Recording(
            """
            nodes:
              - id: a
                state: { level: 0.0 }
                clock: { now: every 7s }
                computed: { high: level > 5.0, \(computed) }

            """)
        // Everything is watched, as a dashboard does.
        recording.call(.subscribe(.init(patterns: ["/**"])))
        for number in 0..<100 {
            let pause = Double(Int.random(in: 1...40, using: &generator)) / 8
            recording.set(
                "/a.level", .double(Double(Int.random(in: 0..<100, using: &generator)) / 7), at: recording.time + pause)
            if number % 20 == 19 {
                recording.apply("agd: 1\nnodes: [{ id: n\(number), state: { x: 1 } }]", at: recording.time + 1)
            }
        }
        // The lookback of every rule is over.
        let (from, to) = (recording.time / 2, recording.time)
        for (name, rule) in rules {
            let asRule = Recording.steps(try recording.one(.rule(rule, at: "/a"), from: from, to: to))
            let asAttribute = Recording.steps(try recording.one(.attributes(["/a.\(name)"]), from: from, to: to))
            #expect(asRule.count > 2, "seed \(seed)")
            #expect(asRule == asAttribute, "seed \(seed), \(rule)")
        }
    }
}
