import AttributeValues
import BenchmarkSupport
import Glibc
import TestSupport

/// Measures how long agd-past takes to go to a moment: in its first connection, for the first time in another one, and
/// then back and forth.
/// - Parameter program: agd.
func measureSeeks(_ program: String) throws {
    let past = program + "-past"
    guard access(past, X_OK) == 0 else { throw Trouble("agd-past is not built: swift build --product agd-past") }
    for (name, nodes, writes, rule) in [
        ("1,000 nodes", 1000, 100_000, "v > 50.0"),
        ("1,000 nodes, each with an average", 1000, 50_000, "average(v, duration('20s')) > 50.0"),
        ("100,000 nodes", 100_000, 500_000, "v > 50.0"),
    ] {
        let places = (0..<nodes).map { #"{"id":"n\#($0)","state":{"v":0.0},"computed":{"high":"\#(rule)"}}"# }
        let daemon = try DaemonProcess(
            program, scene: #"{"nodes":[{"id":"host","children":[\#(places.joined(separator: ","))]}]}"#, hasStore: true
        )
        // A moment can be shown when the image before it is complete.
        sleep(UInt32(1 + nodes / 20_000))
        try write(writes, to: nodes, of: daemon)
        daemon.terminate()
        guard daemon.hasEnded(within: 60) else { throw Trouble("the daemon does not end") }
        let folder = try Folder()
        let socket = folder.file("past.sock")
        let server = try ChildProcess([past, "--state-directory", daemon.store, "--socket", socket])
        let alone = try seek(in: DaemonClient(socket, patience: 10), to: writes / 2)
        // agd-past makes a graph for the next ones.
        sleep(5)
        let first = try (0..<3).map { _ in try seek(in: DaemonClient(socket), to: writes / 2) }
        let client = try DaemonClient(socket)
        _ = try seek(in: client, to: writes / 2)
        let later = try (0..<30).map { _ in try seek(in: client, to: Int.random(in: writes / 4..<writes)) }
        tell(
            #"{"case":"seek, \#(name)","aloneMs":\#(text(alone * 1000)),"firstMs":\#(text(first.sorted()[1] * 1000)),"#
                + #""p50Ms":\#(text(later.sorted()[15] * 1000))}"#)
        withExtendedLifetime(server) {}
    }
}

/// Writes the places in turn, each ten times a second at most, as often as the archive keeps a state.
private func write(_ writes: Int, to nodes: Int, of daemon: DaemonProcess) throws {
    let (writer, window) = (try DaemonClient(daemon.socketPath), 100)
    let begin = MonotonicTime.now
    for first in stride(from: 0, to: writes, by: window) {
        let lines = (first..<first + window).map {
            DaemonClient.line("set", #"{"path":"/host/n\#($0 % nodes).v","value":\#(Double($0 % 997) / 10)}"#)
        }
        try writer.send(lines.joined())
        for _ in 0..<window { _ = try writer.reply() }
        let early = begin + Double(first) / Double(10 * nodes) - MonotonicTime.now
        if early > 0 { usleep(UInt32(early * 1e6)) }
    }
}

private func seek(in client: DaemonClient, to revision: Int) throws -> Double {
    let begin = MonotonicTime.now
    try client.result("seek", #"{"time":\#(revision)}"#)
    return MonotonicTime.now - begin
}
