import AttributeValues
import NIOCore
import NIOHTTP1

/// Every request passes here. It must name this machine, its page must come from an allowed origin, and if there are
/// tokens, it must have one. The gateway of the token's principal then answers. Everything here happens on one event
/// loop.
final class FrontDoor {
    struct Request {
        var method: HTTPMethod
        var target: Target
        var headers: HTTPHeaders
        var body: NIOCore.ByteBuffer
    }

    enum Outcome {
        case answer(Answer)
        /// The answer does not end: the page gets a stream.
        case stream([Gateway.Wanted], Gateway)
    }

    static let cookie = "agd-token"
    private static let care = TimeAmount.seconds(1)

    private let settings: Gateway.Settings
    private let tokens: Tokens?
    private let pulse: Pulse
    private let meter = Meter()
    private let loop: NIOIsolatedEventLoop
    /// If there are no tokens, the only one is that of the gateway's own user.
    private var gateways: [String?: Gateway] = [:]

    init(settings: Gateway.Settings, tokens: Tokens?, loop: NIOIsolatedEventLoop) {
        self.settings = settings
        self.tokens = tokens
        self.loop = loop
        pulse = Pulse(path: settings.socket, loop: loop)
    }

    func start() {
        pulse.start { [self] in
            for gateway in gateways.values { gateway.didFallSilent() }
        }
        if tokens == nil { _ = gateway(of: nil) } else { careLater() }
    }

    /// - Parameter reply: called once, possibly later.
    func handle(_ request: Request, reply: @escaping (Outcome) -> Void) {
        let begin = MonotonicTime.now
        admit(request) { [meter] outcome in
            meter.note(request.target.path, seconds: MonotonicTime.now - begin)
            reply(outcome)
        }
    }

    private func admit(_ request: Request, reply: @escaping (Outcome) -> Void) {
        func answer(_ answer: Answer) { reply(.answer(answer)) }
        guard isAddressed(request) else {
            return answer(
                .refusal(.misdirectedRequest, "requests may not use this host name", hint: "--host adds a host name"))
        }
        guard mayAsk(request) else {
            return answer(
                .refusal(
                    .forbidden, "pages of this origin may not send requests", hint: "--allow-origin adds an origin"))
        }
        let isReading = request.method == .GET || request.method == .HEAD
        switch (request.method, request.target.path) {
        case (.OPTIONS, _):
            answer(Answer(status: .noContent, body: [], headers: [("Allow", "GET, HEAD, POST, OPTIONS")]))
        case (_, "/healthz") where isReading: answer(.json(.ok, ["healthy": true]))
        case (_, "/readyz") where isReading:
            let reason = pulse.reason
            answer(.json(reason == nil ? .ok : .serviceUnavailable, Pulse.report(reason)))
        case (_, "/login") where tokens != nil && isReading: answer(Login.page)
        case (.POST, "/login") where tokens != nil: answer(login(request))
        case (.POST, "/logout") where tokens != nil: answer(Login.ended)
        default:
            guard let tokens else { return gateway(of: nil).handle(request, reply: reply) }
            if let name = principal(of: request, tokens) {
                gateway(of: name).handle(request, reply: reply)
            } else {
                answer(request.target.path == "/" && isReading ? Login.redirect : Login.missing)
            }
        }
    }

    private func gateway(of principal: String?) -> Gateway {
        if let gateway = gateways[principal] { return gateway }
        let gateway = Gateway(settings: settings, principal: principal, pulse: pulse, meter: meter, loop: loop)
        gateways[principal] = gateway
        gateway.start()
        return gateway
    }

    // MARK: Names and origins

    /// A foreign page can make a browser send requests here, but not with the right name of this machine.
    private func isAddressed(_ request: Request) -> Bool {
        guard let host = request.headers.first(name: "host") else { return false }
        return settings.hosts.contains(host.split(separator: ":").first.map { $0.lowercased() } ?? "")
    }

    /// Browsers add the page's origin to all but the simplest requests.
    private func mayAsk(_ request: Request) -> Bool {
        guard let origin = request.headers.first(name: "origin") else { return true }
        return settings.origins.contains(origin) || isOwn(origin, request)
    }

    /// A server with TLS may stand before the gateway.
    private func isOwn(_ origin: String, _ request: Request) -> Bool {
        let host = request.headers.first(name: "host") ?? ""
        return origin == "http://\(host)" || origin == "https://\(host)"
    }

    /// The headers that let a page from elsewhere read the answer. They allow no cookies: such a page sends a token.
    func sharing(_ headers: HTTPHeaders) -> [(String, String)] {
        guard let origin = headers.first(name: "origin"), settings.origins.contains(origin) else { return [] }
        return [
            ("Access-Control-Allow-Origin", origin), ("Vary", "Origin"),
            ("Access-Control-Allow-Methods", "GET, HEAD, POST"),
            ("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID"),
        ]
    }

    // MARK: Tokens

    private func principal(of request: Request, _ tokens: Tokens) -> String? {
        if let header = request.headers.first(name: "authorization") {
            let words = header.split(separator: " ")
            guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
            return tokens.principal(of: words[1])
        }
        guard mayUseCookie(request) else { return nil }
        for header in request.headers[canonicalForm: "cookie"] {
            for pair in header.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == FrontDoor.cookie else { continue }
                return tokens.principal(of: parts[1])
            }
        }
        return nil
    }

    /// Browsers add cookies by themselves, so only requests of the gateway's own pages may use one. `SameSite` makes
    /// browsers observe that. Requests that can change something must also state their origin.
    private func mayUseCookie(_ request: Request) -> Bool {
        if let origin = request.headers.first(name: "origin") { return isOwn(origin, request) }
        return request.method == .GET || request.method == .HEAD
    }

    private func login(_ request: Request) -> Answer {
        let body = String(decoding: request.body.readableBytesView, as: UTF8.self)
        guard request.headers.first(name: "origin").map({ isOwn($0, request) }) == true,
            let token = Target("/?" + body)?["token"], tokens?.principal(of: token) != nil
        else { return Login.refused }
        let isSecure = request.headers.first(name: "x-forwarded-proto") == "https"
        return Login.accepted(token, isSecure: isSecure)
    }

    private func careLater() {
        _ = loop.scheduleTask(in: FrontDoor.care) { [self] in
            refreshTokens()
            careLater()
        }
    }

    /// A principal without a token loses its streams and its connection.
    private func refreshTokens() {
        guard let tokens else { return }
        if let fault = tokens.refresh() {
            AGDGateway.report("\(fault); no token works until this is corrected")
        }
        for case let (name?, gateway) in gateways where !tokens.isKnown(name) {
            gateways[name] = nil
            gateway.stop()
        }
    }
}
