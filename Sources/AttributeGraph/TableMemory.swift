import Glibc

/// Memory for a table of vertices. A large table has huge pages where the system provides them: it is made with fewer
/// page faults, and walks need fewer translations of addresses. A page that was never used costs nothing.
///
/// Lifetime: the memory lives from `allocate` until `free`, which must be told the same size.
@usableFromInline
enum TableMemory {
    /// Tables of this size are mapped: two huge pages.
    @usableFromInline static let large = 4 << 20

    @usableFromInline
    static func allocate(_ bytes: Int) -> UnsafeMutableRawPointer {
        guard bytes >= large else { return .allocate(byteCount: bytes, alignment: 64) }
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, flags, -1, 0), memory != MAP_FAILED else {
            preconditionFailure("there is no memory for \(bytes) bytes")
        }
        // Only advice: without it, the pages are small.
        _ = madvise(memory, bytes, Int32(MADV_HUGEPAGE))
        return memory
    }

    @usableFromInline
    static func free(_ memory: UnsafeMutableRawPointer, _ bytes: Int) {
        if bytes < large { memory.deallocate() } else { munmap(memory, bytes) }
    }
}
