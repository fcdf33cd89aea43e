import AttributeValues
import CommandArguments
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
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
              GET /metrics                   counters, as OpenMetrics
              GET /healthz                   whether the gateway runs
              GET /readyz                    whether the daemon answers
              GET /login                     a form that stores a token as a cookie

            Options of GET /watch are path (several), maxRate, frames, css, events (with commas between) and since, \
            which is the id of the last received event. A browser sends that by itself when it reconnects.

            It serves this machine alone, on a port or with --listen on a Unix socket. It answers only requests for \
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
            "Listen on a Unix socket in place of the port, as unix:/run/agd-dashboard/http.sock.",
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
            "A folder of pages to serve, instead of the installed dashboard; may be repeated.", valueName: "folder"))
    var pages: [String] = []

    @Option(help: ArgumentHelp("The file of the tokens. Every request then needs a token.", valueName: "file"))
    var tokens: String?

    @Option(
        help: ArgumentHelp(
            "Make a token for a principal, print it, add its hash to the file of --tokens, and end.",
            valueName: "name")) var addToken: String?

    static func main() throws { try AGDGateway.readCommandLine(version: Release.version).run() }

    func validate() throws(UsageError) {
        guard (0...65_535).contains(port) else {
            throw UsageError("--port is a number from 0 to 65535, not '\(port)'")
        }
        if let listen { try AGDGateway.check(address: listen) }
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
        guard text.hasPrefix("unix:/") else {
            throw UsageError("--listen is unix: and an absolute path, not '\(text)'; --port gives a port")
        }
        guard text.utf8.count - "unix:".utf8.count <= SocketAddress.maximumLength else {
            throw UsageError("the path of a socket has at most \(SocketAddress.maximumLength) bytes")
        }
    }

    func run() throws {
        if let addToken, let tokens { return AGDGateway.add(addToken, to: tokens) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let settings = Gateway.Settings(
            hosts: ["localhost", "127.0.0.1"] + host.map { $0.lowercased() },
            origins: allowOrigin.map { $0.lowercased() }, isWritable: writable,
            pages: Pages(folders: pages.isEmpty ? AGDGateway.installedPages : pages),
            socket: socket ?? SocketPlaces.find().path)
        let door = try AGDGateway.opening {
            try loop.submit { [settings, tokens] in
                let tokens = try tokens.map { file in try Tokens(file: file) }
                let door = FrontDoor(settings: settings, tokens: tokens, loop: loop.assumeIsolated())
                door.start()
                return NIOLoopBound(door, eventLoop: loop)
            }.wait()
        }
        let server = ServerBootstrap(group: group).serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(HTTPConnection(door.value))
                }
            }
        do {
            if let listen {
                let channel = try AGDGateway.bind(server, to: String(listen.dropFirst("unix:".count)))
                AGDGateway.say(listen)
                try channel.closeFuture.wait()
            } else {
                let channel = try server.bind(host: "127.0.0.1", port: port).wait()
                AGDGateway.say("http://127.0.0.1:\(channel.localAddress?.port ?? port)")
                try channel.closeFuture.wait()
            }
        } catch let error as IOError { fail(error) } catch is UnixDomainSocketPathWrongType {
            // A file that is not a socket has this name.
            fail(IOError(errnoCode: EEXIST, reason: "bind"))
        }
    }

    /// The socket's owner and group may connect. A socket that an ended gateway has left is replaced.
    private static func bind(_ server: ServerBootstrap, to path: String) throws -> any Channel {
        if isAnswered(path) { throw IOError(errnoCode: EADDRINUSE, reason: path) }
        let mask = umask(0o117)
        defer { umask(mask) }
        return try server.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).wait()
    }

    /// True if a program listens on the socket.
    private static func isAnswered(_ path: String) -> Bool {
        let number = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(number) }
        return SocketAddress(path)?.withAddress { connect(number, $0, $1) == 0 } ?? false
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
    private func fail(_ error: IOError) -> Never {
        let place = listen.map { String($0.dropFirst("unix:".count)) } ?? "port \(port) of 127.0.0.1"
        let (text, status): (String, Int32) =
            switch error.errnoCode {
            case EADDRINUSE: ("\(place) is taken by another program", 69)
            case EACCES, EPERM: ("\(place): \(String(cString: strerror(error.errnoCode)))", 77)
            default: ("\(place): \(String(cString: strerror(error.errnoCode)))", 71)
            }
        AGDGateway.report(text)
        exit(status)
    }

    /// - Returns: true if it was written.
    @discardableResult private static func say(_ text: String) -> Bool { StandardOutput.write(text + "\n") }

    /// A file of tokens that cannot be used ends the gateway.
    private static func opening<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as Tokens.Unusable {
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
