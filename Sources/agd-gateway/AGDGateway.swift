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
            It is a client of the daemon like any other, so HTTP stays outside the daemon's process and its trust, and what it may
            read is what its own user may: run it as a user of its own, and the access lines of agd.conf say what that is. It
            writes nothing.

            GET /value?path=/host.status                  one value, as the protocol's get answers it
            GET /watch?path=/host/**&maxRate=5&css=true   updates, as server-sent events (an EventSource in a browser)
            GET /metrics                                  counters, as OpenMetrics

            It serves this machine alone, and only requests that name it as localhost, 127.0.0.1 or by --host, so that a web
            page elsewhere cannot have a browser read it.
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
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            try await server.waitUntilListening()
            if case .ip4(_, let port)? = await server.listeningAddress { AGDGateway.announce(port) }
            try await group.waitForAll()
        }
    }

    /// The one line of output: where to find it.
    private static func announce(_ port: UInt16) {
        var line = "http://127.0.0.1:\(port)\n"
        line.withUTF8 { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
