import AttributeValues
import Glibc

/// Tells the service manager the program's state (sd_notify(3)): datagrams of `NAME=value` lines to `$NOTIFY_SOCKET`.
/// Does nothing if there is no manager.
package final class ServiceManager {
    private let address: SocketAddress?
    private let descriptor: Int32
    /// Seconds between watchdog messages, half of the manager's timeout; nil if it has none.
    package let watchdogInterval: Double?

    /// The variables that it reads. A program that starts others removes them, so that these do not speak for it.
    package static let variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    /// - Parameter variable: the value of a variable of the environment.
    package init(_ variable: (String) -> String?) {
        address = variable("NOTIFY_SOCKET").flatMap { SocketAddress($0) }
        descriptor = address == nil ? -1 : socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isMeant = variable("WATCHDOG_PID").map { pid_t($0) == getpid() } ?? true
        let microseconds = variable("WATCHDOG_USEC").flatMap { UInt64($0) } ?? 0
        watchdogInterval = isMeant && address != nil && microseconds > 0 ? Double(microseconds) / 2e6 : nil
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    package func ready(_ status: String) { notify("READY=1\nSTATUS=\(status)") }
    package func status(_ status: String) { notify("STATUS=\(status)", mayBeLost: true) }
    package func stopping() { notify("STOPPING=1\nSTATUS=stopping") }

    package func isAlive() {
        if watchdogInterval != nil { notify("WATCHDOG=1", mayBeLost: true) }
    }

    /// The program calls `ready` when the reload is over. The time distinguishes this reload from earlier ones.
    package func reloading(at monotonic: Double) {
        notify("RELOADING=1\nMONOTONIC_USEC=\(UInt64(monotonic * 1e6))\nSTATUS=reloading")
    }

    /// - Parameter mayBeLost: do not wait for a manager that is busy.
    private func notify(_ message: String, mayBeLost: Bool = false) {
        guard let address, descriptor >= 0 else { return }
        let flags = Int32(MSG_NOSIGNAL) | (mayBeLost ? Int32(MSG_DONTWAIT) : 0)
        let bytes = Array(message.utf8)
        _ = address.withAddress { sendto(descriptor, bytes, bytes.count, flags, $0, $1) }
    }
}
