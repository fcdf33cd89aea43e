import AttributeValues
import GraphRuntime
import Logging
import Testing

@testable import DaemonServer

@Suite("Clocks that jump")
struct ClockJumpTests {
    @Test("a turn that is woken after the machine was asleep does at once what has become due") func jump() throws {
        var now = Moment(monotonic: 1000, wall: .epoch)
        let runtime = GraphRuntime(limits: RuntimeLimits(), epoch: "test", at: now)
        _ = try runtime.load("agd: 1\nnodes: [{ id: n, state: { x: { initial: 1, expires: 1h } } }]\n", file: "n.yaml")
        let configuration = Configuration()
        let sessions = Sessions(
            limits: configuration.server, access: configuration.accessRules,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let turn = Turn(sessions, runtime, nil)
        #expect(try turn.run(at: now))
        now.monotonic += 1
        #expect(try !turn.run(at: now))
        #expect(runtime.nextDeadline == 4600)
        now.asleep = 7200
        now.wall = try #require(now.wall.advanced(by: TimeSpan(nanoseconds: 7201 * 1_000_000_000)))
        #expect(try !turn.run(at: now), "nobody has told that the clocks have jumped")
        turn.wake()
        #expect(try turn.run(at: now))
        #expect(runtime.nextDeadline == nil, "the state has expired")
        #expect(try !turn.run(at: now))
    }
}
