import AttributeValues
import NIOCore
import NIOHTTP1

/// One connection of a browser: collects a request and writes its answer.
final class HTTPConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let door: FrontDoor
    private var head: HTTPRequestHead?
    private var body = NIOCore.ByteBuffer()
    private var isTooLong = false
    private var stream: (page: PageStream, gateway: Gateway)?
    private var channel: Channel?

    init(_ door: FrontDoor) { self.door = door }

    func handlerAdded(context: ChannelHandlerContext) { channel = context.channel }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body.clear()
            isTooLong = false
        case .body(var part):
            isTooLong = isTooLong || body.readableBytes + part.readableBytes > Gateway.longestRequest
            if !isTooLong { body.writeBuffer(&part) }
        case .end:
            guard let head else { return }
            self.head = nil
            perform(head)
        }
    }

    private func perform(_ head: HTTPRequestHead) {
        guard !isTooLong else {
            return write(.refusal(.payloadTooLarge, "a request has at most \(Gateway.longestRequest) bytes"), to: head)
        }
        guard let target = Target(head.uri) else {
            return write(.refusal(.badRequest, "the address cannot be read"), to: head)
        }
        door.handle(.init(method: head.method, target: target, headers: head.headers, body: body)) { [self] outcome in
            switch outcome {
            case .answer(let answer): write(answer, to: head)
            case .stream(let wanted, let gateway):
                gateway.prepare(wanted) { [self] result in
                    switch result {
                    case .failure(let refusal): write(refusal, to: head)
                    case .success(let watches): begin(watches, of: gateway, for: wanted, to: head)
                    }
                }
            }
        }
    }

    private func write(_ answer: Answer, to head: HTTPRequestHead) {
        guard let channel, channel.isActive else { return }
        var headers = HTTPHeaders(answer.headers + door.sharing(head.headers))
        var status = answer.status
        var body = answer.body
        if let tag = answer.tag { headers.add(name: "ETag", value: tag) }
        if answer.isPackable { headers.add(name: "Vary", value: "Accept-Encoding") }
        if answer.isKnown(head.headers[canonicalForm: "if-none-match"]) {
            status = .notModified
            body = []
        } else if status != .noContent {
            if answer.isPackable, HTTPConnection.takesGzip(head) {
                headers.add(name: "Content-Encoding", value: "gzip")
                body = answer.packed ?? Gzip.whole(body, .fast)
            }
            headers.add(name: "Content-Type", value: answer.type)
            headers.add(name: "Content-Length", value: "\(body.count)")
        }
        if !head.isKeepAlive { headers.add(name: "Connection", value: "close") }
        channel.write(OutboundOut.head(.init(version: head.version, status: status, headers: headers)), promise: nil)
        if head.method != .HEAD, !body.isEmpty {
            channel.write(OutboundOut.body(.byteBuffer(NIOCore.ByteBuffer(bytes: body))), promise: nil)
        }
        let written = channel.writeAndFlush(OutboundOut.end(nil))
        if !head.isKeepAlive { written.whenComplete { _ in channel.close(promise: nil) } }
    }

    private static func takesGzip(_ head: HTTPRequestHead) -> Bool {
        Gzip.isAccepted(head.headers[canonicalForm: "accept-encoding"])
    }

    private func begin(
        _ watches: [Gateway.Prepared], of gateway: Gateway, for wanted: [Gateway.Wanted], to head: HTTPRequestHead
    ) {
        guard let channel, channel.isActive else { return }
        let isPacked = HTTPConnection.takesGzip(head)
        let headers = HTTPHeaders(
            [
                ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
                ("Vary", "Accept-Encoding"),
            ] + (isPacked ? [("Content-Encoding", "gzip")] : []) + door.sharing(head.headers))
        channel.writeAndFlush(
            OutboundOut.head(.init(version: head.version, status: .ok, headers: headers)), promise: nil)
        stream = (gateway.begin(watches, for: wanted, on: channel, isPacked: isPacked), gateway)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { stream?.page.becameWritable() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let stream { stream.gateway.end(stream.page) }
        stream = nil
        channel = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
