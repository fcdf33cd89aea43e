import WireProtocol

/// A subscription's position in the history, from which it must continue after the connection was lost to miss no
/// present value. Pure bookkeeping without I/O.
///
/// The position advances only when everything up to it has arrived: with the snapshot or an update, never with the
/// reply that announces one. If the connection is lost before that, the subscription continues from the earlier
/// position and receives some events again.
struct WatchProgress {
    private let wanted: Request.Subscribe
    private var epoch = ""
    private(set) var position: Request.Position?

    init(_ wanted: Request.Subscribe) {
        self.wanted = wanted
        position = wanted.since
    }

    var hasFrames: Bool { wanted.frameRate != nil }

    /// The request for the next connection.
    var request: Request.Subscribe {
        var request = wanted
        request.since = position
        return request
    }

    /// No daemon knows this position, so the subscription begins with a snapshot.
    mutating func forget() { position = Request.Position(epoch: "", revision: 0) }

    /// The daemon accepted the subscription.
    /// - Parameter resumed: its answer to `since`; nil if none was sent.
    mutating func subscribed(epoch: String, revision: UInt64, resumed: Bool?) {
        self.epoch = epoch
        if resumed == true, wanted.events.contains(.update) { return }
        let awaitsSnapshot = wanted.events.contains(.update) && (wanted.initial || resumed != nil)
        position = awaitsSnapshot ? nil : Request.Position(epoch: epoch, revision: revision)
    }

    mutating func received(_ event: EventSummary) {
        guard let revision = event.revision else { return }
        switch event.method {
        case "update": break
        // If the subscription has updates, they precede these events of the same transaction and set the position.
        case "invalidate", "structure", "completion":
            guard !wanted.events.contains(.update) else { return }
        case "bookmark": break
        default: return
        }
        // If an update before the snapshot set the position, the other values would stay unknown.
        guard position != nil || event.isInitial || event.method == "bookmark" || !wanted.events.contains(.update)
        else { return }
        position = Request.Position(epoch: epoch, revision: revision)
    }
}
