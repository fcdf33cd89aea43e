import CLibuv

/// Calls on the loop when something happens to a descriptor that belongs to somebody else.
///
/// Lifetime: the descriptor must stay open until `close` has been called.
public class DescriptorWatch: Handle {
    public enum Event: Int32 {
        /// There is something to read or to accept. Called again until it is read.
        case readable
        /// The peer has closed its sending side or the connection has failed. Called once.
        case hangUp
    }

    private let event: Event
    private let onEvent: () -> Void
    private var poll: UnsafeMutablePointer<uv_poll_t> { memory.assumingMemoryBound(to: uv_poll_t.self) }

    public init(_ loop: Loop, _ descriptor: Int32, _ event: Event, _ onEvent: @escaping () -> Void) throws(LoopError) {
        self.event = event
        self.onEvent = onEvent
        super.init(of: uv_poll_t.self)
        try check(uv_poll_init(loop.raw, poll, descriptor), "uv_poll_init")
        adopt()
        start()
    }

    private func start() {
        let wanted = event == .readable ? UV_READABLE : UV_DISCONNECT
        uv_poll_start(poll, Int32(wanted.rawValue)) { poll, _, _ in
            // A status below 0 is a descriptor with an error, which its owner finds when it reads.
            guard let watch = Handle.owner(poll?.pointee.data, as: DescriptorWatch.self) else { return }
            if watch.event == .hangUp { watch.stop() }
            watch.onEvent()
        }
    }

    private func stop() { if !isClosed { uv_poll_stop(poll) } }

    /// While this is false, nothing is called.
    public final var isActive: Bool {
        get { uv_is_active(handle) != 0 }
        set {
            if isClosed || newValue == isActive { return }
            newValue ? start() : stop()
        }
    }
}
