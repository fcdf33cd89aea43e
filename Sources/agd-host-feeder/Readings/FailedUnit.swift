import AttributeValues
import CSystemd
import Glibc

/// A unit that systemd counts as failed.
struct FailedUnit: Equatable, Sendable {
    /// As `nginx.service`.
    var id: String
    var description: String
    var since: Timestamp?

    /// A machine with more failed units shows the first ones.
    static let most = 100
    private static let systemd = "org.freedesktop.systemd1"
    /// Microseconds.
    private static let patience: UInt64 = 5_000_000

    /// Asks systemd over a bus.
    /// - Returns: nil if there is no bus or no systemd.
    static func read(over address: String) -> [FailedUnit]? {
        var bus: OpaquePointer?
        guard sd_bus_new(&bus) >= 0 else { return nil }
        defer { sd_bus_flush_close_unref(bus) }
        sd_bus_set_method_call_timeout(bus, patience)
        guard sd_bus_set_address(bus, address) >= 0, sd_bus_set_bus_client(bus, 1) >= 0, sd_bus_start(bus) >= 0 else {
            return nil
        }
        guard let reply = list(bus) else { return nil }
        defer { sd_bus_message_unref(reply) }
        var units: [FailedUnit] = []
        guard sd_bus_message_enter_container(reply, type("a"), "(ssssssouso)") >= 0 else { return nil }
        while units.count < most, sd_bus_message_enter_container(reply, type("r"), "ssssssouso") > 0 {
            guard let name = text(reply, "s"), let description = text(reply, "s"),
                sd_bus_message_skip(reply, "ssss") >= 0,
                let path = text(reply, "o"), sd_bus_message_skip(reply, "uso") >= 0,
                sd_bus_message_exit_container(reply) >= 0
            else { return nil }
            units.append(FailedUnit(id: name, description: description, since: since(bus, path)))
        }
        return units
    }

    private static func list(_ bus: OpaquePointer?) -> OpaquePointer? {
        var call: OpaquePointer?
        let made = sd_bus_message_new_method_call(
            bus, &call, systemd, "/org/freedesktop/systemd1", systemd + ".Manager", "ListUnitsFiltered")
        guard made >= 0 else { return nil }
        defer { sd_bus_message_unref(call) }
        guard let state = strdup("failed") else { return nil }
        defer { free(state) }
        var states: [UnsafeMutablePointer<CChar>?] = [state, nil]
        var reply: OpaquePointer?
        guard sd_bus_message_append_strv(call, &states) >= 0, sd_bus_call(bus, call, 0, nil, &reply) >= 0 else {
            return nil
        }
        return reply
    }

    /// Since when a unit has had its state.
    private static func since(_ bus: OpaquePointer?, _ path: String) -> Timestamp? {
        var microseconds: UInt64 = 0
        let found = sd_bus_get_property_trivial(
            bus, systemd, path, systemd + ".Unit", "StateChangeTimestamp", nil, type("t"), &microseconds)
        guard found >= 0, microseconds > 0 else { return nil }
        return Timestamp(
            seconds: Int64(microseconds / 1_000_000), nanoseconds: Int64(microseconds % 1_000_000) * 1000)
    }

    private static func text(_ message: OpaquePointer?, _ kind: Unicode.Scalar) -> String? {
        var text: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(message, type(kind), &text) > 0, let text else { return nil }
        return String(cString: text)
    }

    private static func type(_ letter: Unicode.Scalar) -> CChar { CChar(letter.value) }
}
