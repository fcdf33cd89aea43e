import AttributeValues
import WireProtocol

/// The attempts to send one request, of which none begins after `retry` seconds.
///
/// The request gets an identifier (`once`), so that the daemon performs it once although it may be sent several times.
struct Attempts {
    let request: Request
    private let retry: Double?
    private let begin = MonotonicTime.now
    private var count = 0
    private var backoff: Backoff
    /// The error of an attempt that the daemon may have performed.
    private var unknown: ClientError?

    /// - Parameter retry: nil repeats nothing.
    init(_ request: Request, retry: Double?, backoff: Backoff = Backoff()) {
        self.request = retry == nil ? request : request.identified()
        self.retry = retry
        self.backoff = backoff
    }

    /// The seconds until the next attempt.
    /// - Parameter isOfConnection: true if the daemon has refused the connection, not the request.
    /// - Throws: the error, if there is none.
    mutating func pause(after error: ClientError, isOfConnection: Bool = false) throws(ClientError) -> Double {
        if error.leavesOutcomeUnknown { unknown = error }
        guard let retry, mayPass(error, isOfConnection) else { throw error }
        count += 1
        let pause = backoff.pause()
        let waited = MonotonicTime.now - begin
        guard waited + pause <= retry else {
            throw .gaveUp(request.summary, seconds: waited, attempts: count, last: error, unknown: unknown)
        }
        return pause
    }

    private func mayPass(_ error: ClientError, _ isOfConnection: Bool) -> Bool {
        if error.leavesOutcomeUnknown { return request.mayBeRepeated }
        return switch error {
        case .unreachable: error.mayPass
        case .refused(let fault): isOfConnection || fault.failure.code == .unavailable
        default: false
        }
    }
}

extension ClientError {
    fileprivate var leavesOutcomeUnknown: Bool {
        switch self {
        case .lost, .timedOut: true
        default: false
        }
    }
}

extension Request {
    fileprivate var once: String?? {
        switch self {
        case .set(_, let options), .transact(_, let options), .do(_, _, let options): options.once
        default: nil
        }
    }

    /// True if the request is safe although it may have been performed already.
    fileprivate var mayBeRepeated: Bool {
        if let once { return once != nil }
        return switch self {
        case .hello, .ping, .subscribe, .unsubscribe, .onDisconnect: true
        case .trace: false
        default: onlyReads
        }
    }

    /// The request with an identifier, if it can have one.
    fileprivate func identified() -> Request {
        guard let once, once == nil else { return self }
        func identify(_ options: TransactionOptions) -> TransactionOptions {
            var options = options
            options.once = "\(UInt64.random(in: .min ... .max))-\(UInt64.random(in: .min ... .max))"
            return options
        }
        return switch self {
        case .set(let mutation, let options): .set(mutation, identify(options))
        case .transact(let mutations, let options): .transact(mutations, identify(options))
        case .do(let path, let arguments, let options): .do(path: path, arguments: arguments, identify(options))
        default: self
        }
    }

    /// The method, and the path if there is one.
    fileprivate var summary: String {
        let path: String? =
            switch self {
            case .get(let get): get.paths.count == 1 ? get.paths[0] : nil
            case .set(let mutation, _): mutation.path
            case .do(let path, _, _): path.text
            case .subscribe(let subscribe): subscribe.patterns.joined(separator: ", ")
            case .remove(let path, _), .move(let path, _, _, _), .explain(let path, _), .history(let path): path
            case .describe(let path, _): path
            default: nil
            }
        return path.map { "\(method) \($0)" } ?? "\(method)"
    }
}
