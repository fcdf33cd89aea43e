/// One request and its answer: collects the request, and answers it over the channel.
///
/// The channel's owner calls `receive` for each part of the body, `finish` at the end of the request, `becameWritable`
/// when the client of a stream reads again, and `closed` once, last: when the answer is complete or the connection is
/// closed.
package final class Exchange {
    private let door: FrontDoor
    private let head: RequestHead
    /// Nil when the exchange is over.
    private var channel: (any Channel)?
    /// Nil after a refusal.
    private var admission: FrontDoor.Admission?
    /// Pays for the body, for requests to the daemon, and for the answer.
    private let memory: Account
    private var body: [UInt8] = []
    private var stream: (page: PageStream, gateway: Gateway)?

    /// Answers a request at once that is refused for its head.
    package init(_ head: RequestHead, on channel: any Channel, _ door: FrontDoor) {
        self.head = head
        self.channel = channel
        self.door = door
        do throws(Answer) {
            let admission = try door.admit(head)
            self.admission = admission
            memory = Account(
                door.budgets.memory, Owners(peer: channel.peer, principal: admission.principal).names, free: Limits.free
            )
        } catch {
            memory = Account(door.budgets.memory, Owners(peer: channel.peer).names, free: Limits.free)
            write(error)
        }
        if let length = head.headers.first("content-length").flatMap({ Int($0) }) { mayReceive(length) }
    }

    /// - Parameter count: bytes of the body.
    /// - Returns: false if the body is refused.
    @discardableResult private func mayReceive(_ count: Int) -> Bool {
        guard let admission else { return false }
        if count <= admission.longestBody { return true }
        refuse(.refusal(.payloadTooLarge, "a request has at most \(admission.longestBody) bytes"))
        return false
    }

    private func refuse(_ answer: Answer) {
        admission = nil
        body = []
        _ = memory.resize(to: 0)
        write(answer)
    }

    package func receive(_ part: UnsafeRawBufferPointer) {
        guard mayReceive(body.count + part.count) else { return }
        guard memory.take(part.count) else {
            return refuse(
                .refusal(
                    .serviceUnavailable, "requests and streams of this user take too much memory", code: "limit",
                    hint: "try again"))
        }
        body += part
    }

    package func finish() {
        guard let admission else { return }
        let request = FrontDoor.Request(
            method: head.method, target: admission.target, headers: head.headers, body: body, memory: memory)
        body = []
        door.handle(request, admission) { [self] outcome in
            switch outcome {
            case .answer(let answer): write(answer)
            case .stream(let wanted, let gateway):
                guard let channel else { return }
                gateway.prepare(wanted, for: channel.peer) { [self] result in
                    switch result {
                    case .failure(let refusal): write(refusal)
                    case .success(let watches): begin(watches, of: gateway, for: wanted)
                    }
                }
            }
        }
    }

    package func becameWritable() { stream?.page.becameWritable() }

    package func closed() {
        channel = nil
        body = []
        if let stream { stream.gateway.end(stream.page) }
        stream = nil
    }

    // MARK: Answers

    private func write(_ answer: Answer) {
        guard let channel else { return }
        var headers = answer.headers + door.sharing(head.headers)
        var status = answer.status
        var body = answer.body
        if let tag = answer.tag { headers.append(("ETag", tag)) }
        if answer.isPackable { headers.append(("Vary", "Accept-Encoding")) }
        if answer.isKnown(head.headers.list("if-none-match")) {
            status = .notModified
            body = []
        } else if status != .noContent {
            if answer.isPackable, takesGzip {
                headers.append(("Content-Encoding", "gzip"))
                body = answer.packed ?? Gzip.whole(body, .fast)
            }
            headers.append(("Content-Type", answer.type))
        }
        // The body, or what it was made of, may have been charged already.
        let parts = status == .notModified ? [] : [body] + answer.rest
        let size = parts.reduce(0) { $0 + $1.count }
        guard answer.isStored || size <= memory.amount || memory.resize(to: size) else {
            let text = Array("the answer takes too much memory; try again\n".utf8)
            return channel.answer(.serviceUnavailable, [("Content-Type", "text/plain"), ("Retry-After", "1")], [text])
        }
        channel.answer(status, headers, parts)
    }

    private var takesGzip: Bool { Gzip.isAccepted(head.headers.list("accept-encoding")) }

    private func begin(_ watches: [Gateway.Prepared], of gateway: Gateway, for wanted: [Gateway.Wanted]) {
        guard let channel else { return }
        let isPacked = takesGzip
        guard let page = gateway.page(on: channel, isPacked: isPacked, token: admission?.token) else {
            return write(
                .refusal(
                    .serviceUnavailable, "there are too many streams", code: "limit", hint: "close other pages"))
        }
        stream = (page, gateway)
        _ = memory.resize(to: 0)
        channel.begin(
            [
                ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
                ("Vary", "Accept-Encoding"),
            ] + (isPacked ? [("Content-Encoding", "gzip")] : []) + door.sharing(head.headers))
        gateway.begin(page, watches, for: wanted)
    }
}
