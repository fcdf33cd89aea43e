public import AttributeValues
import Glibc
public import WireProtocol

/// The reason why a call of the client library failed.
public indirect enum ClientError: Error {
    /// No daemon answered at the socket.
    case unreachable(SocketLocation, errno: Int32)
    /// A socket's path has more bytes than the system allows.
    case socketPathTooLong(String)
    /// The daemon did not answer within this time. A request may have been performed, or may be performed later.
    case timedOut(seconds: Double)
    /// The connection ended. Requests without an answer may have been performed.
    case lost(String)
    /// The daemon refused a request and changed nothing.
    case refused(RequestFault)
    /// The request succeeded, but the attribute has an error instead of a value.
    case attribute(Failure)
    /// A request was repeated for so many seconds.
    /// - last: the error of the last attempt.
    /// - unknown: the error of an attempt that the daemon may have performed; nil if it has performed none.
    case gaveUp(String, seconds: Double, attempts: Int, last: ClientError, unknown: ClientError?)
    /// The condition of `waitFor` did not become true in time. `state` says the last value or error of the attribute.
    case waited(String, seconds: Double, state: String, isLive: Bool)
    /// An attribute's value has another type than the caller asked for.
    case unexpectedType(path: String, wanted: String, found: String)
    /// A received message is not part of the protocol.
    case malformed(String)
    /// A line is longer than `LineBuffer.defaultLimit`, or waiting requests exceed `RequestChannel.maximumQueuedBytes`.
    case limit(String)
    case system(call: String, errno: Int32)
    /// The subscription ended: everything that it named has been removed.
    case ended(String)
    /// The waiting task was cancelled, or the client was closed. A request may have been performed.
    case cancelled
}

extension ClientError {
    /// The daemon's failure, if it gave one.
    public var failure: Failure? {
        switch self {
        case .refused(let fault): fault.failure
        case .attribute(let failure): failure
        case .gaveUp(_, _, _, let last, nil): last.failure
        default: nil
        }
    }

    /// True if a later attempt may succeed without any correction: the daemon is not running, or takes no more clients
    /// now.
    public var mayPass: Bool {
        switch self {
        case .unreachable(_, let code): [ENOENT, ECONNREFUSED, ECONNRESET, EAGAIN].contains(code)
        case .lost, .timedOut, .gaveUp, .waited: true
        case .refused(let fault): fault.failure.code == .limit || fault.failure.code == .unavailable
        default: false
        }
    }

    /// True if a connection that was lost may be opened again later: the daemon is away, or has just started. Then it
    /// may not have loaded the scene yet, or may take no more clients.
    package var mayPassAfterLoss: Bool {
        switch self {
        case .unreachable, .lost, .timedOut: true
        case .refused(let fault): fault.failure.code == .notFound || mayPass
        default: false
        }
    }

    /// A suggestion what to do, if there is one.
    public var hint: String? {
        switch self {
        case .unreachable(let location, let code): ClientError.advice(location, code)
        case .timedOut: "the daemon is busy or stopped; 'agctl doctor' looks for the reason, and --timeout waits longer"
        case .gaveUp(_, _, _, let last, _): last.hint
        default: failure?.hint
        }
    }

    private static func advice(_ location: SocketLocation, _ code: Int32) -> String? {
        switch code {
        case ENOENT where location.isPast, ECONNREFUSED where location.isPast:
            return "start it with 'systemctl start agd-past', or 'agd-past --config' with the settings of agd"
        case ENOENT where location.searched.isEmpty:
            return "start the daemon with 'agd --socket \(location.path)', or check the path"
        case ENOENT:
            let places = location.searched.joined(separator: " and ")
            return "looked for \(places); start the daemon with 'systemctl start agd' or 'agd', "
                + "or name its socket with --socket or \(SocketPlaces.environmentVariable)"
        case ECONNREFUSED where !isSocket(location.path):
            return "name the daemon's socket with --socket or \(SocketPlaces.environmentVariable)"
        case ECONNREFUSED: return "the socket was left behind by a daemon that has ended; start agd again"
        case EACCES, EPERM:
            guard let group = group(of: location.path) else { return nil }
            // Nobody should join the group of the superuser.
            guard group != "root" else {
                return "the socket belongs to root; run agctl as root, "
                    + "or start agd as a user of its own, as its systemd unit does"
            }
            return "the socket belongs to the group '\(group)': join it with 'sudo usermod -aG \(group) $USER' "
                + "and log in again"
        default: return nil
        }
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private static func group(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        guard let entry = getgrgid(status.st_gid), let name = entry.pointee.gr_name else {
            return String(status.st_gid)
        }
        return String(cString: name)
    }
}

extension ClientError: CustomStringConvertible {
    /// One sentence, without the hint.
    public var description: String {
        switch self {
        case .unreachable(let location, ENOENT):
            "no socket at \(location.path): \(location.isPast ? "agd-past" : "agd") does not run there"
        case .unreachable(let location, ECONNREFUSED) where !ClientError.isSocket(location.path):
            "\(location.path) is no socket"
        case .unreachable(let location, ECONNREFUSED): "nobody listens at \(location.path)"
        case .unreachable(let location, let code): "cannot connect to \(location.path): \(ClientError.text(code))"
        case .socketPathTooLong(let path):
            "the socket's path '\(path)' has \(path.utf8.count) bytes; it needs 1 to \(SocketAddress.maximumLength)"
        case .timedOut(let seconds): "agd did not answer within \(ClientError.text(seconds: seconds))"
        case .lost(let reason): "the connection to agd was lost: \(reason)"
        case .refused(let fault): fault.failure.message
        case .attribute(let failure): failure.message
        case .gaveUp(let request, let seconds, let attempts, let last, let unknown):
            "gave up '\(request)' after \(ClientError.text(seconds: seconds)) and \(attempts) attempts: \(last)"
                + (unknown == nil ? "" : "; an earlier attempt may have been performed")
        case .waited(let path, let seconds, let state, let isLive):
            "waited \(ClientError.text(seconds: seconds)) for \(path); \(state)"
                + (isLive ? "" : "; the connection is lost")
        case .unexpectedType(let path, let wanted, let found): "\(path) is a \(found), not a \(wanted)"
        case .malformed(let what): "the daemon's answer cannot be understood: \(what)"
        case .limit(let what): what
        case .system(let call, let code): "\(call): \(ClientError.text(code))"
        case .ended(let reason): "the subscription is over: \(reason)"
        case .cancelled: "cancelled"
        }
    }

    /// Three digits suffice for the time of a wait.
    private static func text(seconds: Double) -> String {
        let rounded = seconds < 10 ? (seconds * 1000).rounded() / 1000 : (seconds * 10).rounded() / 10
        return Int64(exactly: rounded).map { "\($0) s" } ?? "\(rounded) s"
    }

    static func text(_ content: Content?) -> String {
        switch content {
        case .value(let value)?: "its value is \(value.jsonText)"
        case .failure(let failure)?: "it has an error: \(failure.message)"
        case nil: "no value came"
        }
    }

    /// The system's text for the error. For existing errors it is in static memory.
    static func text(_ code: Int32) -> String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }
}
