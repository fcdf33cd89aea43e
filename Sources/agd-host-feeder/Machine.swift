import Glibc

/// The machine that is read: the kernel's folders, the file systems, and systemd.
struct Machine: Sendable {
    var proc = SystemFolder(path: "/proc")
    var sys = SystemFolder(path: "/sys")
    /// The folder below which the mount points are.
    var root = ""
    /// The address of the bus of the system.
    var bus = getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) } ?? "unix:path=/run/dbus/system_bus_socket"
}
