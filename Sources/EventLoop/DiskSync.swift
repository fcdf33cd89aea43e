import CLibuv
import Glibc

/// Makes the disk confirm a file, in a thread of libuv's pool: the loop does not wait.
///
/// Lifetime: the descriptor must stay open until the thread is done, so this has a copy of it.
public final class DiskSync {
    private let loop: Loop
    /// The last one is not done yet.
    public private(set) var isBusy = false

    public init(_ loop: Loop) { self.loop = loop }

    /// - Returns: false if the last one is not done, or the system cannot begin. Nothing was begun then.
    @discardableResult
    public func start(_ descriptor: Int32) -> Bool {
        guard !isBusy else { return false }
        let copy = dup(descriptor)
        guard copy >= 0 else { return false }
        let request = UnsafeMutablePointer<uv_fs_t>.allocate(capacity: 1)
        request.initialize(to: uv_fs_t())
        request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let result = uv_fs_fdatasync(loop.raw, request, copy) { request in
            guard let request, let data = request.pointee.data else { return }
            close(request.pointee.file)
            uv_fs_req_cleanup(request)
            request.deallocate()
            Unmanaged<DiskSync>.fromOpaque(data).takeRetainedValue().isBusy = false
        }
        guard result >= 0 else {
            if let data = request.pointee.data { Unmanaged<DiskSync>.fromOpaque(data).release() }
            request.deallocate()
            close(copy)
            return false
        }
        isBusy = true
        return true
    }
}
