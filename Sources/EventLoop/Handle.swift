import CLibuv

/// What all handles share: the memory of a libuv handle, and an owner that lives as long as libuv knows it.
///
/// Lifetime: from `adopt` to the close callback libuv holds one strong reference to the owner (in `data`), so callbacks
/// may take it unretained. `close` may be called at any time, also from the owner's own callbacks and more than once;
/// after it no callback but the closing one comes.
public class Handle {
    let memory: UnsafeMutableRawPointer
    /// From `close` on.
    public private(set) var isClosed = false
    private var isAdopted = false

    /// Memory for one `T`, which must be a libuv handle type.
    init<T>(of type: T.Type) {
        memory = .allocate(byteCount: MemoryLayout<T>.size, alignment: MemoryLayout<T>.alignment)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: MemoryLayout<T>.size)
    }

    deinit {
        precondition(!isAdopted, "an open handle keeps itself alive")
        memory.deallocate()
    }

    final var handle: UnsafeMutablePointer<uv_handle_t> { memory.assumingMemoryBound(to: uv_handle_t.self) }

    /// Called once, as soon as libuv has initialised the memory.
    final func adopt() {
        isAdopted = true
        handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    /// Ends the handle; libuv lets go of it in the loop's present iteration.
    public final func close() {
        guard isAdopted, !isClosed else { return }
        isClosed = true
        uv_close(handle) { handle in
            guard let data = handle?.pointee.data else { return }
            let owner = Unmanaged<Handle>.fromOpaque(data)
            owner.takeUnretainedValue().isAdopted = false
            owner.takeUnretainedValue().didClose()
            owner.release()
        }
    }

    /// Called when libuv has let go: the last callback.
    func didClose() {}

    /// The owner of a handle that called back; `type` is what `adopt` was called on.
    static func owner<Owner: Handle>(_ data: UnsafeMutableRawPointer?, as type: Owner.Type) -> Owner? {
        data.map { Unmanaged<Owner>.fromOpaque($0).takeUnretainedValue() }
    }
}
