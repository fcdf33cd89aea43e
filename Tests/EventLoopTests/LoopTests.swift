@testable import EventLoop
import Glibc
import Testing

@Suite("The loop")
struct LoopTests {
    @Test("due timers run before the loop sleeps") func order() throws {
        let loop = try Loop()
        var calls: [String] = []
        let timer = try Timer(loop) { _ in calls.append("timer") }
        // Once both have been called nothing may keep the loop: it would sleep for ever.
        var phase: BeforeSleep?
        phase = try BeforeSleep(loop) {
            calls.append("sleep")
            guard calls.contains("timer") else { return }
            timer.close()
            phase?.close()
        }
        timer.start(in: 0)
        loop.run()
        #expect(calls.suffix(2) == ["timer", "sleep"])
    }

    @Test("a descriptor is watched for bytes until they are read, and for a hang-up once") func descriptors() throws {
        let loop = try Loop()
        let pair = try SocketPair()
        var (reads, hangUps) = (0, 0)
        let readable = try DescriptorWatch(loop, pair.descriptor, .readable) { reads += 1 }
        _ = pair.send([1])
        for _ in 0..<3 { loop.runOnce() }
        #expect(reads == 3)
        readable.isActive = false
        loop.runOnce()
        #expect(reads == 3)
        readable.close()
        loop.runOnce()
        let hangUp = try DescriptorWatch(loop, pair.descriptor, .hangUp) { hangUps += 1 }
        for _ in 0..<3 { loop.runOnce() }
        #expect(hangUps == 0)
        pair.endSending()
        for _ in 0..<3 { loop.runOnce() }
        #expect(hangUps == 1)
        hangUp.close()
        loop.run()
        close(pair.descriptor)
        pair.close()
    }

    @Test("a timer fires once, and not at all when stopped or started anew") func timers() throws {
        let loop = try Loop()
        var fired = 0
        let timer = try Timer(loop) { _ in fired += 1 }
        timer.start(in: 0)
        timer.stop()
        loop.run()
        #expect(fired == 0)
        timer.start(in: 3600)
        timer.start(in: -5)
        loop.run()
        #expect(fired == 1)
        timer.start(in: .infinity)
        timer.close()
        loop.run()
        #expect(fired == 1)
    }

    @Test("the watch of the wall clock tells of each jump, and waits for the next one") func clockWatch() throws {
        let loop = try Loop()
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let sender = ends[1]
        func jump() { _ = write(sender, [UInt8](repeating: 0, count: 8), 8) }
        var jumps = 0
        let alarm = try Timer(loop) { _ in
            #expect(jumps == 1, "a jump is told once")
            jump()
        }
        let watch = try WallClockWatch(loop, descriptor: ends[0]) {
            jumps += 1
            if jumps == 1 { alarm.start(in: 0.02) } else { loop.stop() }
        }
        jump()
        loop.run()
        #expect(jumps == 2)
        for handle in [watch, alarm] as [Handle] { handle.close() }
        loop.run()
        close(sender)
    }

    @Test("this machine's wall clock can be watched, and is not set meanwhile") func realClock() throws {
        let loop = try Loop()
        var jumps = 0
        let watch = try WallClockWatch(loop) { jumps += 1 }
        let alarm = try Timer(loop) { _ in loop.stop() }
        alarm.start(in: 0.02)
        loop.run()
        #expect(jumps == 0)
        for handle in [watch, alarm] as [Handle] { handle.close() }
        loop.run()
    }

    @Test("while it is awake the loop does not wait") func wakefulness() throws {
        let loop = try Loop()
        let wakefulness = try Wakefulness(loop)
        var turns = 0
        let alarm = try Timer(loop) { _ in }
        let phase = try BeforeSleep(loop) {
            turns += 1
            if turns == 5 {
                wakefulness.isAwake = false
                // Only now: it must not have rung when the loop waits.
                alarm.start(in: 0.001)
            }
            if turns == 6 { loop.stop() }
        }
        wakefulness.isAwake = true
        loop.run()
        #expect(turns == 6)
        #expect(!wakefulness.isAwake)
        for handle in [wakefulness, phase, alarm] as [Handle] { handle.close() }
        loop.run()
    }

    @Test("a signal arrives as an event") func signals() throws {
        let loop = try Loop()
        var count = 0
        var hasRung = false
        let signal = try Signal(loop, SIGUSR2) { count += 1 }
        // The loop waits for it, and gives up when it does not come.
        let alarm = try Timer(loop) { _ in hasRung = true }
        alarm.start(in: 10)
        kill(getpid(), SIGUSR2)
        while count == 0, loop.runOnce(waiting: true), !hasRung {}
        #expect(count == 1)
        alarm.close()
        signal.close()
        loop.run()
    }

    @Test("an open handle lives without its owner's help, and goes when it is closed") func lifetime() throws {
        let loop = try Loop()
        weak var timer: Timer?
        var fired = false
        do {
            let made = try Timer(loop) { _ in fired = true }
            made.start(in: 0)
            timer = made
        }
        #expect(timer != nil)
        loop.run()
        #expect(fired)
        timer?.close()
        loop.run()
        #expect(timer == nil)
    }

    @Test("a failed call says which, on what, and why") func errors() throws {
        let loop = try Loop()
        let error = #expect(throws: LoopError.self) { try Listener(loop, descriptor: -1, onFailure: { _ in }) { _ in } }
        #expect(error?.call == "uv_pipe_open")
        #expect(error?.name == "EBADF")
        #expect(
            LoopError(call: "bind", number: EADDRINUSE, subject: "/x").description
                == "bind: address already in use (EADDRINUSE): /x")
        loop.run()
    }
}
