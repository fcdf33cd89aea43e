import CMicroHTTPD
import EventLoop
import GatewayHandlers
import Glibc

/// HTTP over sockets, by GNU libmicrohttpd on the event loop. This file has all calls of the library; exchanges do not
/// know it.
///
/// Lifetime: the server lives as long as the program, so the library's callbacks may take it unretained. The library
/// has one strong reference to a `HTTPRequest` from `begin` to `completed`, and one more for the answer's body until it
/// calls the body's release. It has one to a `HTTPPeer` between the two calls of `connection`. `MHD_Connection`
/// pointers and descriptors are used only in these times.
///
/// The library calls back only inside `run` and `accept`, which the loop calls.
final class HTTPServer {
    /// Seconds after which no further connection is accepted before others get their turn.
    private static let turn = 0.005
    private static let care = 0.5
    /// Descriptors that are not clients': the loop's, the daemon's connections, files.
    private static let reserve = 600
    /// The answer for a client beyond the maximum number of connections.
    private static let full =
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"

    fileprivate let loop: Loop
    fileprivate let open: (RequestHead, any Channel) -> Exchange
    /// Set until the program ends.
    private var daemon: OpaquePointer?
    private let listener: Int32
    private var watches: [DescriptorWatch] = []
    /// Active while the library has something to do. A timer that is due at once would run again before the loop looks
    /// at its sockets.
    private var awake: Wakefulness?
    private var rounds: BeforeSleep?
    private var carer: Timer?
    private let mostConnections: Int
    private var peers: [ObjectIdentifier: HTTPPeer] = [:]
    /// The number of connections by peer.
    private var counts: [String: Int] = [:]

    /// - Parameters:
    ///   - listener: a socket that listens.
    ///   - open: called with the head of each request.
    init(
        _ loop: Loop, listener: Int32, open: @escaping (RequestHead, any Channel) -> Exchange
    ) throws(LoopError) {
        self.loop = loop
        self.open = open
        self.listener = listener
        mostConnections = HTTPServer.raisedLimit()
        var callbacks = HTTPServer.callbacks
        let own = Unmanaged.passUnretained(self).toOpaque()
        // The library would close a connection beyond its limit without an answer.
        daemon = agd_http_start(&callbacks, own, UInt32(mostConnections * 2), Limits.head)
        guard let daemon else { throw LoopError(call: "MHD_start_daemon", number: errno) }
        awake = try Wakefulness(loop)
        rounds = try BeforeSleep(loop) { [unowned self] in
            guard let awake, awake.isAwake else { return }
            awake.isAwake = false
            run()
        }
        carer = try Timer(loop) { [unowned self] _ in care() }
        carer?.start(in: HTTPServer.care)
        watches = [
            try DescriptorWatch(loop, listener, .readable) { [unowned self] in accept() },
            try DescriptorWatch(loop, agd_http_epoll(daemon), .readable) { [unowned self] in runSoon() },
        ]
    }

    /// Raises the limit of descriptors as far as it may be.
    /// - Returns: how many connections may be accepted.
    private static func raisedLimit() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return Limits.connections }
        limit.rlim_cur = min(limit.rlim_max, rlim_t(Limits.connections + reserve))
        setrlimit(resource, &limit)
        getrlimit(resource, &limit)
        return max(reserve / 4, min(Limits.connections, Int(clamping: limit.rlim_cur) - reserve))
    }

    private static let callbacks = agd_http_callbacks(
        begin: { server, target, connection in
            guard let server = HTTPServer.own(server), let connection else { return nil }
            let request = HTTPRequest(server, connection, target: target.flatMap { String(validatingCString: $0) })
            return Unmanaged.passRetained(request).toOpaque()
        },
        step: { _, _, _, method, _, data, count, request in
            guard let request = request?.pointee, let method, let count else { return .NO }
            let own = Unmanaged<HTTPRequest>.fromOpaque(request).takeUnretainedValue()
            return own.step(method, data, count) ? .YES : .NO
        },
        completed: { _, _, request, _ in
            guard let own = request?.pointee else { return }
            request?.pointee = nil
            Unmanaged<HTTPRequest>.fromOpaque(own).takeRetainedValue().completed()
        },
        connection: { server, connection, peer, _ in
            guard let server = HTTPServer.own(server), let connection, let peer else { return }
            // The first call is that of the connection's begin, the second that of its end.
            if let own = peer.pointee {
                peer.pointee = nil
                server.forget(Unmanaged<HTTPPeer>.fromOpaque(own).takeRetainedValue())
            } else {
                let own = HTTPPeer(agd_http_descriptor(connection), at: server.now)
                peer.pointee = Unmanaged.passRetained(own).toOpaque()
                server.peers[ObjectIdentifier(own)] = own
                server.counts[own.name, default: 0] += 1
            }
        })

    private func forget(_ peer: HTTPPeer) {
        peers[ObjectIdentifier(peer)] = nil
        let rest = (counts[peer.name] ?? 0) - 1
        counts[peer.name] = rest > 0 ? rest : nil
    }

    fileprivate var now: Double { Loop.monotonicTime }

    private static func own(_ pointer: UnsafeMutableRawPointer?) -> HTTPServer? {
        pointer.map { Unmanaged<HTTPServer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// One round of the library: it takes as long as all connections with news need.
    private func run() {
        var wait: UInt64 = 0
        MHD_run(daemon)
        if MHD_get_timeout(daemon, &wait) == .YES, wait == 0 { runSoon() }
    }

    /// Has the next turn of the loop run one round of the library. The library does not tell
    /// that it has resumed a connection.
    fileprivate func runSoon() { awake?.isAwake = true }

    private func accept() {
        let end = now + HTTPServer.turn
        while now < end {
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let socket = withUnsafeMutableBytes(of: &address) {
                Glibc.accept(listener, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
            }
            guard socket >= 0 else {
                // Without a descriptor for it, the connection would be offered again and again.
                if errno == EMFILE || errno == ENFILE { watches[0].isActive = false }
                break
            }
            let name = HTTPPeer.name(of: socket)
            if peers.count >= mostConnections { evict(where: { _ in true }) }
            let count = counts[name] ?? 0
            if count >= Limits.connectionsOfPeer {
                evict(where: { $0.name == name })
            } else if count >= Limits.unfinishedOfPeer, count.isMultiple(of: Limits.evicted) {
                // Requests that have arrived are read first.
                run()
                evict(where: { $0.name == name }, over: Limits.unfinishedOfPeer)
            }
            guard peers.count < mostConnections, counts[name] ?? 0 < Limits.connectionsOfPeer else {
                _ = HTTPServer.full.utf8.withContiguousStorageIfAvailable {
                    send(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
                }
                close(socket)
                continue
            }
            // The library closes the socket, also if it cannot add it.
            withUnsafeBytes(of: &address) {
                _ = MHD_add_connection(daemon, socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
            }
        }
        runSoon()
    }

    /// Closes connections without a complete request, those that have waited longest.
    /// - Parameter limit: so many may stay.
    private func evict(where isWanted: (HTTPPeer) -> Bool, over limit: Int = 0) {
        let evicted = PeerTime.evicted(of: peers.values.filter(isWanted), over: limit, \.time)
        if evicted.isEmpty { return }
        for peer in evicted { peer.cut() }
        run()
    }

    /// Closes connections whose time is over.
    private func care() {
        let time = now
        for peer in peers.values where peer.isOver(at: time) { peer.cut() }
        if !watches[0].isActive { watches[0].isActive = true }
        carer?.start(in: HTTPServer.care)
    }
}

/// One connection of a client.
private final class HTTPPeer {
    let descriptor: Int32
    /// The other end: an address, or a user of this machine.
    let name: String
    weak var request: HTTPRequest?
    var time: PeerTime

    init(_ descriptor: Int32, at now: Double) {
        self.descriptor = descriptor
        name = HTTPPeer.name(of: descriptor)
        time = PeerTime(at: now)
    }

    static func name(of socket: Int32) -> String {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isRead = withUnsafeMutableBytes(of: &address) {
            getpeername(socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length) == 0
        }
        if isRead, address.sin_family == sa_family_t(AF_INET) {
            let number = UInt32(bigEndian: address.sin_addr.s_addr)
            return [24, 16, 8, 0].map { "\(number >> $0 & 255)" }.joined(separator: ".")
        }
        // struct ucred, which glibc declares only to GNU sources.
        var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
        length = socklen_t(MemoryLayout.size(ofValue: credentials))
        getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
        return "user \(credentials.uid)"
    }

    func isOver(at now: Double) -> Bool { time.isOver(at: now, isWaiting: request?.isWaiting == true) }

    /// Ends the connection. The library closes a connection that has failed.
    func cut() { if let request { request.close() } else { shut() } }

    func shut() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// One request that the library receives and answers.
private final class HTTPRequest: Channel {
    /// Bytes that wait for the client of a stream. With more it counts as a client that does not read.
    private static let mostWaiting = 64 << 10
    /// Bytes of an answer that the library takes at a time.
    private static let block = 16 << 10
    private static let streamBlock = 4 << 10

    private enum Phase {
        case receiving
        /// The request is complete, and the answer has yet to come.
        case waiting
        case answered
    }

    private let server: HTTPServer
    private let connected: HTTPPeer?
    private let connection: OpaquePointer
    private let target: String?
    private var received = Headers()
    private var exchange: Exchange?
    private var phase = Phase.receiving
    private var isSuspended = false
    private var isEnding = false
    private var status = Status.ok
    private var headers: [(String, String)] = []
    /// The body: all of it, or what waits in a stream.
    private var parts: [[UInt8]] = []
    /// Bytes of the first part that have been taken.
    private var taken = 0
    private(set) var waiting = 0
    private var isStream = false
    private(set) var isWritable = true
    private var watch: DescriptorWatch?

    init(_ server: HTTPServer, _ connection: OpaquePointer, target: String?) {
        self.server = server
        self.connection = connection
        self.target = target
        connected = agd_http_context(connection).map { Unmanaged<HTTPPeer>.fromOpaque($0).takeUnretainedValue() }
        connected?.request = self
    }

    var peer: String { connected?.name ?? "" }

    /// True if the client of a stream has not taken all.
    var isWaiting: Bool { waiting > 0 || !isSuspended }

    // MARK: Receiving

    /// The library calls this with the head, then with each part of the body, then at the end, and then again when it
    /// resumes the connection.
    /// - Returns: false to close the connection.
    func step(_ method: UnsafePointer<CChar>, _ data: UnsafePointer<CChar>?, _ count: UnsafeMutablePointer<Int>) -> Bool
    {
        isSuspended = false
        if isEnding { return false }
        guard let exchange else {
            readHeaders()
            let head = RequestHead(method: String(cString: method), target: target ?? "", headers: received)
            connected?.time.didReadHead(at: server.now)
            self.exchange = server.open(head, self)
            // A client that waits for permission has not sent the body.
            if phase == .answered, head.headers.first("expect") != nil { return !isEnding && queue() }
            return !isEnding
        }
        if count.pointee > 0 {
            connected?.time.didMove(count.pointee, at: server.now)
            exchange.receive(UnsafeRawBufferPointer(start: data, count: count.pointee))
            count.pointee = 0
            return true
        }
        if phase == .receiving {
            phase = .waiting
            connected?.time.didFinish(at: server.now)
            exchange.finish()
        }
        if isEnding { return false }
        if phase == .answered { return queue() }
        suspend()
        return true
    }

    private func readHeaders() {
        MHD_get_connection_values(
            connection, .HEADER_KIND,
            { request, _, name, value in
                guard let request, let name else { return .NO }
                let own = Unmanaged<HTTPRequest>.fromOpaque(request).takeUnretainedValue()
                own.received.add(String(cString: name), value.map { String(cString: $0) } ?? "")
                return .YES
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func suspend() {
        isSuspended = true
        MHD_suspend_connection(connection)
    }

    private func resume() {
        guard isSuspended else { return }
        isSuspended = false
        MHD_resume_connection(connection)
        server.runSoon()
    }

    func completed() {
        isSuspended = false
        connected?.time.didComplete(at: server.now)
        if connected?.request === self { connected?.request = nil }
        watch?.close()
        watch = nil
        exchange?.closed()
        exchange = nil
    }

    // MARK: Answering

    func answer(_ status: Status, _ headers: [(String, String)], _ body: [[UInt8]]) {
        guard phase != .answered else { return }
        phase = .answered
        (self.status, self.headers) = (status, headers)
        parts = body
        waiting = body.reduce(0) { $0 + $1.count }
        resume()
    }

    func begin(_ headers: [(String, String)]) {
        guard phase != .answered else { return }
        phase = .answered
        isStream = true
        self.headers = headers
        // While a stream waits, the library does not look whether the client has gone.
        if let connected {
            watch = try? DescriptorWatch(server.loop, connected.descriptor, .hangUp) { [unowned self] in close() }
        }
        resume()
    }

    func write(_ bytes: [UInt8]) {
        guard isStream, !isEnding, !bytes.isEmpty else { return }
        parts.append(bytes)
        waiting += bytes.count
        if waiting > HTTPRequest.mostWaiting { isWritable = false }
        resume()
    }

    func close() {
        isEnding = true
        // Otherwise the library may wait until the client reads; it closes a connection that has failed.
        if isSuspended { resume() } else { connected?.shut() }
    }

    /// Gives the answer to the library.
    private func queue() -> Bool {
        connected?.time.willAnswer(isStream: isStream, at: server.now)
        let size = isStream ? agd_http_unknown_size : UInt64(waiting)
        let block = isStream ? HTTPRequest.streamBlock : max(1, min(waiting, HTTPRequest.block))
        let own = Unmanaged.passRetained(self)
        let response = MHD_create_response_from_callback(
            size, block,
            { request, _, space, count in
                guard let request, let space else { return agd_http_failure }
                let own = Unmanaged<HTTPRequest>.fromOpaque(request).takeUnretainedValue()
                return own.read(into: UnsafeMutableRawBufferPointer(start: space, count: count))
            }, own.toOpaque(),
            { request in
                if let request { Unmanaged<HTTPRequest>.fromOpaque(request).release() }
            })
        guard let response else {
            own.release()
            return false
        }
        for (name, value) in headers { MHD_add_response_header(response, name, value) }
        headers = []
        defer { MHD_destroy_response(response) }
        return MHD_queue_response(connection, UInt32(status.rawValue), response) == .YES
    }

    /// The library has space for more of the body.
    /// - Returns: the number of bytes, or 0 if it has to wait.
    private func read(into space: UnsafeMutableRawBufferPointer) -> Int {
        isSuspended = false
        if isEnding { return agd_http_failure }
        if parts.isEmpty, !isWritable {
            isWritable = true
            exchange?.becameWritable()
        }
        var count = 0
        var part = 0
        while part < parts.count, count < space.count {
            let chunk = parts[part][taken...].prefix(space.count - count)
            UnsafeMutableRawBufferPointer(rebasing: space[count...]).copyBytes(from: chunk)
            count += chunk.count
            taken += chunk.count
            guard taken == parts[part].count else { break }
            part += 1
            taken = 0
        }
        parts.removeFirst(part)
        waiting -= count
        if count > 0 {
            connected?.time.didMove(count, at: server.now)
            return count
        }
        if isEnding { return agd_http_failure }
        suspend()
        return 0
    }
}
