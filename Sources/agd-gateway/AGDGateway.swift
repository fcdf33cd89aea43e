import AttributeValues
import CommandArguments
import EventLoop
import GatewayHandlers
import Glibc
import WireProtocol

@main
struct AGDGateway: Verb {
    static let help = VerbHelp(
        name: "agd-gateway",
        summary: "Show agd's graph in a browser: the dashboard, values, live events, metrics.",
        discussion: """
            It is a client of the daemon like any other, so HTTP stays outside the daemon's process. Pages may do \
            what the gateway's user may do: run it as a user of its own, and give that user rights in the access \
            lines of agd.conf. Pages may only read, unless the gateway is started with --writable.

              /                              the dashboard
              GET /value?path=/host.status   one value, as in the protocol's get
              GET /watch?path=/host/**       updates, as server-sent events
              POST /watch                    one stream for several subscriptions
              POST /rpc                      any reading method of the protocol; with
                                             --writable also those that change values
              POST /past?page=NAME           the same from agd-past, about any moment
              GET /metrics                   counters, as OpenMetrics
              POST /write, /api/v2/write     points of Telegraf and others, with --points
              POST /hook/NAME                any JSON, with --hooks
              GET /healthz                   whether the gateway runs
              GET /readyz                    whether the daemon answers
              GET /login                     a form that stores a token as a cookie

            Options of GET /watch are path (several), maxRate, frames, css, events (with commas between) and since, \
            which is the id of the last received event. A browser sends that by itself when it reconnects.

            With --points PATH it takes points in InfluxDB's line protocol, and with --hooks PATH the JSON of webhooks. \
            Each request is one transaction, which writes entries of the map at PATH. Both need --writable and \
            --tokens.

            It serves this machine alone, on a port or with --listen on a Unix socket. With --tokens, \
            --listen tcp:ADDRESS:PORT serves other machines. It answers only requests for \
            the host localhost, 127.0.0.1 or one of --host. So a web page from elsewhere cannot read the graph \
            through a browser here. --allow-origin lets pages of another origin send requests.

            With --tokens every request needs a token, as "Authorization: Bearer TOKEN" or as the cookie of /login. \
            A token stands for a principal, which has the rights that the access lines with as:NAME give. The \
            gateway's user then needs the right admin. --add-token NAME makes a token for a principal, prints it, \
            and stores its hash.

            Exit status: 64 wrong usage; 69 the port or the socket is taken; 71 the system failed; 73 the file of \
            --add-token cannot be written; 74 the token cannot be printed; 77 the port or the socket needs rights; 78 \
            the file of the tokens is not usable.
            """)

    @Option(
        help: ArgumentHelp(
            "The daemon's socket; otherwise AGD_SOCKET, $XDG_RUNTIME_DIR/agd/agd.sock, /run/agd/agd.sock.",
            valueName: "path")) var socket: String?

    @Option(help: "The port on 127.0.0.1; 0 takes a free one.")
    var port = 7210

    @Option(
        help: ArgumentHelp(
            "Listen on a Unix socket in place of the port (unix:/run/agd-dashboard/http.sock), or on an address of "
                + "the network (tcp:192.0.2.1:7210).",
            valueName: "address")) var listen: String?

    @Option(
        help: ArgumentHelp(
            "Another host name that requests may use for this machine; may be repeated.", valueName: "name"))
    var host: [String] = []

    @Option(
        help: ArgumentHelp(
            "An origin whose pages may send requests, as https://board.example; may be repeated.", valueName: "origin"))
    var allowOrigin: [String] = []

    @Flag(help: "Let pages change the graph. Everybody who reaches the port can then do so.")
    var writable = false

    @Option(
        help: ArgumentHelp(
            "The map that gets pushed points, as /telegraf.points.", valueName: "path")) var points: String?

    @Option(
        help: ArgumentHelp(
            "The map that gets the JSON of each webhook under its name, as /hooks.received.", valueName: "path"))
    var hooks: String?

    @Option(
        help: ArgumentHelp(
            "A folder of pages to serve, instead of the installed dashboard; may be repeated.", valueName: "folder"))
    var pages: [String] = []

    @Option(help: ArgumentHelp("The file of the tokens. Every request then needs a token.", valueName: "file"))
    var tokens: String?

    @Option(
        help: ArgumentHelp(
            "Make a token for a principal, print it, add its hash to the file of --tokens, and end.",
            valueName: "name")) var addToken: String?

    static func main() { AGDGateway.readCommandLine(version: Release.version).run() }

    func validate() throws(UsageError) {
        guard (0...65_535).contains(port) else {
            throw UsageError("--port is a number from 0 to 65535, not '\(port)'")
        }
        if let listen { try AGDGateway.check(address: listen) }
        if listen?.hasPrefix("tcp:") == true, tokens == nil {
            throw UsageError("--listen on an address of the network needs --tokens FILE")
        }
        for (option, path) in [("--points", points), ("--hooks", hooks)] {
            guard let path else { continue }
            guard tokens != nil, writable else { throw UsageError("\(option) needs --writable and --tokens FILE") }
            guard let place = try? AttributePath(path), place.attribute != nil else {
                throw UsageError("\(option) is the path of a map, as /telegraf.points, not '\(path)'")
            }
        }
        for name in host where name.contains(where: { "/:".contains($0) }) {
            throw UsageError("--host is a name alone, as board.example, not '\(name)'")
        }
        for origin in allowOrigin { try AGDGateway.check(origin: origin) }
        for folder in pages where !AGDGateway.isFolder(folder) {
            throw UsageError("--pages: there is no folder \(folder)")
        }
        if addToken != nil, tokens == nil { throw UsageError("--add-token needs --tokens FILE") }
    }

    /// As browsers write it. Any other form would never match.
    private static func check(origin text: String) throws(UsageError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard text == "null" || parts.count == 3 && parts[0].hasSuffix(":") && parts[1].isEmpty && !parts[2].isEmpty
        else { throw UsageError("--allow-origin is a scheme and a host, as https://board.example, not '\(text)'") }
    }

    private static func check(address text: String) throws(UsageError) {
        if text.hasPrefix("tcp:") {
            guard tcp(text) != nil else {
                throw UsageError("--listen is tcp: with an address and a port, as tcp:192.0.2.1:7210, not '\(text)'")
            }
            return
        }
        guard text.hasPrefix("unix:/") else {
            throw UsageError(
                "--listen is unix: and an absolute path, or tcp: with an address and a port, not '\(text)'; --port "
                    + "gives a port of this machine")
        }
        guard text.utf8.count - "unix:".utf8.count <= SocketAddress.maximumLength else {
            throw UsageError("the path of a socket has at most \(SocketAddress.maximumLength) bytes")
        }
    }

    /// The address and the port of `tcp:192.0.2.1:7210`.
    private static func tcp(_ text: String) -> (address: in_addr, port: UInt16)? {
        let parts = text.dropFirst("tcp:".count).split(separator: ":", omittingEmptySubsequences: false)
        var address = in_addr()
        guard parts.count == 2, let port = UInt16(parts[1]), inet_pton(AF_INET, String(parts[0]), &address) == 1 else {
            return nil
        }
        return (address, port)
    }

    func run() {
        if let addToken, let tokens { return AGDGateway.add(addToken, to: tokens) }
        let settings = Gateway.Settings(
            hosts: ["localhost", "127.0.0.1"] + host.map { $0.lowercased() },
            origins: allowOrigin.map { $0.lowercased() }, isWritable: writable,
            pushes: Pushes(points: points, hooks: hooks),
            pages: Pages(folders: pages.isEmpty ? AGDGateway.installedPages : pages),
            socket: socket ?? SocketPlaces.find().path, machineName: LoopMachine.name)
        let tokens = tokens.map(AGDGateway.open)
        let (listener, address) = open()
        do throws(LoopError) {
            let loop = try Loop()
            let door = FrontDoor(settings: settings, tokens: tokens, LoopMachine(loop))
            door.onFault = AGDGateway.report
            let server = try HTTPServer(loop, listener: listener) { head, channel in Exchange(head, on: channel, door) }
            let turns = try BeforeSleep(loop) { door.meter.endTurn(at: Loop.processorTime) }
            door.start()
            AGDGateway.say(address)
            withExtendedLifetime((server, turns)) { loop.run() }
        } catch { fail(error.number) }
    }

    /// - Returns: the socket, and its address as clients write it.
    private func open() -> (Int32, String) {
        do throws(LoopError) {
            if let listen, let (address, port) = AGDGateway.tcp(listen) {
                let (listener, port) = try ListeningSocket.open(port: port, at: address)
                let host = listen.dropFirst("tcp:".count).prefix { $0 != ":" }
                return (listener, "http://\(host):\(port)")
            }
            if let listen { return (try ListeningSocket.open(path: String(listen.dropFirst("unix:".count))), listen) }
            let (listener, port) = try ListeningSocket.open(port: UInt16(port))
            return (listener, "http://127.0.0.1:\(port)")
        } catch { fail(error.number) }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The folder of the dashboard beside the installed program: `../share/agd/dashboard`.
    private static var installedPages: [String] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let folder = own.split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/share/agd/dashboard"
        return isFolder(folder) ? [folder] : []
    }

    /// Prints why the gateway cannot serve, and ends it with a status of `sysexits.h`.
    private func fail(_ number: Int32) -> Never {
        let place = listen.map { String($0.drop { $0 != ":" }.dropFirst()) } ?? "port \(port) of 127.0.0.1"
        let (text, status): (String, Int32) =
            switch number {
            case EADDRINUSE: ("\(place) is taken by another program", 69)
            case EACCES, EPERM: ("\(place): \(String(cString: strerror(number)))", 77)
            default: ("\(place): \(String(cString: strerror(number)))", 71)
            }
        AGDGateway.report(text)
        exit(status)
    }

    /// - Returns: true if it was written.
    @discardableResult private static func say(_ text: String) -> Bool { StandardOutput.write(text + "\n") }

    /// A file of tokens that cannot be used ends the gateway.
    private static func open(tokens file: String) -> Tokens {
        do throws(Tokens.Unusable) { return try Tokens(file: file) } catch {
            report(error.text)
            exit(78)
        }
    }

    private static func add(_ principal: String, to file: String) {
        do throws(Tokens.Unusable) {
            if say(try Tokens.add(principal, to: file)) { return }
            // Nobody has the token whose hash is now in the file.
            report("standard output: \(String(cString: strerror(errno))); the new token of \(principal) is lost")
            exit(74)
        } catch {
            report(error.text)
            exit(73)
        }
    }
}
