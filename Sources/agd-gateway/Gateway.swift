import AttributeValues
import NIOCore
import NIOHTTP1
import WireProtocol

/// The graph as one principal may see it. All pages of the principal share one connection to the daemon, and one
/// subscription for each set of parameters. Everything here happens on one event loop.
final class Gateway {
    struct Settings {
        /// The names of this machine that requests may use, in lower case.
        var hosts: [String]
        /// Other origins whose pages may send requests.
        var origins: [String] = []
        /// True if requests may change the graph.
        var isWritable = false
        var pages = Pages()
        var socket = ""
    }

    /// Maximum number of streams at a time.
    static let mostPages = 2000
    /// Maximum number of subscriptions of one page.
    static let mostWatches = 256
    /// Maximum bytes of a request.
    static let longestRequest = 16 << 20
    /// Seconds without an event after which a page gets the event `alive`.
    private static let beat = 2.0

    private static let reading: Set<String> = [
        "hello", "ping", "get", "describe", "explain", "history", "dump", "stats", "eval",
    ]
    static let writing: Set<String> = ["set", "transact", "do", "apply", "remove", "move"]

    let settings: Settings
    private let link: DaemonLink
    private let pulse: Pulse
    private let meter: Meter
    private let loop: NIOIsolatedEventLoop
    /// By the JSON of their parameters.
    private var watches: [Name: SharedWatch] = [:]
    private var pages: [ObjectIdentifier: PageStream] = [:]
    private var hasEnded = false
    /// The time up to which pages have received all changes, if there is no connection now.
    private var lastKnown: Double?

    /// - Parameter principal: nil for the rights of the gateway's own user.
    init(settings: Settings, principal: String?, pulse: Pulse, meter: Meter, loop: NIOIsolatedEventLoop) {
        self.settings = settings
        self.pulse = pulse
        self.meter = meter
        self.loop = loop
        link = DaemonLink(path: settings.socket, principal: principal, loop: loop)
        link.isSilent = { pulse.isSilent }
        link.onChange = { [unowned self] isUp in didChange(isUp) }
    }

    func start() {
        link.connect()
        careLater()
    }

    /// Closes the streams and the connection for good.
    func stop() {
        hasEnded = true
        link.close()
        for page in pages.values { page.end() }
    }

    /// The daemon does not answer.
    func didFallSilent() { link.abandon() }

    // MARK: Requests

    /// A subscription that a page requests, and the position from which it continues.
    struct Wanted {
        var parameters: ValueMap
        var since: (epoch: String, revision: Int64)?
    }

    /// - Parameter reply: called once, possibly later.
    func handle(_ request: FrontDoor.Request, reply: @escaping (FrontDoor.Outcome) -> Void) {
        func answer(_ answer: Answer) { reply(.answer(answer)) }
        do throws(UnreadableOption) {
            switch (request.method, request.target.path) {
            case (.GET, "/value"), (.HEAD, "/value"): try value(request.target, reply: answer)
            case (.GET, "/watch"):
                reply(.stream([Wanted(parameters: try watch(request.target), since: since(request))], self))
            case (.POST, "/watch"):
                try request.target.allow()
                reply(.stream(try manyWatches(request), self))
            case (.POST, "/rpc"):
                try request.target.allow()
                rpc(request, reply: answer)
            case (.GET, "/metrics"), (.HEAD, "/metrics"):
                try request.target.allow("path")
                let isOpen = request.headers[canonicalForm: "accept"].contains { $0.hasPrefix(Meter.openType) }
                metrics(of: request.target.all("path")) { answer(isOpen ? $0 : Meter.classic($0)) }
            default: answer(other(request))
            }
        } catch { answer(.refusal(.badRequest, error.text)) }
    }

    /// The result in a reply of the daemon, or the answer to a page that gets none.
    private static func read(_ reply: ValueMap) throws(Answer) -> Value {
        if let error = reply["error"] { throw .refusal(error) }
        return reply["result"] ?? .null
    }

    private func since(_ request: FrontDoor.Request) -> (epoch: String, revision: Int64)? {
        Target.position(request.headers.first(name: "last-event-id") ?? request.target["since"])
    }

    // MARK: Reading

    private func value(_ target: Target, reply: @escaping (Answer) -> Void) throws(UnreadableOption) {
        try target.allow("path", "presentation", "typed")
        guard let path = target["path"] else {
            return reply(.refusal(.badRequest, "name the attribute, as in /value?path=/host.status"))
        }
        var parameters = ValueMap([("path", .string(path))])
        for name in ["presentation", "typed"] {
            if let flag = try target.flag(name) { parameters[.string(name)] = .bool(flag) }
        }
        link.send("get", .map(parameters)) { result in
            do throws(Answer) {
                var answer = Answer.json(.ok, try Gateway.read(result))
                // Another principal may see another value.
                answer.headers = [("Cache-Control", "private, no-cache"), ("Vary", "Authorization, Cookie")]
                answer.tag = Answer.tag(of: answer.body)
                reply(answer)
            } catch { reply(error) }
        }
    }

    /// - Parameter paths: the attributes to output as gauges; patterns are allowed.
    private func metrics(of paths: [String], reply: @escaping (Answer) -> Void) {
        link.send("stats", ["format": "openmetrics"]) { [self] stats in
            guard !paths.isEmpty else { return reply(metrics(stats, nil)) }
            link.send("get", ["paths": .list(paths.map { .string($0) })]) { [self] values in
                reply(metrics(stats, values))
            }
        }
    }

    private func metrics(_ stats: ValueMap, _ values: ValueMap?) -> Answer {
        var text: String
        do throws(Answer) {
            text = try Gateway.read(stats)["text"]?.string ?? ""
            // The daemon's part ends with the end mark, which may occur only once in the whole.
            if text.hasSuffix("# EOF\n") { text.removeLast("# EOF\n".count) }
            if let values { text += Meter.gauges(try Gateway.read(values)["values"]?.map ?? ValueMap()) }
        } catch { return error }
        text += meter.text
        text += """
            # HELP agd_gateway_pages Pages that are connected for events.
            # TYPE agd_gateway_pages gauge
            agd_gateway_pages \(pages.count)
            # HELP agd_gateway_subscriptions Subscriptions of the daemon that the pages share.
            # TYPE agd_gateway_subscriptions gauge
            agd_gateway_subscriptions \(watches.count)
            # EOF

            """
        return Answer(status: .ok, type: "\(Meter.openType); version=1.0.0; charset=utf-8", body: Array(text.utf8))
    }

    /// The methods of the addresses.
    private static let methods: [String: [String]] = [
        "/value": ["GET", "HEAD"], "/watch": ["GET", "POST"], "/rpc": ["POST"], "/metrics": ["GET", "HEAD"],
        "/healthz": ["GET", "HEAD"], "/readyz": ["GET", "HEAD"],
    ]

    /// A page, or why there is none.
    private func other(_ request: FrontDoor.Request) -> Answer {
        let path = request.target.path
        var allowed = Gateway.methods[path]
        if allowed == nil {
            if request.method == .GET || request.method == .HEAD || settings.pages[path] == nil { return page(request) }
            allowed = ["GET", "HEAD"]
        }
        let names = allowed ?? []
        var answer = Answer.refusal(
            .methodNotAllowed, "\(path) takes \(names.joined(separator: " and ")), not \(request.method.rawValue)")
        answer.headers.append(("Allow", names.joined(separator: ", ")))
        return answer
    }

    private func page(_ request: FrontDoor.Request) -> Answer {
        guard let file = settings.pages[request.target.path] else {
            return .refusal(
                .notFound,
                "there are /value, /watch, /rpc, /metrics, /healthz and /readyz"
                    + (settings.pages.isEmpty ? "" : ", and the pages"))
        }
        var headers = [("Cache-Control", "no-cache"), ("X-Content-Type-Options", "nosniff")]
        if file.type.hasPrefix("text/html") { headers += Gateway.pageHeaders }
        return Answer(
            status: .ok, type: file.type, body: file.body, headers: headers, tag: file.tag, packed: file.packed)
    }

    private static let pageHeaders = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                + "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
        ),
        ("Referrer-Policy", "no-referrer"),
    ]

    // MARK: Any method

    private func rpc(_ request: FrontDoor.Request, reply: @escaping (Answer) -> Void) {
        guard request.headers.first(name: "content-type")?.hasPrefix("application/json") == true else {
            return reply(
                .refusal(
                    .unsupportedMediaType, "the body must be JSON",
                    hint: "send it with the header Content-Type: application/json"))
        }
        guard let message = try? JSONParser.parseOnce(request.body.readableBytesView) else {
            let failure = Failure(.invalid, "the body is not JSON")
            return reply(.json(.badRequest, .map(Gateway.fault(failure, code: RequestFault.parse))))
        }
        guard case .list(let calls) = message else { return call(message) { reply(.json(.ok, $0)) } }
        guard !calls.isEmpty, calls.count <= Gateway.mostWatches else {
            let failure = Failure(.invalid, "a batch has 1 to \(Gateway.mostWatches) calls")
            return reply(.json(.badRequest, .map(Gateway.fault(failure, code: RequestFault.invalidRequest))))
        }
        var answers = [Value](repeating: .null, count: calls.count)
        var missing = calls.count
        for (index, each) in calls.enumerated() {
            call(each) { answer in
                answers[index] = answer
                missing -= 1
                if missing == 0 { reply(.json(.ok, .list(answers))) }
            }
        }
    }

    private func call(_ message: Value, reply: @escaping (Value) -> Void) {
        let id = message["id"] ?? .null
        func refuse(_ code: Int, _ failure: Failure) { reply(.map(Gateway.fault(failure, code: code, id: id))) }
        guard let method = message["method"]?.string else {
            return refuse(RequestFault.invalidRequest, Failure(.invalid, "a request is an object with a method"))
        }
        guard Gateway.reading.contains(method) || Gateway.writing.contains(method) else {
            let hint = method == "subscribe" ? "use /watch for subscriptions" : "use agctl or the daemon's socket"
            let failure = Failure(.notFound, "the gateway has no method '\(method)'", hint: hint)
            return refuse(RequestFault.methodNotFound, failure)
        }
        guard Gateway.reading.contains(method) || settings.isWritable else {
            let hint = "agd-gateway --writable lets pages write"
            return refuse(RequestFault.refused, Failure(.denied, "the gateway only reads", hint: hint))
        }
        meter.note(method: method)
        link.send(method, message["params"] ?? .map(ValueMap())) { answer in
            var answer = answer
            answer["id"] = id
            reply(.map(answer))
        }
    }

    /// A refusal in the form of the daemon's.
    static func fault(_ failure: Failure, code: Int = RequestFault.refused, id: Value = .null) -> ValueMap {
        var data = ValueMap([("code", .string(failure.code.rawValue))])
        data["hint"] = failure.hint.map { .string($0) }
        let error: Value = ["code": .int(Int64(code)), "message": .string(failure.message), "data": .map(data)]
        return ValueMap([(.string("jsonrpc"), .string("2.0")), (.string("id"), id), (.string("error"), error)])
    }

    // MARK: Watching

    private func watch(_ target: Target) throws(UnreadableOption) -> ValueMap {
        try target.allow("path", "maxRate", "css", "frames", "events", "reports", "since")
        let paths = target.all("path")
        guard !paths.isEmpty else { throw UnreadableOption(text: "name what to watch, as in /watch?path=/host/**") }
        var parameters = ValueMap([("paths", .list(paths.map { .string($0) }))])
        if let rate = try target.rate("maxRate") { parameters["maxRate"] = .double(rate) }
        if let css = try target.flag("css") { parameters["css"] = .bool(css) }
        if let reports = try target.flag("reports") { parameters["reports"] = .bool(reports) }
        if let rate = try target.rate("frames") { parameters["frames"] = ["rate": .double(rate)] }
        if let events = target["events"] {
            parameters["events"] = .list(events.split(separator: ",").map { .string(String($0)) })
        }
        return parameters
    }

    /// `{"subscriptions": […]}`, each with the parameters of the protocol's `subscribe`.
    private func manyWatches(_ request: FrontDoor.Request) throws(UnreadableOption) -> [Wanted] {
        guard let body = try? JSONParser.parseOnce(request.body.readableBytesView).map,
            let list = body["subscriptions"]?.list, !list.isEmpty
        else { throw UnreadableOption(text: "the body is {\"subscriptions\": [{\"paths\": [\"/host/**\"]}]}") }
        guard list.count <= Gateway.mostWatches else {
            throw UnreadableOption(text: "a page has at most \(Gateway.mostWatches) subscriptions")
        }
        var all: [Wanted] = []
        for each in list {
            guard case .map(var parameters) = each, parameters["paths"]?.list != nil else {
                throw UnreadableOption(text: "a subscription is an object with paths")
            }
            if let name = parameters.keys.compactMap(\.string).first(where: { !Gateway.options.contains($0) }) {
                throw UnreadableOption(
                    text: "a subscription has no '\(name)'; there are \(Gateway.options.joined(separator: ", "))")
            }
            var since: (epoch: String, revision: Int64)?
            if let epoch = parameters["since"]?["epoch"]?.string,
                case .int(let revision)? = parameters["since"]?["revision"]
            {
                since = (epoch, revision)
            }
            parameters["since"] = nil
            all.append(Wanted(parameters: parameters, since: since))
        }
        return all
    }

    private static let options = ["paths", "events", "maxRate", "css", "frames", "reports", "since"]

    /// Finds or makes the subscriptions, and sends new ones to the daemon before the stream begins: a browser
    /// reconnects again and again to a stream that breaks off, but not after a refusal. A stream of several
    /// subscriptions always begins and tells which ones were refused, so that a mistake in one does not cost the page
    /// the others. So does a stream while the daemon is away: it is interrupted until the daemon is back.
    func prepare(_ wanted: [Wanted], then: @escaping (Result<[Prepared], Answer>) -> Void) {
        guard pages.count < Gateway.mostPages else {
            return then(.failure(.unavailable("\(Gateway.mostPages) pages are connected already")))
        }
        let found = wanted.map { each in
            let key = Value.map(each.parameters).jsonText
            let watch = watches[key] ?? SharedWatch(parameters: each.parameters)
            watches[key] = watch
            return watch
        }
        var missing = found.count
        var prepared = found.map { Prepared.success($0) }
        var refusal: Answer?
        for (index, watch) in found.enumerated() {
            subscribe(watch) { [self] answer in
                if let answer, link.isUp || hasEnded {
                    prepared[index] = .failure(answer)
                    refusal = refusal ?? answer
                }
                missing -= 1
                guard missing == 0 else { return }
                if let refusal, found.count == 1 || hasEnded { return then(.failure(refusal)) }
                then(.success(prepared))
            }
        }
    }

    typealias Prepared = Result<SharedWatch, Answer>

    /// Ensures that the daemon has accepted the subscription.
    /// - Parameter then: called with nil if it has.
    private func subscribe(_ watch: SharedWatch, then: @escaping (Answer?) -> Void) {
        guard watch.subscription == nil else { return then(nil) }
        watch.awaiting.append(then)
        guard watch.awaiting.count == 1 else { return }
        var parameters = watch.parameters
        parameters["bookmarks"] = true
        link.send("subscribe", .map(parameters)) { [self] result in
            let answer = accept(result, for: watch)
            if watch.isUnused { watch.idleSince = MonotonicTime.now }
            if answer != nil, watch.isUnused, link.isUp { forget(watch) }
            let awaiting = watch.awaiting
            watch.awaiting = []
            for each in awaiting { each(answer) }
        }
    }

    /// - Returns: nil if the daemon has accepted.
    private func accept(_ reply: ValueMap, for watch: SharedWatch) -> Answer? {
        let value: Value
        do throws(Answer) { value = try Gateway.read(reply) } catch { return error }
        guard case .int(let number)? = value["subscription"], let epoch = value["epoch"]?.string else {
            return .unavailable("the daemon's answer cannot be understood")
        }
        watch.accepted(as: number, epoch: epoch)
        link.listen(to: number) { [weak watch, weak self] method, parameters in
            guard let watch, case .map(let map) = parameters else { return }
            watch.receive(method, map)
            if method == "ended" { self?.forget(watch) }
        }
        return nil
    }

    private func forget(_ watch: SharedWatch) { watches[Value.map(watch.parameters).jsonText] = nil }

    func begin(_ watches: [Prepared], for wanted: [Wanted], on channel: Channel, isPacked: Bool) -> PageStream {
        let page = PageStream(channel: channel, isPacked: isPacked, at: MonotonicTime.now)
        pages[ObjectIdentifier(page)] = page
        page.begin(Array(zip(watches, wanted.map(\.since))), hello: clock)
        if !link.isUp { page.tell(isLive: false, silence) }
        return page
    }

    func end(_ page: PageStream) {
        page.close(at: MonotonicTime.now)
        pages[ObjectIdentifier(page)] = nil
    }

    /// The present time of both clocks, with which a page places timelines (on the machine's monotonic clock) and dates
    /// (on its wall clock). The clocks of the page's machine may differ.
    private var clock: ValueMap {
        ValueMap([
            ("monotonic", .double(MonotonicTime.now)), ("time", .double(WallTime.now)), ("isLive", .bool(link.isUp)),
            ("isWritable", .bool(settings.isWritable)),
        ])
    }

    // MARK: Connection to the daemon

    private func didChange(_ isUp: Bool) {
        lastKnown = isUp ? nil : pulse.isSilent ? pulse.lastAnswer : MonotonicTime.now
        for watch in watches.values where !isUp { watch.connectionLost() }
        for page in pages.values { page.tell(isLive: isUp, silence) }
        for watch in watches.values where isUp { resume(watch) }
    }

    /// How old the newest values of pages are, in seconds, if there is no connection.
    private var silence: ValueMap {
        guard let lastKnown else { return ValueMap() }
        return ValueMap([("silence", .double(MonotonicTime.now - lastKnown))])
    }

    /// A daemon that has just started may not have loaded the scene yet. Pages learn once that they have to wait for
    /// it.
    private func resume(_ watch: SharedWatch, isAgain: Bool = false) {
        subscribe(watch) { [self] refusal in
            guard let refusal, link.isUp else { return }
            if !isAgain { watch.refuse(refusal) }
            _ = loop.scheduleTask(in: .seconds(1)) { [self] in
                if watch.subscription == nil, link.isUp, !watch.isUnused { resume(watch, isAgain: true) }
            }
        }
    }

    private func careLater() {
        _ = loop.scheduleTask(in: .milliseconds(500)) { [self] in
            if hasEnded { return }
            care()
            careLater()
        }
    }

    private func care() {
        let now = MonotonicTime.now
        for page in pages.values where now - page.lastWrite >= Gateway.beat { page.beat(clock) }
        for watch in watches.values where watch.isIdle(at: now) {
            if let subscription = watch.subscription { link.unsubscribe(subscription) }
            forget(watch)
        }
    }
}
