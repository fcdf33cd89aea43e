import AttributeValues
import CSimulatedKernel
import GatewayHarness
import TestSupport

/// A page that watches the graph through the gateway, over one stream after another.
final class Page {
    /// The name of a principal, whose token it has.
    let principal: String
    let number: Int
    /// Its subscriptions.
    var watches: [Watch] = []
    /// It also asks for what it may not read, behind the others.
    let isCurious: Bool
    var channel = FakeChannel()
    var hasBegun: [Bool] = []
    /// The revision of the last `update` of each subscription.
    var told: [Int64] = []
    /// The last `id`: an epoch and a revision.
    var lastID: String?
    private var rest = ""

    init(_ number: Int, _ principal: String, isCurious: Bool) {
        (self.number, self.principal, self.isCurious) = (number, principal, isCurious)
    }

    var name: String { "page \(number) (\(principal))" }
    var position: Int64? { lastID?.split(separator: ":").last.flatMap { Int64($0) } }
    var hasAll: Bool { channel.isOpenStream && hasBegun.allSatisfy { $0 } }

    func begin(_ channel: FakeChannel) {
        self.channel = channel
        rest = ""
        hasBegun = watches.map { _ in false }
    }

    /// The events that are complete with these bytes: their names and data.
    func take(_ text: String) -> [(name: String, id: String?, data: Value)] {
        rest += text
        var events: [(String, String?, Value)] = []
        while let end = rest.firstRange(of: "\n\n") {
            var fields: [Substring: Substring] = [:]
            for line in rest[..<end.lowerBound].split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1)
                fields[parts[0]] = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
            }
            rest = String(rest[end.upperBound...])
            let data = fields["data"].flatMap { try? JSONParser.parseOnce($0.utf8) } ?? .null
            events.append((fields["event"].map(String.init) ?? "", fields["id"].map(String.init), data))
        }
        return events
    }
}

/// A request of a page that is not answered yet.
struct PageCall {
    let page: Page
    let channel: FakeChannel
    /// nil: it reads.
    let operation: Operation?
    let low: Int64
}

// [Pages] Pages that open, subscribe, stall, close and resume, through the real handlers of the gateway.
extension World {
    /// `pat` may read and write what everybody may, `guest` only a part. The last has no token.
    static let principals = ["pat", "guest"]
    static let guestPart = "/bank"
    private static let pagePatterns = [
        ["/w/**"], ["/w.a", "/w.b", "/w.sum"], ["/w/**.q"], ["/t/**", "/w.a"], ["/bank/**"], ["/c/**"], ["/w/*.r1"],
        ["/box2/**", "/box1/**"], ["/w.text"], ["/act.n", "/act.p"],
    ]

    func openGateway() {
        SimulatedGateway.writeTokens(World.principals)
        let gateway = SimulatedGateway()
        gateway.start()
        self.gateway = gateway
        if !pages.isEmpty { return }
        for number in 0..<3 + generator.below(4) {
            let isGuest = number > 0 && generator.chance(25)
            let page = Page(number, isGuest ? "guest" : "pat", isCurious: isGuest && generator.chance(50))
            for _ in 0..<1 + generator.below(3) {
                let patterns = isGuest ? ["\(World.guestPart)/**"] : generator.pick(World.pagePatterns)
                let events: Set = generator.chance(25) ? ["update", "structure"] : ["update"]
                let watch = Watch(
                    WatchValidator(
                        "\(page.name) \(patterns)", judgement.truth, patterns: patterns, events: events),
                    motion: nil, rate: nil)
                page.watches.append(watch)
                judgement.watches.append(watch)
            }
            page.told = page.watches.map { _ in 0 }
            pages.append(page)
        }
    }

    /// What somebody does with a page, or to the gateway.
    func stepPages() {
        guard gateway != nil else { return openGateway() }
        let page = generator.pick(pages)
        switch generator.below(24) {
        case 0..<6: open(page)
        case 6, 7: leave(page)
        case 8: page.channel.callsToLive = generator.below(6)
        case 9..<12:
            page.channel.isReading.toggle()
            tell("\(page.name) \(page.channel.isReading ? "reads again" : "reads nothing")")
        case 12..<14: page.channel.read()
        case 14..<18: write(page)
        case 18..<20: ask(page)
        case 20: isGatewayPaused.toggle()
        case 21:
            // It has come from elsewhere, or from long ago.
            if !page.channel.isOpenStream { page.lastID = generator.chance(50) ? "elsewhere:5" : nil }
        case 22: if generator.chance(40) { killGateway() }
        default:
            if generator.chance(30) {
                isGuestKnown.toggle()
                tell("the token of guest is \(isGuestKnown ? "back" : "withdrawn")")
                SimulatedGateway.writeTokens(isGuestKnown ? World.principals : ["pat"])
            }
        }
        turnPages()
    }

    /// A turn of the gateway, and what pages and the gateway's connections see of it.
    func turnPages() {
        guard let gateway else { return }
        if !isGatewayPaused { gateway.turn() }
        for page in pages where page.channel.isClosing { leave(page) }
        let streams = pages.count { $0.channel.isOpenStream }
        if gateway.pageCount != streams {
            fault("[Pages] the gateway has \(gateway.pageCount) pages, and \(streams) streams are open")
        }
        let done = pageCalls.filter { $0.channel.status != nil || $0.channel.isClosed }
        if done.isEmpty { return }
        pageCalls.removeAll { $0.channel.status != nil || $0.channel.isClosed }
        for call in done { answered(call) }
    }

    private func authorization(_ page: Page) -> (String, String) { ("Authorization", "Bearer token-\(page.principal)") }

    func open(_ page: Page) {
        guard let gateway else { return }
        leave(page)
        let channel = FakeChannel(peer: "10.0.0.\(page.number % 3)")
        channel.isReading = isCalm || generator.chance(80)
        channel.callsToLive = !isCalm && generator.chance(20) ? generator.below(8) : nil
        page.begin(channel)
        for watch in page.watches { record(watch, .interrupted) }
        channel.onData = { [unowned self] in take(page, $0) }
        // It knows nothing any more.
        if !isCalm, generator.chance(10) { page.lastID = nil }
        tell("\(page.name) opens, from \(page.lastID ?? "the beginning")")
        requests += 1
        var subscriptions = page.watches.map { watch -> Value in
            var parameters = ValueMap()
            parameters["paths"] = .list(watch.validator.patterns.map { .string($0) })
            if watch.validator.events.count > 1 { parameters["events"] = ["update", "structure"] }
            let parts = page.lastID?.split(separator: ":").map(String.init) ?? []
            if page.watches.count > 1 || page.isCurious, parts.count == 2, let revision = Int64(parts[1]) {
                parameters["since"] = ["epoch": .string(parts[0]), "revision": .int(revision)]
            }
            return .map(parameters)
        }
        if page.isCurious { subscriptions.append(["paths": [.string("/\(Model.hidden)/**"), "/w/**"]]) }
        if subscriptions.count == 1, let only = subscriptions.first?.map {
            let paths = (only["paths"]?.list ?? []).compactMap(\.string).map { "path=\($0)" }
            let events = only["events"] == nil ? [] : ["events=update,structure"]
            channel.ask(
                gateway.door, "GET", "/watch?" + (paths + events).joined(separator: "&"),
                [authorization(page)] + (page.lastID.map { [("Last-Event-ID", $0)] } ?? []))
        } else {
            let body: Value = ["subscriptions": .list(subscriptions)]
            channel.ask(
                gateway.door, "POST", "/watch", [authorization(page), ("Content-Type", "application/json")],
                body.jsonText)
        }
    }

    func leave(_ page: Page) {
        if !page.channel.isClosed { tell("\(page.name) closes") }
        page.channel.leave()
    }

    private func killGateway() {
        guard let gateway else { return }
        tell("the gateway is killed")
        gateway.die()
        self.gateway = nil
        for page in pages { page.channel.drop() }
        for call in pageCalls {
            call.channel.drop()
            answered(call)
        }
        pageCalls = []
        isGatewayPaused = false
        openGateway()
    }

    // MARK: What pages are told

    private func take(_ page: Page, _ text: String) {
        tell("\(page.name) ← \(text.prefix(400))")
        // Who names it is told that it may not.
        if text.contains(page.isCurious ? "\(Model.hidden)child" : Model.hidden) {
            fault("[Rights] \(page.name) is told of what it may not read: \(text.prefix(400))")
        }
        for event in page.take(text) {
            if let id = event.id { page.lastID = id }
            hear(page, event.name, event.data)
        }
    }

    private func hear(_ page: Page, _ name: String, _ data: Value) {
        let revision = data.integer("revision") ?? 0
        if page.principal != "guest" { latest = max(latest, revision) }
        func event() -> Value { ["method": .string(name), "params": data] }
        guard let index = data.integer("subscription").map({ Int($0) }) else {
            switch name {
            case "bookmark":
                for (place, watch) in page.watches.enumerated()
                where page.hasBegun[place] && page.told[place] <= revision {
                    record(watch, .event(event()))
                }
            case "interrupted":
                page.hasBegun = page.watches.map { _ in false }
                for watch in page.watches { record(watch, .interrupted) }
            case "hello", "live", "alive": break
            default: fault("[Pages] \(page.name) is sent \(name) \(data.jsonText.prefix(200))")
            }
            return
        }
        let code = data.member("error")?.member("code")
        if name == "refused", code == "limit" {
            // The connection to the daemon was lost while the stream began. A page asks again.
            return leave(page)
        }
        if page.isCurious, index == page.watches.count {
            if name != "refused" || code != "denied" {
                fault("[Rights] \(page.name) is sent \(name) \(data.jsonText.prefix(200))")
            }
            return
        }
        guard page.watches.indices.contains(index) else { return fault("[Pages] there is no subscription \(index)") }
        let watch = page.watches[index]
        for change in data.member("changes")?.list ?? [] {
            let path = change.member("path")?.string ?? ""
            if page.principal == "guest", !path.hasPrefix("\(World.guestPart).") {
                fault("[Rights] \(page.name) is told of \(path)")
            }
        }
        switch name {
        case "resumed":
            page.hasBegun[index] = true
            record(watch, .subscribed(["resumed": true, "revision": .int(revision)], since: page.position ?? 0))
        case "update":
            if data.member("initial") == true {
                page.hasBegun[index] = true
                record(watch, .subscribed(["revision": .int(revision)], since: nil))
            } else if !page.hasBegun[index] {
                fault("[Pages] \(page.name) is sent an update before its beginning")
            }
            page.told[index] = revision
            record(watch, .event(event()))
        case "structure": record(watch, .event(event()))
        default: fault("[Pages] \(page.name) is sent \(name) \(data.jsonText.prefix(200))")
        }
    }

    // MARK: What pages ask

    private func call(_ page: Page, _ method: String, _ parameters: String, _ operation: Operation?) {
        guard let gateway, pageCalls.count < 40 else { return }
        requests += 1
        tell("\(page.name) → \(method) \(parameters.prefix(300))")
        let channel = FakeChannel(peer: "10.0.0.\(page.number % 3)")
        if generator.chance(10) { channel.callsToLive = 0 }
        pageCalls.append(PageCall(page: page, channel: channel, operation: operation, low: latest))
        channel.ask(
            gateway.door, "POST", "/rpc", [authorization(page), ("Content-Type", "application/json")],
            "{\"id\":1,\"method\":\"\(method)\",\"params\":\(parameters)}")
        // The client has gone while the request was on its way.
        if generator.chance(10) { channel.leave() }
    }

    private func write(_ page: Page) {
        guard daemon != nil else { return }
        nextOnce += 1
        let once = "p\(place)-\(nextOnce)"
        let changes = account()
        let parameters = "{\"mutations\":[\(changes.map(\.text).joined(separator: ","))],\"once\":\"\(once)\"}"
        let operation = Operation(
            .change(changes), "transact \(parameters)", once: once, author: "as:\(page.principal)", low: latest)
        if page.principal == "guest" { operation.mustFail = "denied" }
        call(page, "transact", parameters, operation)
    }

    private func ask(_ page: Page) {
        call(page, "get", "{\"paths\":[\"\(generator.pick(["/bank/**", "/bank.x1"]))\"]}", nil)
    }

    private func answered(_ call: PageCall) {
        func isUnknown() {
            // A page without rights would be refused again.
            guard let operation = call.operation, operation.mustFail == nil else { return }
            lost.append(operation)
        }
        guard call.channel.status != nil else { return isUnknown() }
        if call.channel.status == 401, call.page.principal == "guest" { return }
        let reply = call.channel.json
        let code = reply.member("error")?.member("data")?.member("code")?.string
        if code == "unavailable" { return isUnknown() }
        guard call.channel.status == 200 else {
            // A gateway that does not reach the daemon says so.
            if call.channel.status == 503 { return isUnknown() }
            return fault(
                "[Pages] \(call.page.name) is answered \(call.channel.status ?? 0): \(reply.jsonText.prefix(200))")
        }
        let result = reply.member("result") ?? .null
        let revision = result.integer("revision")
        if let revision {
            if revision < call.low, result.member("repeated") != true {
                fault("[Order] \(call.page.name) is answered at \(revision), and \(call.low) was told before it asked")
            }
            latest = max(latest, revision)
        }
        guard let operation = call.operation else {
            if reply.member("error") != nil {
                return fault("[get] \(call.page.name) is refused \(reply.jsonText.prefix(300))")
            }
            return judgement.reads.append((call.page.name, result.member("values") ?? .null, revision ?? 0))
        }
        operation.high = max(latest, committed)
        if let code { operation.refusal = code } else { operation.revision = revision }
        judgement.operations.append(operation)
        judgement.note(operation)
    }

    // MARK: Coming to rest

    /// - Returns: true if each page has all that it watches, and nothing is under way.
    func restPages() -> Bool {
        guard gateway != nil else { return true }
        isGatewayPaused = false
        if !isGuestKnown {
            isGuestKnown = true
            SimulatedGateway.writeTokens(World.principals)
        }
        for page in pages {
            page.channel.callsToLive = nil
            page.channel.isReading = true
            page.channel.read()
            // A refused one is asked for again.
            if page.channel.isClosed || page.channel.status.map({ $0 != 200 }) == true || page.channel.exchange == nil {
                let wasCalm = isCalm
                isCalm = true
                open(page)
                isCalm = wasCalm
            }
        }
        turnPages()
        return pageCalls.isEmpty && pages.allSatisfy { $0.hasAll && $0.channel.waiting == 0 }
    }

    /// Everybody has all changes up to the last revision.
    func checkPages(at revision: Int64) {
        for page in pages where gateway != nil {
            if !page.hasAll { fault("[Pages] \(page.name) has no beginning at rest") }
            for watch in page.watches { record(watch, .barrier(revision)) }
        }
    }

    /// When all pages have gone, nothing is left of them.
    func closePages() {
        guard let gateway else { return }
        for page in pages { leave(page) }
        // A subscription without pages is kept for a minute.
        for _ in 0..<200 where daemon != nil {
            sim_advance(500_000_000)
            turn(times: 2)
            read()
        }
        // No answer of the daemon is there by half.
        sim_set_short(false)
        turn(times: 5)
        let budgets = gateway.door.budgets
        let left = [
            ("pages", gateway.pageCount), ("subscriptions", gateway.watchCount),
            ("streams", budgets.streams.used), ("bytes", budgets.memory.used),
        ]
        for (name, count) in left where count != 0 {
            fault("[Pages] all pages have gone, and the gateway has \(count) \(name)")
        }
        gateway.die()
        self.gateway = nil
        pages = []
    }
}
