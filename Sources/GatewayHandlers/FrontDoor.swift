import AttributeValues

/// Every request passes here. It must name this machine, its page must come from an allowed origin, and if there are
/// tokens, it must have one. The gateway of the token's principal then answers. Everything here happens on one event
/// loop.
package final class FrontDoor {
    struct Request {
        var method: String
        var target: Target
        var headers: Headers
        var body: [UInt8]
        /// Pays for the request and its answer.
        var memory: Account
    }

    /// The data of a request that its head has told.
    struct Admission {
        var target: Target
        /// Nil for what the door answers itself.
        var gateway: Gateway?
        var principal: String?
        /// The hash of the request's token.
        var token: String?

        /// Bytes that the body may have.
        var longestBody: Int { gateway == nil ? Limits.formBody : Limits.body }
    }

    enum Outcome {
        case answer(Answer)
        /// The answer does not end: the page gets a stream.
        case stream([Gateway.Wanted], Gateway)
    }

    static let cookie = "agd-token"
    private static let care = 1.0

    private let settings: Gateway.Settings
    private let tokens: Tokens?
    private let pulse: Pulse
    package let meter = Meter()
    private let pace: Pace
    private let pasts: Pasts
    package let budgets: Budgets
    private let machine: any Machine
    /// Told why the file of the tokens cannot be used.
    package var onFault: (String) -> Void = { _ in }
    /// If there are no tokens, the only one is that of the gateway's own user.
    package private(set) var gateways: [String?: Gateway] = [:]

    package init(settings: Gateway.Settings, tokens: Tokens?, budgets: Budgets = Budgets(), _ machine: any Machine) {
        self.budgets = budgets
        self.settings = settings
        self.tokens = tokens
        self.machine = machine
        pace = Pace(machine)
        pasts = Pasts(beside: settings.socket, budgets, machine)
        pulse = Pulse(path: settings.socket, budgets.memory, machine)
    }

    package func start() {
        pulse.start { [self] in
            for gateway in gateways.values { gateway.didFallSilent() }
        }
        if tokens == nil { _ = gateway(of: nil) } else { careLater() }
    }

    /// Decides at the head of a request whether its body is read.
    func admit(_ head: RequestHead) throws(Answer) -> Admission {
        // With two of them, a proxy before the gateway may have read another request than the gateway.
        for name in ["host", "content-length", "transfer-encoding"] where head.headers.count(of: name) > 1 {
            throw .refusal(.badRequest, "a request has one header \(name)")
        }
        if head.headers.first("content-length") != nil, head.headers.first("transfer-encoding") != nil {
            throw .refusal(.badRequest, "a body has a length or comes in chunks, not both")
        }
        guard let target = Target(head.target) else { throw .refusal(.badRequest, "the address cannot be read") }
        guard isAddressed(head.headers) else {
            throw .refusal(.misdirectedRequest, "requests may not use this host name", hint: "--host adds a host name")
        }
        guard mayAsk(head.headers) else {
            throw .refusal(
                .forbidden, "pages of this origin may not send requests", hint: "--allow-origin adds an origin")
        }
        var admission = Admission(target: target)
        if isOwn(head.method, target.path) { return admission }
        if let tokens {
            guard let (name, token) = principal(of: head, tokens) else {
                throw target.path == "/" && FrontDoor.isReading(head.method) ? Login.redirect : Login.missing
            }
            (admission.principal, admission.token) = (name, token)
        }
        admission.gateway = gateway(of: admission.principal)
        return admission
    }

    /// True for what the door answers itself.
    private func isOwn(_ method: String, _ path: String) -> Bool {
        switch path {
        case _ where method == "OPTIONS": true
        case "/healthz", "/readyz": FrontDoor.isReading(method)
        case "/login": tokens != nil && (FrontDoor.isReading(method) || method == "POST")
        case "/logout": tokens != nil && method == "POST"
        default: false
        }
    }

    private static func isReading(_ method: String) -> Bool { method == "GET" || method == "HEAD" }

    /// - Parameter reply: called once, possibly later.
    func handle(_ request: Request, _ admission: Admission, reply: @escaping (Outcome) -> Void) {
        let begin = machine.now
        answer(request, admission) { [meter, machine] outcome in
            meter.note(request.target.path, seconds: machine.now - begin)
            reply(outcome)
        }
    }

    private func answer(_ request: Request, _ admission: Admission, reply: @escaping (Outcome) -> Void) {
        func answer(_ answer: Answer) { reply(.answer(answer)) }
        if let gateway = admission.gateway {
            // The token may have been withdrawn while the body came.
            if let token = admission.token, tokens?.isKnown(token: token) != true { return answer(Login.missing) }
            return pace.run(Pace.perRequest + request.body.count * Pace.perByteRead) {
                gateway.handle(request, reply: reply)
            }
        }
        switch (request.method, request.target.path) {
        case ("OPTIONS", _):
            answer(Answer(status: .noContent, body: [], headers: [("Allow", "GET, HEAD, POST, OPTIONS")]))
        case (_, "/healthz"): answer(.json(.ok, ["healthy": true]))
        case (_, "/readyz"):
            let reason = pulse.reason
            answer(.json(reason == nil ? .ok : .serviceUnavailable, Pulse.report(reason)))
        case ("POST", "/login"): answer(login(request))
        case ("POST", _): answer(Login.ended)
        default: answer(Login.page)
        }
    }

    private func gateway(of principal: String?) -> Gateway {
        if let gateway = gateways[principal] { return gateway }
        let gateway = Gateway(
            settings: settings, principal: principal, pulse: pulse, meter: meter, budgets: budgets, pace: pace,
            pasts: pasts, machine)
        gateways[principal] = gateway
        gateway.start()
        return gateway
    }

    // MARK: Names and origins

    /// A foreign page can make a browser send requests here, but not with the right name of this machine.
    private func isAddressed(_ headers: Headers) -> Bool {
        guard let host = headers.first("host") else { return false }
        return settings.hosts.contains(host.split(separator: ":").first.map { $0.lowercased() } ?? "")
    }

    /// Browsers add the page's origin to all but the simplest requests.
    private func mayAsk(_ headers: Headers) -> Bool {
        guard let origin = headers.first("origin") else { return true }
        return settings.origins.contains(origin) || isOwn(origin: origin, headers)
    }

    /// A server with TLS may stand before the gateway.
    private func isOwn(origin: String, _ headers: Headers) -> Bool {
        let host = headers.first("host") ?? ""
        return origin == "http://\(host)" || origin == "https://\(host)"
    }

    /// The headers that let a page from elsewhere read the answer. They allow no cookies: such a page sends a token.
    func sharing(_ headers: Headers) -> [(String, String)] {
        guard let origin = headers.first("origin"), settings.origins.contains(origin) else { return [] }
        return [
            ("Access-Control-Allow-Origin", origin), ("Vary", "Origin"),
            ("Access-Control-Allow-Methods", "GET, HEAD, POST"),
            ("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID"),
        ]
    }

    // MARK: Tokens

    private func principal(of head: RequestHead, _ tokens: Tokens) -> (name: String, token: String)? {
        if let header = head.headers.first("authorization") {
            let words = header.split(separator: " ")
            guard words.count == 2 else { return nil }
            switch words[0].lowercased() {
            case "bearer": return tokens.principal(of: words[1])
            // As InfluxDB's clients send it. A browser, which would add such a header by itself, sends no pushes.
            case "token" where isPush(head): return tokens.principal(of: words[1])
            case "basic" where isPush(head):
                let decoded = Base64.decode(String(words[1])).flatMap { String(validating: $0, as: UTF8.self) }
                guard let decoded, let colon = decoded.firstIndex(of: ":") else { return nil }
                return tokens.principal(of: decoded[decoded.index(after: colon)...])
            default: return nil
            }
        }
        guard mayUseCookie(head) else { return nil }
        for header in head.headers.all("cookie") {
            for pair in header.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == FrontDoor.cookie else { continue }
                return tokens.principal(of: parts[1])
            }
        }
        return nil
    }

    private func isPush(_ head: RequestHead) -> Bool {
        head.method == "POST" && Target(head.target).map { Pushes.isAddressed($0.path) } == true
    }

    /// Browsers add cookies by themselves, so only requests of the gateway's own pages may use one. `SameSite` makes
    /// browsers observe that. Requests that can change something must also state their origin.
    private func mayUseCookie(_ head: RequestHead) -> Bool {
        if let origin = head.headers.first("origin") { return isOwn(origin: origin, head.headers) }
        return FrontDoor.isReading(head.method)
    }

    private func login(_ request: Request) -> Answer {
        let body = String(decoding: request.body, as: UTF8.self)
        guard request.headers.first("origin").map({ isOwn(origin: $0, request.headers) }) == true,
            let token = Target("/?" + body)?["token"], tokens?.principal(of: token) != nil
        else { return Login.refused }
        let isSecure = request.headers.first("x-forwarded-proto") == "https"
        return Login.accepted(token, isSecure: isSecure)
    }

    private func careLater() {
        machine.after(FrontDoor.care) { [self] in
            refreshTokens()
            careLater()
        }
    }

    /// A withdrawn token loses its streams, and a principal without a token its connection.
    private func refreshTokens() {
        guard let tokens else { return }
        if let fault = tokens.refresh() {
            onFault("\(fault); no token works until this is corrected")
        }
        for case let (name?, gateway) in gateways where !tokens.isKnown(name) {
            gateways[name] = nil
            gateway.stop()
        }
        for gateway in gateways.values { gateway.endPages { tokens.isKnown(token: $0) } }
    }
}
