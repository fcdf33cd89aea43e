/// What a network interface has transferred (`/proc/net/dev`).
struct InterfaceTraffic: Equatable {
    var id: String
    /// Bytes.
    var received: Int64
    var sent: Int64
    /// Packets that were dropped or damaged, in both directions.
    var errors: Int64
    /// True for an interface without hardware, as a bridge or a tunnel. All traffic that leaves the machine passes
    /// hardware, too.
    var isVirtual = false

    /// The loopback device is left out: messages of this machine to itself are no traffic of a network, and the
    /// dashboard causes some.
    static let loopback = "lo"

    /// Interfaces that have transferred anything, in the file's order.
    static func read(_ dev: SystemText) -> [InterfaceTraffic] {
        var dev = dev
        var interfaces: [InterfaceTraffic] = []
        while var line = dev.line() {
            // A name may contain a colon (eth0:1), its columns cannot. The two head lines have none.
            guard let name = line.text(upToLast: UInt8(ascii: ":")), let columns = line.numbers(12) else { continue }
            // Bytes, packets, errors, drops, and four more; the same of what was sent.
            let traffic = InterfaceTraffic(
                id: String(name.drop { $0 == " " }), received: columns[0], sent: columns[8],
                errors: columns[2] + columns[3] + columns[10] + columns[11])
            if traffic.received > 0 || traffic.sent > 0 { interfaces.append(traffic) }
        }
        return interfaces
    }

    /// Only hardware has this entry in `/sys`.
    var device: String { "class/net/\(id)/device" }
}
