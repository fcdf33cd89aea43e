import AttributeValues
import WireProtocol

/// The connections to agd-past, one for each page that looks back. A connection has the graph of a moment, so another
/// moment near it is quickly there. Each request of a page says its moment, so a page does not notice when its
/// connection ends: the next request makes another one.
final class Pasts {
    /// A page of a principal, which has given itself a name.
    struct Page: Hashable {
        var principal: String?
        var name: String
    }

    private final class Session {
        let link: DaemonLink
        /// One of the connections of the principal and the peer.
        let place: Account
        /// Requests without an answer.
        var waiting = 0
        /// In seconds of the gateway's clock.
        var lastUse = 0.0

        init(_ link: DaemonLink, _ place: Account) { (self.link, self.place) = (link, place) }
    }

    private static let care = 1.0

    private let path: String
    private let budgets: Budgets
    private let machine: any Machine
    private var sessions: [Page: Session] = [:]
    private var isCaring = false

    /// - Parameter socket: that of the daemon.
    init(beside socket: String, _ budgets: Budgets, _ machine: any Machine) {
        path = SocketPlaces.past(beside: socket)
        self.budgets = budgets
        self.machine = machine
    }

    /// True if agd-past seems to run.
    var isThere: Bool { machine.hasSocket(at: path) }

    /// - Parameters:
    ///   - account: pays for the request until it is answered, and then for the answer.
    ///   - answer: called once, possibly later.
    func send(
        _ method: String, _ parameters: Value, for page: Page, _ account: Account,
        answer: @escaping DaemonLink.Answer
    ) {
        guard let session = session(of: page, account.owners) else {
            return answer(
                Reply(Failure(.limit, "too many pages look back", hint: "try again, or close some of them")))
        }
        session.waiting += 1
        session.link.send(method, parameters, account) { [self] reply in
            session.waiting -= 1
            session.lastUse = machine.now
            if !session.link.isUp, session.waiting == 0 { end(page) }
            answer(reply)
        }
    }

    private func session(of page: Page, _ owners: [String]) -> Session? {
        if let session = sessions[page] { return session }
        let place = Account(budgets.pasts, owners)
        while !place.take(1) {
            guard endLongestIdle(owners) else { return nil }
        }
        let link = DaemonLink("agd-past", path: path, principal: page.principal, budgets.memory, machine)
        let session = Session(link, place)
        session.lastUse = machine.now
        sessions[page] = session
        // The page's next request makes another connection.
        link.onChange = { [self] isUp in
            if !isUp { machine.after(0) { [self] in if sessions[page]?.link === link { end(page) } } }
        }
        link.connect()
        careLater()
        return session
    }

    /// Gives its place to another page. If it is the share that is used up, only pages of the same owners have one.
    private func endLongestIdle(_ owners: [String]) -> Bool {
        let isFull = budgets.pasts.used >= Limits.pasts
        let idle = sessions.filter { _, session in
            session.waiting == 0 && (isFull || session.place.owners.contains { owners.contains($0) })
        }
        guard let (page, _) = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return false }
        end(page)
        return true
    }

    private func end(_ page: Page) { sessions.removeValue(forKey: page)?.link.close() }

    /// A token has been withdrawn.
    func end(of principal: String?) {
        for page in sessions.keys where page.principal == principal { end(page) }
    }

    private func careLater() {
        if isCaring { return }
        isCaring = true
        machine.after(Pasts.care) { [self] in
            isCaring = false
            for (page, session) in sessions where session.waiting == 0 {
                if !session.link.isUp || machine.now - session.lastUse > Limits.pastTime { end(page) }
            }
            if !sessions.isEmpty { careLater() }
        }
    }
}
