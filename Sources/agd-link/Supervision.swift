import AttributeValues
import Glibc
import Synchronization

/// Shows the main thread that another thread still runs, and what it has counted.
final class Pulse: Sendable {
    /// A thread that shows nothing for this time hangs. All calls to the daemon and to NATS end sooner. In seconds.
    static let patience = 60.0

    /// Monotonic milliseconds.
    private let last = Atomic<Int64>(Pulse.now)

    private let latest = Mutex<[Sample]>([])

    private static var now: Int64 { Int64(MonotonicTime.now * 1000) }

    /// What the thread has counted last. The main thread reads it for the file of metrics.
    var samples: [Sample] {
        get { latest.withLock { $0 } }
        set { latest.withLock { $0 = newValue } }
    }

    func beat() { last.store(Pulse.now, ordering: .relaxed) }

    var isFresh: Bool { Double(Pulse.now - last.load(ordering: .relaxed)) < Pulse.patience * 1000 }
}

/// Tells the service manager how the program is (sd_notify(3)). Does nothing when there is no manager.
struct ServiceManager {
    private let path: String?
    /// Seconds between signs of life, half of what the manager waits for; nil when it does not.
    let watchdogInterval: Double?

    init() {
        path = getenv("NOTIFY_SOCKET").map { String(cString: $0) }
        let microseconds = getenv("WATCHDOG_USEC").flatMap { UInt64(String(cString: $0)) } ?? 0
        watchdogInterval = path != nil && microseconds > 0 ? Double(microseconds) / 2e6 : nil
    }

    func notify(_ message: String) {
        guard let path else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        // A name that begins with @ is in the abstract namespace.
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(message.utf8)
        _ = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
