import Foundation
import Synchronization
import TestSupport
import Testing

@testable import agd_host_feeder

@Suite("Slow readings")
struct SlowReadingTests {
    /// A reading that waits until it is released, as that of a dead mount.
    private final class Gate: Sendable {
        private let pipe: (read: Int32, write: Int32)
        let begun = Atomic(0)

        init() throws {
            var ends: [Int32] = [0, 0]
            guard Glibc.pipe(&ends) == 0 else { throw Trouble(call: "pipe") }
            pipe = (ends[0], ends[1])
        }

        func wait() -> Int? {
            let number = begun.add(1, ordering: .relaxed).newValue
            var byte: UInt8 = 0
            _ = read(pipe.read, &byte, 1)
            return number
        }

        func release() {
            var byte: UInt8 = 0
            _ = write(pipe.write, &byte, 1)
        }

        deinit {
            close(pipe.read)
            close(pipe.write)
        }
    }

    private func awaitEnd(_ probe: Probe<Int>) throws {
        for _ in 0..<10_000 {
            if probe.takeEnd() { return }
            usleep(1000)
        }
        throw Trouble("the reading did not end")
    }

    @Test("a reading that does not end is begun once, is silent after its time, and tells again when it ends")
    func hanging() throws {
        let gate = try Gate()
        let probe = Probe { gate.wait() }
        #expect(probe.reading(at: 0) == nil && !probe.isSilent(at: .max))
        probe.begin(at: 1000)
        gate.release()
        try awaitEnd(probe)
        #expect(probe.reading(at: 2000) == 1)
        #expect(!probe.takeEnd())

        let begun: Int64 = 5_000_000_000
        probe.begin(at: begun)
        let late = begun + SlowReadings.patience
        for time in [begun, late] {
            probe.begin(at: time)
            #expect(!probe.isSilent(at: time) && probe.reading(at: time) == 1)
        }
        #expect(probe.isSilent(at: late + 1) && probe.reading(at: late + 1) == nil)
        gate.release()
        try awaitEnd(probe)
        #expect(probe.reading(at: late + 1) == 2 && !probe.isSilent(at: late + 1))
        #expect(gate.begun.load(ordering: .relaxed) == 2)
    }

    @Test("a source that hangs is named, and delays none of the others") func others() throws {
        let folder = try Folder()
        // Opening a pipe that nobody writes to waits, as a dead mount does.
        let chip = folder.path + "/sys/class/hwmon/hwmon0"
        for path in ["/proc/1", "/sys/class/hwmon/hwmon0", "/root/data"] {
            try FileManager.default.createDirectory(atPath: folder.path + path, withIntermediateDirectories: true)
        }
        #expect(mkfifo(chip + "/name", 0o600) == 0)
        _ = try folder.write("1 0 8:1 / /data rw - ext4 /dev/a rw\n", to: "proc/1/mountinfo")
        let slow = SlowReadings(
            Machine(
                proc: SystemFolder(path: folder.path + "/proc"), sys: SystemFolder(path: folder.path + "/sys"),
                root: folder.path + "/root", bus: "unix:path=/nonexistent"))
        slow.begin(at: 0)
        var found: SlowSample?
        for _ in 0..<10_000 where found?.fileSystems.isEmpty != false {
            found = slow.news(at: 1) ?? found
            usleep(1000)
        }
        #expect(found?.fileSystems.map(\.id) == ["/data"])
        #expect(found?.silent == [])
        let late = SlowReadings.patience + 1
        #expect(slow.news(at: late)?.silent.contains("sensors") == true)
        // The next readings of the others begin nevertheless.
        slow.begin(at: late)
        for _ in 0..<10_000 {
            if let news = slow.news(at: late + 1), news.silent == ["sensors"] { break }
            usleep(1000)
        }
        #expect(slow.present(at: late + 1).silent == ["sensors"])
        let writer = open(chip + "/name", O_WRONLY | O_CLOEXEC)
        close(writer)
        for _ in 0..<10_000 {
            if slow.news(at: late + 2)?.silent == [] { break }
            usleep(1000)
        }
        #expect(slow.present(at: late + 2).silent == [])
    }
}
