import AGClient
import ArgumentParser
import FlyingFox
import FlyingSocks
import Glibc
import WireProtocol

@main
struct AGDGateway: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agd-gateway",
        abstract: "Shows agd's graph over HTTP, for reading: values, live events, metrics.",
        discussion: """
            It is a client of the daemon like any other, so HTTP stays outside the daemon's process and its trust, and what it \
            may read is what its own user may: run it as a user of its own, and the access lines of agd.conf say what that is. \
            It writes nothing.

              GET /value?path=/host.status   one value, as the protocol's get answers it
              GET /watch?path=/host/**       updates, as server-sent events, which a
                                             browser reads with an EventSource
              GET /metrics                   counters, as OpenMetrics

            Options of /value are presentation and typed, those of /watch maxRate, a number, and css, as in \
            /watch?path=/host/**&maxRate=5&css=true.

            It serves this machine alone, and only requests that name it as localhost, 127.0.0.1 or by --host, so that a web \
            page elsewhere cannot have a browser read it.

            Exit status: 64 wrong usage; 69 the port is taken; 71 the system failed; 77 the port needs rights.
            """,
        version: Release.version)

    @Option(help: "The daemon's socket; otherwise AGD_SOCKET, $XDG_RUNTIME_DIR/agd/agd.sock, /run/agd/agd.sock.")
    var socket: String?

    @Option(help: "The port on 127.0.0.1; 0 takes a free one.")
    var port: UInt16 = 7210

    @Option(help: "A further name that requests may call this machine by.")
    var host: [String] = []

    func run() async throws {
        // A browser that goes away in the middle of an answer is no reason to end.
        signal(SIGPIPE, SIG_IGN)
        let gateway = try Gateway(location: .find(socket), hosts: ["localhost", "127.0.0.1"] + host)
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port), logger: .disabled, handler: gateway)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                group.addTask {
                    try await server.waitUntilListening()
                    if case .ip4(_, let port)? = await server.listeningAddress { AGDGateway.announce(port) }
                }
                // Whatever fails first ends the other.
                while try await group.next() != nil {}
            }
        } catch SocketError.failed(let call, let code, let message) {
            throw complain(call, code, message)
        }
    }

    /// Says why nothing can be served.
    /// - Returns: what to end with, as `sysexits.h` has it.
    private func complain(_ call: String, _ code: Int32, _ message: String) -> ExitCode {
        let (text, status): (String, Int32) =
            switch code {
            case EADDRINUSE: ("port \(port) of 127.0.0.1 is taken by another program", 69)
            case EACCES, EPERM: ("port \(port) of 127.0.0.1: \(message)", 77)
            default: ("\(call): \(message)", 71)
            }
        var line = "agd-gateway: \(text)\n"
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
        return ExitCode(status)
    }

    /// The one line of output: where to find it.
    private static func announce(_ port: UInt16) {
        var line = "http://127.0.0.1:\(port)\n"
        line.withUTF8 { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
