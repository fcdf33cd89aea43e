/// Bytes that a network interface has transferred (`/proc/net/dev`).
struct InterfaceTraffic: Equatable {
    var id: String
    var received: Int64
    var sent: Int64

    /// What this machine sends to itself is not traffic of a network. The dashboard itself causes some.
    private static let loopback = "lo"

    /// Interfaces that have transferred anything, in the file's order, without the loopback.
    static func read(_ dev: ProcText) -> [InterfaceTraffic] {
        var dev = dev
        var interfaces: [InterfaceTraffic] = []
        while var line = dev.line() {
            // A name may contain a colon (eth0:1), its columns cannot. The two head lines have none.
            guard let name = line.text(upToLast: UInt8(ascii: ":")), let columns = line.numbers(9) else { continue }
            let traffic = InterfaceTraffic(id: String(name.drop { $0 == " " }), received: columns[0], sent: columns[8])
            if traffic.id == loopback { continue }
            if traffic.received > 0 || traffic.sent > 0 { interfaces.append(traffic) }
        }
        return interfaces
    }
}
