import AttributeValues
import CSimulatedKernel
import TestSupport

// What clients are told, and how the world comes to rest.
extension World {
    // MARK: What clients are told

    func parse(_ line: ArraySlice<UInt8>) -> Value? {
        line.withUnsafeBufferPointer { try? parser.parse($0).value }
    }

    func isTold(_ name: StaticString, in line: ArraySlice<UInt8>) -> Bool {
        line.withUnsafeBytes { sim_contains($0.baseAddress, $0.count, name.utf8Start, name.utf8CodeUnitCount) }
    }

    func receive(_ client: Client, _ line: ArraySlice<UInt8>) {
        guard let message = parse(line) else {
            return fault("[Messages] \(client.name) is sent \(String(decoding: line.prefix(200), as: UTF8.self))")
        }
        tell("\(client.name) ← \(String(decoding: line.prefix(400), as: UTF8.self))")
        // Who names it is told that it may not.
        if client.user != 900, isTold(client.role == .rowdy ? "secretchild" : "secret", in: line) {
            fault(
                "[Rights] \(client.name) is told of what it may not read: \(String(decoding: line.prefix(400), as: UTF8.self))"
            )
        }
        if let list = message.list {
            for reply in list { answer(client, reply) }
        } else if message.member("method") != nil {
            event(client, message)
        } else {
            answer(client, message)
        }
    }

    func event(_ client: Client, _ event: Value) {
        if client.role == .greedy { return }
        if event.member("method")?.string == "forward" { return forward(client, event.member("params") ?? .null) }
        guard let watch = client.watch, let parameters = event.member("params"),
            let number = parameters.integer("subscription"), number == watch.subscription
        else { return fault("[Events] \(client.name) is sent \(event.jsonText.prefix(300))") }
        let method = event.member("method")?.string
        if method == "ended" {
            client.watch = nil
            return
        }
        record(watch, .event(event))
        guard let revision = parameters.integer("revision") else { return }
        latest = max(latest, revision)
        let isPosition = method == "update" || method == "bookmark" || !watch.validator.events.contains("update")
        if method == "update" { watch.awaitsSnapshot = false }
        if isPosition { watch.position = max(watch.position ?? 0, revision) }
    }

    func answer(_ client: Client, _ reply: Value) {
        guard let id = reply.integer("id"), let pending = client.pending.removeValue(forKey: id) else {
            if client.role == .rowdy || client.role == .greedy { return }
            // Beside a greedy user there is room for a modest one, but not for many clients.
            let isRefused = reply.member("error")?.member("data")?.member("code") == "limit"
            if hasGreed, isRefused, client.role != .modest { return }
            return fault("[Messages] \(client.name) is answered \(reply.jsonText.prefix(300)), and has not asked")
        }
        let error = reply.member("error")
        let code = error?.member("data")?.member("code")?.string
        let result = reply.member("result") ?? .null
        if let revision = result.integer("revision") {
            if revision < pending.low, result.member("repeated") != true {
                fault("[Order] \(client.name) is answered at \(revision), and \(pending.low) was told before it asked")
            }
            latest = max(latest, revision)
        }
        switch pending.kind {
        case .operation(let operation):
            operation.high = max(latest, committed)
            // A request that was sent again is refused now for want of a right, and may have been performed before.
            if code == "denied", operation.mayBeDenied, operation.isRepeated { return lost.append(operation) }
            if let code { operation.refusal = code } else { operation.revision = result.integer("revision") }
            judgement.operations.append(operation)
            if case .owner = client.role, case .change(let changes) = operation.kind,
                case .set(let path, .int(let number))? = changes.first, path.hasPrefix("/c."), code == nil
            {
                client.acknowledged = number
            }
            if case .tree(let tree) = operation.kind, code == nil { client.tree = tree }
            if case .forwarded(let number) = operation.kind { forwardedAnswer(client, number, reply) }
            judgement.note(operation)
        case .get:
            if let error { return fault("[get] \(client.name) is refused \(error.jsonText)") }
            let revision = result.integer("revision") ?? 0
            judgement.reads.append((client.name, result.member("values") ?? .null, revision))
            if client.mustLook { found(client, result.member("values") ?? .null, revision) }
            if let watch = client.watch, watch.subscription != nil {
                record(watch, .answered(result.member("values") ?? .null, revision))
            }
        case .subscribe(let since):
            guard let watch = client.watch else { return }
            if let code {
                if code != "notFound" { fault("[subscribe] \(client.name) is refused \(error?.jsonText ?? "")") }
                client.watch = nil
                return
            }
            watch.subscription = result.integer("subscription")
            record(watch, .subscribed(result, since: since))
            watch.awaitsSnapshot = result.member("resumed") != true && watch.validator.events.contains("update")
            if !watch.awaitsSnapshot, since == nil || !watch.validator.events.contains("update") {
                watch.position = result.integer("revision")
            }
            return
        case .delegate:
            client.delegation = result.integer("subscription")
            // The daemon may not have noticed yet that the connection before has ended.
            if client.delegation == nil, code != "conflict" { fault("[delegate] it is refused: \(reply.jsonText)") }
            if client.delegation != nil { isFarDelegated = true }
        case .answer: if error != nil, code != "notFound" { fault("[answer] it is refused: \(reply.jsonText)") }
        case .greedy:
            if error != nil, code != "limit" {
                fault("[Errors] \(client.name) is answered \(reply.jsonText.prefix(300))")
            }
        case .refused: if code != "notFound" { fault("[Errors] \(client.name) is answered \(reply.jsonText)") }
        case .change:
            if let error { fault("[transact] \(client.name) is refused \(error.jsonText)") }
            acknowledged.append(result.integer("revision") ?? 0)
        case .ping, .other:
            if let error { return fault("[Errors] \(client.name) is refused \(error.jsonText)") }
        }
        // Before any reply, a client has all updates of revisions up to the one in the reply.
        if let watch = client.watch, watch.subscription != nil {
            let known = max(pending.low, result.member("repeated") == true ? 0 : result.integer("revision") ?? 0)
            record(watch, .barrier(known))
            if watch.rate == nil, !watch.awaitsSnapshot { watch.position = max(watch.position ?? 0, known) }
        }
    }

    /// The only writer of something has read it.
    func found(_ client: Client, _ values: Value, _ revision: Int64) {
        client.mustLook = false
        let low = client.lostSince ?? latest
        client.lostSince = nil
        let content = values.map?.first { _ in true }?.value
        let kind: Operation.Kind
        switch client.role {
        case .owner(let number):
            guard case .int(let value)? = content?.member("value") else {
                return fault("[get] no value of /c.v\(number)")
            }
            if value < client.acknowledged || value > client.written {
                fault(
                    "[Durability] /c.v\(number) is \(value); \(client.acknowledged) was acknowledged and \(client.written) written"
                )
            }
            kind = .found([.set("/c.v\(number)", .int(value))])
        default:
            func isThere(_ path: String) -> Bool { values.map?[.string(path)]?.member("value") != nil }
            let boxes = (1...Model.Tree.boxes).filter { isThere("/box\($0)/ball.v") }
            if boxes.count != 1 { fault("[move] the ball is in the boxes \(boxes)") }
            client.tree = Model.Tree(hasNode: isThere("/w/m.z"), box: boxes.first ?? 1)
            if case .int(let layer)? = values.map?["/mark.n"]?.member("value") { client.tree.layer = Int(layer) }
            client.tree.isLampRemoved = client.tree.layer > 0 && !isThere("/lamp.on")
            if client.tree.layer == 1 {
                let isMade = edition.hasPlan ? !isThere("/plan.e") : isThere("/plan.l")
                client.tree.plan = isMade ? .made : .completed
            }
            kind = .foundTree(client.tree)
        }
        let operation = Operation(kind, "found", author: client.author, low: low)
        operation.revision = revision
        judgement.operations.append(operation)
    }

    // MARK: Coming to rest

    /// All requests are answered, all events read, all outcomes known. Then everything is judged.
    func comeToRest() {
        tell("coming to rest")
        disarm()
        for client in clients { client.isStalled = false }
        if !isReaderWriting {
            isReaderWriting = true
            changeAccess()
        }
        var rounds = 0
        while faults.isEmpty {
            if daemon == nil { restart() }
            rounds += 1
            if rounds > 5000 {
                let waiting = clients.filter { !$0.pending.isEmpty }.map { "\($0.name): \($0.pending)" }
                let pages = pages.filter { !$0.hasAll }.map { "\($0.name) \($0.channel.status ?? 0)" }
                return fault("[Slow clients and limits] in vain wait \((waiting + pages).joined(separator: "; "))")
            }
            for client in clients {
                if let connection = client.connection { sim_set_window(connection, 200_000) }
                if client.hasEnded, client.pending.isEmpty { lose(client) }
                if client.mustLook { look(client) }
                if client.role == .greedy { lose(client) }
            }
            if let client = clients.first(where: { client in
                lost.contains { $0.author == client.author } && !client.hasEnded
            }) {
                repeatLost(client)
            }
            turn(times: 2)
            read()
            // What waits for somebody who does not answer waits for seconds.
            sim_advance(rounds < 500 ? 1_000_000 : 10_000_000)
            let isDone =
                lost.isEmpty
                && clients.allSatisfy {
                    $0.pending.isEmpty && $0.output.isEmpty && !$0.mustLook
                        && ($0.connection.map { sim_waiting($0) } ?? 0) == 0
                }
            let haveAll = restPages()
            if isDone, haveAll, rounds > 3 { break }
        }
        // Behind what they were told last comes a barrier.
        for client in clients where client.connection != nil && !client.hasEnded { send(client, "ping", "{}", .ping) }
        settle { self.clients.allSatisfy { $0.pending.isEmpty } }
        for _ in 0..<40 where daemon != nil {
            sim_advance(20_000_000)
            turn(times: 2)
            read()
        }
        for _ in 0..<Model.pastTime where daemon != nil {
            sim_advance(1_000_000_000)
            turn(times: 2)
            read()
        }
        guard faults.isEmpty, daemon != nil else { return }
        guard let (values, revision) = readEverything() else { return }
        checkPages(at: revision)
        judgement.judge(values, revision, wills: wills, fault)
        // The daemon notices that the last probe is gone.
        turn(times: 3)
        guard let figures = ask("stats", "{}") else { return }
        let connected = clients.filter { $0.connection != nil }
        let wanted: [(String, Int)] = [
            ("clients", connected.count + 1 + (gateway?.lineCount ?? 0)),
            (
                "subscriptions",
                connected.filter { $0.watch?.subscription != nil }.count + (gateway?.subscriptionCount ?? 0)
            ),
            ("running_timelines", 0),
        ]
        for (name, count) in wanted where figures.integer(name) != Int64(count) {
            fault("[stats] \(name) is \(figures.integer(name) ?? -1) and not \(count): something is not given back")
        }
    }

    func settle(_ condition: () -> Bool) {
        for _ in 0..<5000 where daemon != nil && faults.isEmpty && !condition() {
            turn(times: 2)
            read()
            sim_advance(1_000_000)
        }
    }

    func readEverything() -> (Value, Int64)? {
        ask("get", "{\"paths\":[\"/**\",\"/w.o.x\",\"/w.o.y\"]}").map {
            ($0.member("values") ?? .null, $0.integer("revision") ?? 0)
        }
    }

    /// What the daemon's own user is answered.
    func ask(_ method: String, _ parameters: String) -> Value? {
        let probe = Client(-1, .architect, user: 900)
        guard connect(probe) else {
            fault("nobody listens")
            return nil
        }
        defer { if let connection = probe.connection { sim_hang_up(connection) } }
        send(probe, method, parameters, .other)
        for _ in 0..<500 {
            turn()
            for line in probe.lines() {
                if let result = parse(line)?.member("result") { return result }
                fault("[\(method)] a probe is answered \(String(decoding: line.prefix(300), as: UTF8.self))")
                return nil
            }
            sim_advance(1_000_000)
        }
        fault("[\(method)] a probe is not answered")
        return nil
    }
}
