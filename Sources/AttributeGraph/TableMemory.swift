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
        guard let memory = map(bytes) else { preconditionFailure("there is no memory for \(bytes) bytes") }
        // Only advice: without it, the pages are small.
        _ = madvise(memory, bytes, Int32(MADV_HUGEPAGE))
        return memory
    }

    /// True if the system would map so much. It may count memory that is never used, too.
    @usableFromInline
    static func canAllocate(_ bytes: Int) -> Bool {
        guard let memory = map(bytes) else { return false }
        munmap(memory, bytes)
        return true
    }

    private static func map(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, flags, -1, 0)
        return memory == MAP_FAILED ? nil : memory
    }

    @usableFromInline
    static func free(_ memory: UnsafeMutableRawPointer, _ bytes: Int) {
        if bytes < large { memory.deallocate() } else { munmap(memory, bytes) }
    }
}
