import AttributeValues
import ViewGraph
import WireProtocol

extension GraphRuntime {
    /// Performs a request unless it has been performed already.
    func once(
        _ options: TransactionOptions, _ client: Client, _ body: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        guard let once = options.once else { return try body() }
        guard !once.isEmpty, once.utf8.count <= limits.onceLength else {
            throw Failure(.invalid, "once: an identifier has 1 to \(limits.onceLength) bytes, not \(once.utf8.count)")
        }
        let identifier = Repeats.identifier(once, of: client.subject.description)
        if let revision = repeats.firstRevision(of: identifier) {
            return .value(["revision": .int(Int64(clamping: revision)), "repeated": true])
        }
        let answer = try body()
        for change in repeats.note(identifier, revision) { store.add(change) }
        return answer
    }
}
