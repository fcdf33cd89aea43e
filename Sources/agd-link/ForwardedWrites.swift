import AGClient
import AttributeValues
import Glibc
import WireProtocol

/// Writes of this daemon's clients to mirrored sites, on their way to the owners and back.
struct ForwardedWrites {
    /// A write that the owner has been asked to perform.
    private struct Pending {
        var copy: SiteCopy
        /// Its own, because libnats does not say which request nobody listens to.
        var inbox: Inbox
        /// Monotonic seconds. The daemon has given up long before.
        var end: Double
        var reply: ForwardedReply?
    }

    /// The action of each mirrored root that its link performs itself.
    private static let retirement = "/.\(SiteCopy.retirement)"
    private static let end = 3600.0
    private static let maximum = 10_000

    /// By the daemon's number.
    private var pending: [Int64: Pending] = [:]
    /// Sites that are to be retired, once NATS has agreed.
    private var retirements: [Int64: (copy: SiteCopy, question: Question)] = [:]
    // For the metrics.
    private(set) var count = 0

    /// The daemon has forgotten its requests.
    mutating func forget() { (pending, retirements) = ([:], [:]) }

    /// Sends new writes to their owners, and answers those that the owner has performed and the mirror has.
    /// - Parameters:
    ///   - retire: called for a site that is to be retired. It asks NATS.
    ///   - finish: called with NATS' answer; nil if it is not there yet.
    mutating func serve(
        _ connection: Connection, _ nats: NATS, _ container: [Name], _ copies: [String: SiteCopy],
        retire: (SiteCopy) throws -> Question, finish: (SiteCopy, Question) throws -> Void?
    ) throws {
        while let message = try connection.receive(timeout: 0) {
            guard case .event(_, .forward(let number, let method, let parameters, let principal, let user)) = message
            else { continue }
            let call = ForwardedCall(
                method: method, parameters: parameters, principal: principal ?? ForwardedWrites.name(of: user))
            do {
                guard let site = try forward(number, call, nats, container, copies) else { continue }
                retirements[number] = (site, try retire(site))
            } catch let failure as Failure { try answer(number, ForwardedReply(failure: failure), connection) }
        }
        for (number, (copy, question)) in retirements {
            do {
                if try finish(copy, question) == nil { continue }
                retirements[number] = nil
                let revision = Value.int(Int64(clamping: copy.revision))
                try answer(number, ForwardedReply(result: ValueMap([(.string("revision"), revision)])), connection)
            } catch let failure as Failure {
                retirements[number] = nil
                try answer(number, ForwardedReply(failure: failure), connection)
            }
        }
        if pending.isEmpty { return }
        let now = MonotonicTime.now
        for (number, write) in pending {
            guard let reply = try write.reply ?? receiveReply(write) else {
                if now > write.end { pending[number] = nil }
                continue
            }
            if let wanted = reply.position, let position = write.copy.feed.position, position < wanted {
                pending[number]?.reply = reply
                continue
            }
            pending[number] = nil
            try answer(number, reply, connection)
        }
    }

    /// - Returns: the site, if it is to be retired; then nothing has been sent.
    private mutating func forward(
        _ number: Int64, _ call: ForwardedCall, _ nats: NATS, _ container: [Name], _ copies: [String: SiteCopy]
    ) throws(Failure) -> SiteCopy? {
        var target: SiteCopy?
        let call = try call.mapPaths { (path) throws(Failure) in
            let copy = copies.values.first { path.nodes.starts(with: container + [$0.id]) }
            guard let copy else { throw Failure(.notFound, "no site has this path", path: path.description) }
            guard target == nil || target === copy else {
                throw Failure(.conflict, "a transaction changes one site", path: path.description)
            }
            target = copy
            return AttributePath(
                nodes: Array(path.nodes.dropFirst(container.count + 1)), attribute: path.attribute, steps: path.steps)
        }
        guard let copy = target else { throw Failure(.invalid, "the request names no path") }
        if call.method == "do", call.parameters["path"]?.string == ForwardedWrites.retirement { return copy }
        guard copy.told.isLive == true else { throw ForwardedWrites.silent(copy) }
        guard pending.count < ForwardedWrites.maximum else {
            throw Failure(.limit, "\(ForwardedWrites.maximum) writes wait for their owners", hint: "try again later")
        }
        do throws(NATSError) {
            let subject = try nats.newInbox()
            let inbox = try nats.listen(subject)
            try nats.send(copy.site.writes, call.json, replyTo: subject)
            pending[number] = Pending(copy: copy, inbox: inbox, end: MonotonicTime.now + ForwardedWrites.end)
        } catch { throw Failure(.unavailable, "\(error)") }
        count += 1
        return nil
    }

    private static func silent(_ copy: SiteCopy) -> Failure {
        Failure(
            .unavailable, "\(copy.site) has no owner at present, so nothing was changed",
            hint: "its machine, agd-link there or the network has failed; agctl sites shows when it was heard")
    }

    private func receiveReply(_ write: Pending) throws(NATSError) -> ForwardedReply? {
        guard let message = try write.inbox.takeNext() else { return nil }
        if message.isNoResponders { return ForwardedReply(failure: ForwardedWrites.silent(write.copy)) }
        do throws(Failure) {
            var reply = try ForwardedReply(json: message.bytes)
            reply.failure = reply.failure.map {
                // The line of a denial belongs into the owner's configuration, not into the one here.
                let hint = $0.code == .denied ? $0.hint.map { "on the owner's machine, \($0)" } : $0.hint
                return Failure($0.code, "the owner of \(write.copy.site): \($0.message)", path: $0.path, hint: hint)
            }
            return reply
        } catch { return ForwardedReply(failure: error) }
    }

    private func answer(_ number: Int64, _ reply: ForwardedReply, _ connection: Connection) throws(ClientError) {
        let error = reply.failure
        let result: Value? = error == nil ? .map(reply.result ?? ValueMap()) : nil
        // A refused answer came too late.
        do throws(ClientError) {
            _ = try connection.call(.answer(forward: number, result: result, error: error))
        } catch {
            guard case .refused = error else { throw error }
        }
    }

    /// The name under which the owner's access lines know a user of this machine.
    private static func name(of user: UInt32) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
    }
}
