import AttributeValues
import ViewGraph
import WireProtocol

/// Sends events to subscriptions, and retains what has to wait: until a batch has been answered, or until the
/// subscription's time or the client's queue admits it. It tells each client only what the client may read.
final class EventSender {
    private let graph: ViewGraph
    private let turn: CurrentTurn
    private let statistics: Statistics
    private let clients: Clients
    /// Subscriptions with pending news.
    private(set) var delayed: [Int64: Subscription] = [:]
    var bookmarks = Bookmarks()
    /// The number of subscriptions whose batch has not been answered.
    var openings = 0
    /// The number of clients that are behind.
    private var clientsBehind = 0
    /// The changes of the update that is being told.
    private(set) var text = ByteBuffer()

    init(_ graph: ViewGraph, _ turn: CurrentTurn, _ statistics: Statistics, _ clients: Clients) {
        (self.graph, self.turn, self.statistics, self.clients) = (graph, turn, statistics, clients)
    }

    /// True if nobody has to wait, except for a rate.
    var isDirect: Bool { delayed.isEmpty && openings == 0 && clientsBehind == 0 }

    /// The event is consumed on its way to the output: copies of it cost as much as writing it.
    func send(_ event: consuming Event, to receivers: [Subscription]) {
        let receivers = openings == 0 ? receivers : direct(receivers, event)
        if receivers.isEmpty { return }
        statistics.events += UInt64(receivers.count)
        if event.tellsOfRevision { bookmarks.note(receivers) }
        if !clients.access.rules.isEmpty, event.tellsOfErrors {
            sendShown(event, to: receivers)
        } else {
            say(consume event, to: receivers)
        }
    }

    /// A subscription made in a batch gets its events after the batch's answer.
    private func direct(_ receivers: [Subscription], _ event: Event) -> [Subscription] {
        receivers.filter { !$0.isOpening(with: event) }
    }

    @inline(__always)
    private func say(_ event: consuming Event, to receivers: [Subscription]) {
        let names: [Receiver]
        if let topic = receivers.first?.topic, receivers.isCopy(of: topic.members) {
            names = topic.receivers
        } else {
            names = receivers.map(\.receiver)
        }
        turn.say(.event(names, consume event))
    }

    /// Delivers an update with errors, which may come from elsewhere in the graph. Each client that may not read
    /// everything gets an event of its own.
    private func sendShown(_ event: Event, to receivers: [Subscription]) {
        var others: [Subscription] = []
        for receiver in receivers {
            if receiver.client.isPartial {
                say(graph.seeing(as: receiver.client) { shown(event) }, to: [receiver])
            } else {
                others.append(receiver)
            }
        }
        if !others.isEmpty { say(event, to: others) }
    }

    private func shown(_ event: Event) -> Event {
        guard case .update(let revision, let from, let label, _, let isInitial, var changes, let typed) = event else {
            return event
        }
        for position in changes.indices {
            // A removed attribute has the error `removed`.
            guard changes[position].content.failure != nil, let path = try? AttributePath(changes[position].path),
                let place = try? graph.locate(path, looksForNames: false)
            else { continue }
            changes[position].content = graph.shown(changes[position].content, of: place.attribute)
        }
        return .update(
            revision: revision, from: from, label: label, isInitial: isInitial, changes: changes, typed: typed)
    }

    /// Writes the changes of an update to `text`, without timelines, while `tell` runs.
    /// - Returns: false if the text is longer than a client may be sent at once. Then nobody is told.
    func writing(_ changes: [Change], isTyped: Bool, _ tell: () -> Void) -> Bool {
        defer { if text.count > EventSender.shortText { text = ByteBuffer() } else { text.removeAll() } }
        for change in changes {
            text.appendChange(of: change.path, change.content, reported: change.reported, typed: isTyped)
            if text.count > clients.longestAnswer { return false }
        }
        tell()
        return true
    }

    /// Bytes of a text whose memory stays for the next one.
    private static let shortText = 4096

    /// Changes a subscription's pending news, which is sent by `flush`.
    func delay(for subscription: Subscription, _ body: (inout Pending) -> Void) {
        guard !subscription.hasEnded else { return }
        delayed[subscription.number] = subscription
        // Taken out of the subscription, so that its sets are not copied.
        var pending = subscription.pending ?? Pending()
        subscription.pending = nil
        body(&pending)
        subscription.pending = pending
    }

    /// Forgets a subscription that has ended.
    func forget(_ number: Int64) {
        delayed[number] = nil
        bookmarks.remove(number)
    }

    /// The pending news of a subscription, which has none afterwards.
    func takePending(of subscription: Subscription) -> Pending? {
        guard !subscription.hasEnded, let pending = subscription.pending else { return nil }
        delayed[subscription.number] = nil
        subscription.pending = nil
        return pending
    }

    /// Notes whether a client reads its output.
    /// - Returns: false if that was known.
    func note(_ client: Client, isBehind: Bool) -> Bool {
        guard client.isBehind != isBehind else { return false }
        client.isBehind = isBehind
        clientsBehind += isBehind ? 1 : -1
        return true
    }

    func giveBack() { delayed.giveBack() }
}

extension Subscription {
    /// - Returns: whether the event has been queued to follow the answer to the client's batch.
    fileprivate func isOpening(with event: Event) -> Bool { opening?.append(event) != nil }
}

extension Event {
    /// True if the event has an error in place of a value.
    fileprivate var tellsOfErrors: Bool {
        guard case .update(_, _, _, _, _, let changes, _) = self else { return false }
        return changes.tellOfErrors
    }
}

extension [Change] {
    var tellOfErrors: Bool { contains { $0.content.failure != nil } }
}
