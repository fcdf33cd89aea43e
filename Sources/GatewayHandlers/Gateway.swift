import AttributeValues
import WireProtocol

/// The graph as one principal may see it. All pages of the principal share one connection to the daemon, and one
/// subscription for each set of parameters. Everything here happens on one event loop.
package final class Gateway {
    package struct Settings {
        /// The names of this machine that requests may use, in lower case.
        var hosts: [String]
        /// Other origins whose pages may send requests.
        var origins: [String] = []
        /// True if requests may change the graph.
        var isWritable = false
        var pushes = Pushes()
        var pages = Pages()
        var socket = ""
        /// The name of this machine, for people.
        var machineName = ""

        package init(
            hosts: [String], origins: [String] = [], isWritable: Bool = false, pushes: Pushes = Pushes(),
            pages: Pages = Pages(), socket: String = "", machineName: String = ""
        ) {
            self.hosts = hosts
            self.origins = origins
            self.isWritable = isWritable
            self.pushes = pushes
            self.pages = pages
            self.socket = socket
            self.machineName = machineName
        }
    }

    /// Seconds without an event after which a page gets the event `alive`.
    private static let beat = 2.0
    private static let care = 0.5

    /// The methods that a page may call. No other passes: those that change the connection would change it for all
    /// pages.
    private static let reading: Set<String> = [
        "ping", "get", "describe", "board", "rpc.discover", "explain", "history", "dump", "layers", "stats", "eval",
    ]
    /// Methods of agd-past alone. Pages do not use those that need a subscription.
    private static let past: Set<String> = ["log", "seek", "series"]
    /// A recording costs the daemon time, so it counts as a write.
    static let writing: Set<String> = ["set", "transact", "do", "apply", "remove", "move", "restore", "trace"]

    let settings: Settings
    private let link: DaemonLink
    private let pulse: Pulse
    private let meter: Meter
    private let principal: String?
    private let budgets: Budgets
    private let pace: Pace
    private let pasts: Pasts
    /// The subscriptions of the principal at the daemon.
    private let places = Budget(total: Limits.subscriptions, share: Limits.subscriptionsOfPeer)
    private let machine: any Machine
    /// By the JSON of their parameters.
    private var watches: [Name: SharedWatch] = [:]
    private(set) var pages: [ObjectIdentifier: PageStream] = [:]
    private var hasEnded = false
    /// The time up to which pages have received all changes, if there is no connection now.
    private var lastKnown: Double?

    /// - Parameter principal: nil for the rights of the gateway's own user.
    init(
        settings: Settings, principal: String?, pulse: Pulse, meter: Meter, budgets: Budgets, pace: Pace,
        pasts: Pasts, _ machine: any Machine
    ) {
        (self.pace, self.pasts) = (pace, pasts)
        self.principal = principal
        self.budgets = budgets
        self.settings = settings
        self.pulse = pulse
        self.meter = meter
        self.machine = machine
        link = DaemonLink(path: settings.socket, principal: principal, budgets.memory, machine)
        link.isSilent = { pulse.isSilent }
        link.onChange = { [unowned self] isUp in didChange(isUp) }
    }

    package var pageCount: Int { pages.count }
    package var watchCount: Int { watches.count }
    /// The number of watches that the daemon has accepted.
    package var subscriptionCount: Int { watches.values.count { $0.subscription != nil } }

    func start() {
        link.connect()
        careLater()
    }

    /// Closes the streams and the connection for good.
    func stop() {
        hasEnded = true
        link.close()
        pasts.end(of: principal)
        for page in pages.values { page.end() }
    }

    /// Closes the streams of withdrawn tokens.
    func endPages(exceptOf isKnown: (String) -> Bool) {
        for page in pages.values where page.token.map(isKnown) == false { page.end() }
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
            case ("GET", "/value"), ("HEAD", "/value"): try value(request, reply: answer)
            case ("GET", "/watch"):
                reply(.stream([Wanted(parameters: try watch(request.target), since: since(request))], self))
            case ("POST", "/watch"):
                try request.target.allow()
                reply(.stream(try manyWatches(request), self))
            case ("POST", "/rpc"):
                try request.target.allow()
                rpc(request, reply: answer)
            case ("POST", "/past"):
                try request.target.allow("page")
                rpc(request, past: try page(request.target), reply: answer)
            case ("GET", "/metrics"), ("HEAD", "/metrics"):
                try request.target.allow("path")
                let isOpen = request.headers.list("accept").contains { $0.hasPrefix(Meter.openType) }
                metrics(of: request.target.all("path"), request.memory) { answer(isOpen ? $0 : Meter.classic($0)) }
            case ("POST", let path) where Pushes.isAddressed(path): push(request, reply: answer)
            default: answer(other(request))
            }
        } catch { answer(.refusal(.badRequest, error.text)) }
    }

    private func push(_ request: FrontDoor.Request, reply: @escaping (Answer) -> Void) {
        do throws(Answer) {
            guard let mutation = try settings.pushes.mutation(of: request) else {
                let option = request.target.path.hasPrefix("/hook/") ? "--hooks" : "--points"
                throw .refusal(.notFound, "the gateway takes no such pushes", hint: "\(option) names a map for them")
            }
            link.send("transact", ["mutations": [mutation], "label": "push"], request.memory) { result in
                do throws(Answer) {
                    _ = try Gateway.read(result)
                    reply(Answer(status: .noContent, body: []))
                } catch { reply(error) }
            }
        } catch { reply(error) }
    }

    /// The result in a reply of the daemon, or the answer to a page that gets none.
    private static func read(_ reply: Reply) throws(Answer) -> Value {
        let message = reply.message
        if let error = message["error"] { throw .refusal(error) }
        return message["result"] ?? .null
    }

    private func since(_ request: FrontDoor.Request) -> (epoch: String, revision: Int64)? {
        Target.position(request.headers.first("last-event-id") ?? request.target["since"])
    }

    // MARK: Reading

    private func value(
        _ request: FrontDoor.Request, reply: @escaping (Answer) -> Void
    ) throws(UnreadableOption) {
        let target = request.target
        try target.allow("path", "presentation", "typed")
        guard let path = target["path"] else {
            return reply(.refusal(.badRequest, "name the attribute, as in /value?path=/host.status"))
        }
        var parameters = ValueMap([("path", .string(path))])
        for name in ["presentation", "typed"] {
            if let flag = try target.flag(name) { parameters[.string(name)] = .bool(flag) }
        }
        link.send("get", .map(parameters), request.memory) { result in
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
    private func metrics(of paths: [String], _ memory: Account, reply: @escaping (Answer) -> Void) {
        link.send("stats", ["format": "openmetrics"], memory) { [self] stats in
            guard !paths.isEmpty else { return reply(metrics(stats, nil)) }
            link.send("get", ["paths": .list(paths.map { .string($0) })], memory) { [self] values in
                link.send("board", ["path": .string(Meter.commonNode(paths))], memory) { [self] board in
                    reply(metrics(stats, values, board))
                }
            }
        }
    }

    /// - Parameter board: has the panels of the attributes; what it lacks has none.
    private func metrics(_ stats: Reply, _ values: Reply?, _ board: Reply? = nil) -> Answer {
        var text: String
        do throws(Answer) {
            text = try Gateway.read(stats)["text"]?.string ?? ""
            // The daemon's part ends with the end mark, which may occur only once in the whole.
            if text.hasSuffix("# EOF\n") { text.removeLast("# EOF\n".count) }
            if let values {
                let values = try Gateway.read(values)["values"]?.map ?? ValueMap()
                text += Meter.attributes(values) + Meter.panels(values, board?.message["result"])
            }
        } catch { return error }
        text += meter.text
        text += """
            # HELP agd_gateway_pages Pages that are connected for events.
            # TYPE agd_gateway_pages gauge
            agd_gateway_pages \(pages.count)
            # HELP agd_gateway_subscriptions Subscriptions of the daemon that the pages share.
            # TYPE agd_gateway_subscriptions gauge
            agd_gateway_subscriptions \(watches.count)
            # HELP agd_gateway_memory_bytes Memory of bodies, answers, streams and stored values, of all principals.
            # TYPE agd_gateway_memory_bytes gauge
            agd_gateway_memory_bytes \(budgets.memory.used)
            # EOF

            """
        return Answer(status: .ok, type: "\(Meter.openType); version=1.0.0; charset=utf-8", body: Array(text.utf8))
    }

    /// The methods of the addresses.
    private static let methods: [String: [String]] = [
        "/value": ["GET", "HEAD"], "/watch": ["GET", "POST"], "/rpc": ["POST"], "/past": ["POST"],
        "/metrics": ["GET", "HEAD"],
        "/healthz": ["GET", "HEAD"], "/readyz": ["GET", "HEAD"], "/write": ["POST"], "/api/v2/write": ["POST"],
    ]

    /// A page, or why there is none.
    private func other(_ request: FrontDoor.Request) -> Answer {
        let path = request.target.path
        var allowed = Gateway.methods[path]
        if allowed == nil {
            if request.method == "GET" || request.method == "HEAD" || settings.pages[path] == nil {
                return page(request)
            }
            allowed = ["GET", "HEAD"]
        }
        let names = allowed ?? []
        var answer = Answer.refusal(
            .methodNotAllowed, "\(path) takes \(names.joined(separator: " and ")), not \(request.method)")
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
            status: .ok, type: file.type, body: file.body, headers: headers, tag: file.tag, isStored: true,
            packed: file.packed)
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

    /// The name of the page that looks back.
    private func page(_ target: Target) throws(UnreadableOption) -> String {
        guard let page = target["page"], !page.isEmpty, page.utf8.count <= Limits.pageName else {
            throw UnreadableOption(
                text:
                    "name the page, as in /past?page=5f2c, with at most \(Limits.pageName) bytes: each has a connection"
            )
        }
        return page
    }

    /// - Parameter past: the page whose connection to agd-past answers; nil: the daemon does.
    private func rpc(_ request: FrontDoor.Request, past: String? = nil, reply: @escaping (Answer) -> Void) {
        guard request.headers.first("content-type")?.hasPrefix("application/json") == true else {
            return reply(
                .refusal(
                    .unsupportedMediaType, "the body must be JSON",
                    hint: "send it with the header Content-Type: application/json"))
        }
        let message: Value
        do throws(Failure) { message = try Gateway.parse(request.body) } catch {
            return reply(Gateway.refusal(of: error, code: RequestFault.parse))
        }
        guard case .list(let calls) = message else {
            return call(message, past, request.memory) { reply(Answer(status: .ok, body: $0 + [Gateway.lineFeed])) }
        }
        guard !calls.isEmpty, calls.count <= Limits.batch else {
            let failure = Failure(.invalid, "a batch has 1 to \(Limits.batch) calls")
            return reply(Gateway.refusal(of: failure, code: RequestFault.invalidRequest))
        }
        var answers = [[UInt8]](repeating: [], count: calls.count)
        var missing = calls.count
        for (index, each) in calls.enumerated() {
            call(each, past, request.memory) { answer in
                answers[index] = answer
                if index + 1 < answers.count { answers[index].append(UInt8(ascii: ",")) }
                missing -= 1
                guard missing == 0 else { return }
                reply(Answer(status: .ok, body: [UInt8(ascii: "[")], rest: answers + [Array("]\n".utf8)]))
            }
        }
    }

    private static let lineFeed = UInt8(ascii: "\n")

    /// A value takes much more memory than its text, so the values are counted first.
    static func parse(_ body: [UInt8]) throws(Failure) -> Value {
        let count = body.withUnsafeBufferPointer { JSONParser().valueCount($0) }
        guard count <= Limits.bodyValues else {
            throw Failure(.limit, "a body has at most \(Limits.bodyValues) values", hint: "send it in parts")
        }
        do throws(Failure) { return try JSONParser.parseOnce(body) } catch {
            throw error.code == .limit ? error : Failure(.invalid, "the body is not JSON")
        }
    }

    private static func refusal(of failure: Failure, code: Int) -> Answer {
        let status: Status = failure.code == .limit ? .payloadTooLarge : .badRequest
        return Answer(status: status, body: Reply(failure, code: code).bytes(id: .null) + [lineFeed])
    }

    /// - Parameter reply: gets the bytes of the answer.
    private func call(_ message: Value, _ past: String?, _ memory: Account, reply: @escaping ([UInt8]) -> Void) {
        let id = message["id"] ?? .null
        func refuse(_ code: Int, _ failure: Failure) { reply(Reply(failure, code: code).bytes(id: id)) }
        guard let method = message["method"]?.string else {
            return refuse(RequestFault.invalidRequest, Failure(.invalid, "a request is an object with a method"))
        }
        guard method != "hello" else {
            let hint = "a page has the rights of its token, or of the gateway's user"
            return refuse(RequestFault.refused, Failure(.denied, "a page may not name itself", hint: hint))
        }
        let isReading = Gateway.reading.contains(method) || past != nil && Gateway.past.contains(method)
        guard isReading || Gateway.writing.contains(method) else {
            let hint =
                Gateway.past.contains(method)
                ? "/past answers it"
                : method == "subscribe" ? "use /watch for subscriptions" : "use agctl or the daemon's socket"
            let failure = Failure(.notFound, "the gateway has no method '\(method)'", hint: hint)
            return refuse(RequestFault.methodNotFound, failure)
        }
        guard isReading || past == nil else {
            return refuse(
                RequestFault.refused, Failure(.readOnly, "nobody changes the past", hint: "/rpc changes the present"))
        }
        guard isReading || settings.isWritable else {
            let hint = "agd-gateway --writable lets pages write"
            return refuse(RequestFault.refused, Failure(.denied, "the gateway only reads", hint: hint))
        }
        meter.note(method: method)
        let parameters = message["params"] ?? .map(ValueMap())
        guard let past else {
            return link.send(method, parameters, memory) { answer in reply(answer.bytes(id: id)) }
        }
        pasts.send(method, parameters, for: Pasts.Page(principal: principal, name: past), memory) { answer in
            reply(answer.bytes(id: id))
        }
    }

    // MARK: Watching

    private func watch(_ target: Target) throws(UnreadableOption) -> ValueMap {
        try target.allow("path", "maxRate", "css", "frames", "events", "reports", "writers", "since")
        let paths = target.all("path")
        guard !paths.isEmpty else { throw UnreadableOption(text: "name what to watch, as in /watch?path=/host/**") }
        var parameters = ValueMap([("paths", .list(paths.map { .string($0) }))])
        if let rate = try target.rate("maxRate") { parameters["maxRate"] = .double(rate) }
        if let css = try target.flag("css") { parameters["css"] = .bool(css) }
        if let reports = try target.flag("reports") { parameters["reports"] = .bool(reports) }
        if let writers = try target.flag("writers") { parameters["writers"] = .bool(writers) }
        if let rate = try target.rate("frames") { parameters["frames"] = ["rate": .double(rate)] }
        if let events = target["events"] {
            parameters["events"] = .list(events.split(separator: ",").map { .string(String($0)) })
        }
        return parameters
    }

    /// `{"subscriptions": […]}`, each with the parameters of the protocol's `subscribe`.
    private func manyWatches(_ request: FrontDoor.Request) throws(UnreadableOption) -> [Wanted] {
        guard let body = try? Gateway.parse(request.body).map,
            let list = body["subscriptions"]?.list, !list.isEmpty
        else { throw UnreadableOption(text: "the body is {\"subscriptions\": [{\"paths\": [\"/host/**\"]}]}") }
        guard list.count <= Limits.subscriptionsOfPage else {
            throw UnreadableOption(text: "a page has at most \(Limits.subscriptionsOfPage) subscriptions")
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

    private static let options = ["paths", "events", "maxRate", "css", "frames", "reports", "writers", "since"]

    /// Finds or makes the subscriptions, and sends new ones to the daemon before the stream begins: a browser
    /// reconnects again and again to a stream that breaks off, but not after a refusal. A stream of several
    /// subscriptions always begins and tells which ones were refused, so that a mistake in one does not cost the page
    /// the others. So does a stream while the daemon is away: it is interrupted until the daemon is back.
    func prepare(
        _ wanted: [Wanted], for peer: String, then: @escaping (Result<[Prepared], Answer>) -> Void
    ) {
        pace.spend(wanted.count * Pace.perSubscription)
        var found: [SharedWatch] = []
        // Until the page has joined them, or has got none, the subscriptions are in use.
        func finish(_ result: Result<[Prepared], Answer>) {
            then(result)
            for watch in found {
                watch.release(at: machine.now)
                forgetIfRefused(watch)
            }
        }
        for each in wanted {
            guard let watch = sharedWatch(each.parameters, for: peer) else {
                return finish(
                    .failure(
                        .refusal(
                            .serviceUnavailable, "there are too many different subscriptions", code: "limit",
                            hint: "subscriptions with the same parameters are shared; close other pages")))
            }
            watch.expectPage()
            found.append(watch)
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
                if let refusal, found.count == 1 || hasEnded { return finish(.failure(refusal)) }
                finish(.success(prepared))
            }
        }
    }

    typealias Prepared = Result<SharedWatch, Answer>

    /// - Returns: nil if there are too many.
    private func sharedWatch(_ parameters: ValueMap, for peer: String) -> SharedWatch? {
        let key = Value.map(parameters).jsonText
        if let watch = watches[key] { return watch }
        let place = Account(places, [peer])
        while !place.take(1) {
            guard forgetLongestIdle() else { return nil }
        }
        let owners = Owners(peer: peer, principal: principal).names
        let memory = Account(budgets.memory, owners, free: Limits.freeOfSubscription)
        let watch = SharedWatch(parameters: parameters, memory: memory, place: place, pace)
        watches[key] = watch
        return watch
    }

    /// A subscription without pages is kept for a while, unless there is no space.
    private func forgetLongestIdle() -> Bool {
        let idle = watches.values.filter(\.isIdle)
        guard let watch = idle.min(by: { ($0.idleSince ?? 0) < ($1.idleSince ?? 0) }) else { return false }
        unsubscribe(watch)
        return true
    }

    private func unsubscribe(_ watch: SharedWatch) {
        if let subscription = watch.subscription { link.unsubscribe(subscription) }
        watch.connectionLost()
        forget(watch)
    }

    /// Ensures that the daemon has accepted the subscription.
    /// - Parameter then: called with nil if it has.
    private func subscribe(_ watch: SharedWatch, then: @escaping (Answer?) -> Void) {
        guard watch.subscription == nil else { return then(nil) }
        watch.awaiting.append(then)
        if watch.awaiting.count == 1 { ask(watch) }
    }

    private func ask(_ watch: SharedWatch) {
        var parameters = watch.parameters
        parameters["bookmarks"] = true
        link.send("subscribe", .map(parameters)) { [self] reply in
            if reply.isRefusal, reply.message["error"]?["data"]?["code"] == "limit", forgetLongestIdle() {
                return ask(watch)
            }
            let answer = accept(reply, for: watch)
            let awaiting = watch.awaiting
            watch.awaiting = []
            for each in awaiting { each(answer) }
            forgetIfRefused(watch)
        }
    }

    /// A subscription that no page uses and the daemon has refused need not be kept.
    private func forgetIfRefused(_ watch: SharedWatch) {
        if watch.subscription == nil, watch.isUnused, watch.awaiting.isEmpty, link.isUp { forget(watch) }
    }

    /// - Returns: nil if the daemon has accepted.
    private func accept(_ reply: Reply, for watch: SharedWatch) -> Answer? {
        let value: Value
        do throws(Answer) { value = try Gateway.read(reply) } catch { return error }
        guard case .int(let number)? = value["subscription"], let epoch = value["epoch"]?.string else {
            return .unavailable("the daemon's answer cannot be understood")
        }
        watch.accepted(as: number, epoch: epoch)
        link.listen(to: number) { [weak watch, weak self] method, parameters in
            guard let watch, case .map(let map) = parameters else { return }
            guard method != DaemonLink.overflow, watch.receive(method, map) else {
                self?.refuse(watch, method == DaemonLink.overflow ? map["error"] : nil)
                return
            }
            if method == "ended" { self?.end(watch, map) }
        }
        return nil
    }

    private func forget(_ watch: SharedWatch) {
        let key = Value.map(watch.parameters).jsonText
        if watches[key] === watch { watches[key] = nil }
    }

    /// The values of a subscription do not fit into the memory.
    private func refuse(_ watch: SharedWatch, _ error: Value?) {
        let refusal = Answer.refusal(error ?? Reply(DaemonLink.noSpace).message["error"] ?? .null)
        watch.refuse(refusal)
        watch.end(refusal)
        unsubscribe(watch)
        watch.drop()
    }

    /// The daemon has ended a subscription.
    private func end(_ watch: SharedWatch, _ event: ValueMap) {
        watch.end(.refusal(["message": event["reason"] ?? .null, "data": ["code": event["code"] ?? .null]]))
        forget(watch)
    }

    /// - Returns: nil if there are too many streams.
    func page(on channel: any Channel, isPacked: Bool, token: String?) -> PageStream? {
        let owners = Owners(peer: channel.peer, principal: principal).names
        let place = Account(budgets.streams, owners)
        let memory = Account(budgets.memory, owners, free: Limits.free)
        guard place.take(1), memory.take(PageStream.size(isPacked: isPacked)) else { return nil }
        let page = PageStream(
            channel: channel, isPacked: isPacked, token: token, memory: memory, place: place, pace, machine)
        pages[ObjectIdentifier(page)] = page
        return page
    }

    func begin(_ page: PageStream, _ prepared: [Prepared], for wanted: [Wanted]) {
        // One may have ended while the page waited for the others.
        let watches = prepared.map { each in each.flatMap { $0.ending.map(Prepared.failure) ?? each } }
        page.begin(Array(zip(watches, wanted.map(\.since))), hello: hello)
        if !link.isUp { page.tell(isLive: false, silence) }
    }

    func end(_ page: PageStream) {
        page.close(at: machine.now)
        pages[ObjectIdentifier(page)] = nil
    }

    /// The present time of both clocks, with which a page places timelines (on the machine's monotonic clock) and dates
    /// (on its wall clock). The clocks of the page's machine may differ.
    private var clock: ValueMap {
        ValueMap([
            ("monotonic", .double(machine.now)), ("time", .double(machine.date)), ("isLive", .bool(link.isUp)),
            ("isWritable", .bool(settings.isWritable)), ("hasPast", .bool(pasts.isThere)),
        ])
    }

    private var hello: ValueMap {
        var hello = clock
        if !settings.machineName.isEmpty { hello["host"] = .string(settings.machineName) }
        return hello
    }

    // MARK: Connection to the daemon

    private func didChange(_ isUp: Bool) {
        lastKnown = isUp ? nil : pulse.isSilent ? pulse.lastAnswer : machine.now
        for watch in watches.values where !isUp { watch.connectionLost() }
        for page in pages.values { page.tell(isLive: isUp, silence) }
        for watch in watches.values where isUp { resume(watch) }
    }

    /// How old the newest values of pages are, in seconds, if there is no connection.
    private var silence: ValueMap {
        guard let lastKnown else { return ValueMap() }
        return ValueMap([("silence", .double(machine.now - lastKnown))])
    }

    /// A daemon that has just started may not have loaded the scene yet. Pages learn once that they have to wait for
    /// it.
    private func resume(_ watch: SharedWatch, isAgain: Bool = false) {
        subscribe(watch) { [self] refusal in
            guard let refusal, link.isUp else { return }
            if !isAgain { watch.refuse(refusal) }
            machine.after(1) { [self] in
                if watch.subscription == nil, link.isUp, !watch.isUnused { resume(watch, isAgain: true) }
            }
        }
    }

    private func careLater() {
        machine.after(Gateway.care) { [self] in
            if hasEnded { return }
            care()
            careLater()
        }
    }

    private func care() {
        let now = machine.now
        for page in pages.values {
            page.becameWritable()
            if now - page.lastWrite >= Gateway.beat { page.beat(clock) }
        }
        for watch in watches.values where watch.isIdle(at: now) { unsubscribe(watch) }
    }
}
