import WireProtocol

/// A subscription's place in the history: from where it must be continued after the connection was lost, so that nothing that is
/// still true is missed. Pure bookkeeping, no I/O.
///
/// A place is taken only when everything up to it has arrived: with the snapshot or an update, never with the reply that
/// announces one. Until then a lost connection leads back to the place before, and what had arrived arrives again.
struct WatchProgress {
    private let wanted: Request.Subscribe
    private var epoch = ""
    private(set) var position: Request.Position?

    init(_ wanted: Request.Subscribe) {
        self.wanted = wanted
        position = wanted.since
    }

    /// What to send on the next connection.
    var request: Request.Subscribe {
        var request = wanted
        request.since = position
        return request
    }

    /// The daemon accepted.
    /// - Parameter resumed: its answer to `since`; nil where none was sent.
    mutating func subscribed(epoch: String, revision: UInt64, resumed: Bool?) {
        self.epoch = epoch
        if resumed == true, wanted.events.contains(.update) { return }
        let awaitsSnapshot = wanted.events.contains(.update) && (wanted.initial || resumed != nil)
        position = awaitsSnapshot ? nil : Request.Position(epoch: epoch, revision: revision)
    }

    mutating func received(_ event: MessageSummary.Event) {
        guard let revision = event.revision else { return }
        switch event.method {
        case "update": break
        // Where there are updates they come first of their transaction and keep the place.
        case "invalidate", "structure", "completion":
            guard !wanted.events.contains(.update) else { return }
        case "bookmark": break
        default: return
        }
        // An update before the snapshot would leave the rest unknown.
        guard position != nil || event.isInitial || event.method == "bookmark" || !wanted.events.contains(.update) else { return }
        position = Request.Position(epoch: epoch, revision: revision)
    }
}
