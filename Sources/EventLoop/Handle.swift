import CLibuv

/// The memory of a libuv handle, and an owner that lives as long as libuv uses the handle.
///
/// Lifetime: from `adopt` to the close callback, libuv has one strong reference to the owner (in `data`), so callbacks
/// may take it unretained. `close` may be called at any time, also from the owner's own callbacks, and more than once.
/// After it, only the close callback is called.
public class Handle {
    let memory: UnsafeMutableRawPointer
    /// True from the call of `close` on.
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

    /// Closes the handle. libuv releases it in the present iteration of the loop.
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

    /// Called when libuv has released the handle. This is the last callback.
    func didClose() {}

    /// The owner of the handle whose callback runs. `type` must be the type on which `adopt` was called.
    static func owner<Owner: Handle>(_ data: UnsafeMutableRawPointer?, as type: Owner.Type) -> Owner? {
        data.map { Unmanaged<Owner>.fromOpaque($0).takeUnretainedValue() }
    }
}
