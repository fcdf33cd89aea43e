import AttributeValues
import CSimulatedKernel
import TestSupport

// [delegate] One client performs what others write at `/far` and below. It answers some requests, refuses some, and
// forgets some. What it writes there itself is written at once.
extension World {
    enum Verdict: Equatable {
        case performed(Int64)
        case refused(String)
    }

    static let far = "/far"
    /// Seconds that a write waits for the delegate.
    static let forwardTime = 3.0

    func delegate() {
        guard let client = clients.first(where: { $0.role == .delegate }), connect(client), !client.hasEnded,
            client.pending.count < 40
        else { return }
        if client.delegation == nil {
            guard !client.pending.values.contains(where: { if case .delegate = $0.kind { true } else { false } }) else {
                return
            }
            return send(client, "delegate", "{\"path\":\"\(World.far)\"}", .delegate)
        }
        if generator.chance(50) {
            perform(client, [.set("\(World.far).\(generator.pick(["x", "y"]))", .int(Int64(generator.below(100))))])
        }
    }

    /// Others write there.
    func writeFar() {
        // Before the first delegation the daemon itself would perform it.
        guard isFarDelegated else { return delegate() }
        let client = generator.pick(clients.filter { $0.role == .writer })
        guard connect(client), client.pending.count < 40 else { return }
        nextFar += 1
        let operation = Operation(.forwarded(nextFar), "", author: client.author, low: latest)
        send(
            client, "set", "{\"path\":\"\(World.far).\(generator.pick(["x", "y"]))\",\"value\":\(nextFar)}",
            .operation(operation))
    }

    /// The delegate is asked.
    func forward(_ client: Client, _ event: Value) {
        guard client.role == .delegate, event.integer("subscription") == client.delegation,
            let number = event.integer("forward"), event.member("call")?.string == "set",
            let value = event.member("arguments")?.integer("value")
        else { return fault("[delegate] \(client.name) is sent \(event.jsonText.prefix(300))") }
        if event.integer("user") != 1000 { fault("[delegate] the writer of \(value) is \(event.jsonText.prefix(200))") }
        if !forwarded.insert(value).inserted { fault("[delegate] \(value) is forwarded twice") }
        switch generator.below(10) {
        case 0: return
        case 1, 2:
            verdicts[value] = .refused("no \(value)")
            send(
                client, "answer",
                "{\"forward\":\(number),\"error\":{\"code\":\"conflict\",\"message\":\"no \(value)\"}}", .answer)
        default:
            verdicts[value] = .performed(value)
            send(client, "answer", "{\"forward\":\(number),\"result\":{\"number\":\(value)}}", .answer)
        }
    }

    /// The writer is told what became of it.
    func forwardedAnswer(_ client: Client, _ number: Int64, _ reply: Value) {
        let told: Verdict
        if let result = reply.member("result") {
            told = .performed(result.integer("number") ?? -1)
        } else {
            let error = reply.member("error")
            // It has not answered in time, or is gone.
            if error?.member("data")?.member("code")?.string == "unavailable" { return }
            told = .refused(error?.member("message")?.string ?? "")
        }
        if verdicts[number] != told {
            fault(
                "[delegate] \(client.name) is told \(reply.jsonText.prefix(300)), and the delegate has said \(verdicts[number].map { "\($0)" } ?? "nothing")"
            )
        }
    }
}
