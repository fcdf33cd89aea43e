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
        door.handle(.init(method: head.method, target: target, headers: head.headers, body: body)) {
            [self] outcome in
            switch outcome {
            case .answer(let answer): write(answer, to: head)
            case .stream(let wanted, let gateway):
                gateway.prepare(wanted) { [self] result in
                    switch result {
                    case .failure(let refusal): write(refusal.answer, to: head)
                    case .success(let watches): begin(watches, of: gateway, for: wanted, to: head)
                    }
                }
            }
        }
    }

    private func write(_ answer: Answer, to head: HTTPRequestHead) {
        guard let channel, channel.isActive else { return }
        var headers = HTTPHeaders(answer.headers + door.sharing(head.headers))
        if answer.status != .noContent, answer.status != .notModified {
            headers.add(name: "Content-Type", value: answer.type)
            headers.add(name: "Content-Length", value: "\(answer.body.count)")
        }
        if !head.isKeepAlive { headers.add(name: "Connection", value: "close") }
        channel.write(
            OutboundOut.head(.init(version: head.version, status: answer.status, headers: headers)), promise: nil)
        if head.method != .HEAD, !answer.body.isEmpty {
            channel.write(OutboundOut.body(.byteBuffer(NIOCore.ByteBuffer(bytes: answer.body))), promise: nil)
        }
        let written = channel.writeAndFlush(OutboundOut.end(nil))
        if !head.isKeepAlive { written.whenComplete { _ in channel.close(promise: nil) } }
    }

    private func begin(
        _ watches: [SharedWatch], of gateway: Gateway, for wanted: [Gateway.Wanted], to head: HTTPRequestHead
    ) {
        guard let channel, channel.isActive else { return }
        let headers = HTTPHeaders(
            [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")]
                + door.sharing(head.headers))
        channel.writeAndFlush(
            OutboundOut.head(.init(version: head.version, status: .ok, headers: headers)), promise: nil)
        stream = (gateway.begin(watches, for: wanted, on: channel), gateway)
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
