import CLibuv

/// Calls on the loop when the process receives a signal.
public final class Signal: Handle {
    private let onSignal: () -> Void
    private var signal: UnsafeMutablePointer<uv_signal_t> { memory.assumingMemoryBound(to: uv_signal_t.self) }

    /// - Parameter number: as `SIGTERM`.
    public init(_ loop: Loop, _ number: Int32, _ onSignal: @escaping () -> Void) throws(LoopError) {
        self.onSignal = onSignal
        super.init(of: uv_signal_t.self)
        try check(uv_signal_init(loop.raw, signal), "uv_signal_init")
        adopt()
        let result = uv_signal_start(
            signal,
            { signal, _ in
                Handle.owner(signal?.pointee.data, as: Signal.self)?.onSignal()
            }, number)
        if result < 0 {
            close()
            throw LoopError(call: "uv_signal_start", number: result)
        }
    }
}
