import Glibc

/// Memory for a table of vertices. A page of a mapped table that was never used costs nothing. A very large table has
/// huge pages where the system provides them: it is made with fewer page faults, and walks need fewer translations of
/// addresses.
///
/// Lifetime: the memory lives from `allocate` until `free`, which must be told the same size.
@usableFromInline
enum TableMemory {
    /// Tables of this size are mapped.
    @usableFromInline static let large = 64 << 10
    private static let hugePage = 2 << 20

    @usableFromInline
    static func allocate(_ bytes: Int) -> UnsafeMutableRawPointer {
        guard bytes >= large else { return .allocate(byteCount: bytes, alignment: 64) }
        guard let memory = map(bytes) else { preconditionFailure("there is no memory for \(bytes) bytes") }
        // Only advice: without it, the pages are small.
        if bytes >= 2 * hugePage { _ = madvise(memory, mapped(bytes), Int32(MADV_HUGEPAGE)) }
        return memory
    }

    /// True if the system would map so much. It may count memory that is never used, too.
    @usableFromInline
    static func canAllocate(_ bytes: Int) -> Bool {
        guard let memory = map(bytes) else { return false }
        munmap(memory, mapped(bytes))
        return true
    }

    /// Whole huge pages, if there is more than one: only such mappings begin where a huge page may.
    private static func mapped(_ bytes: Int) -> Int {
        bytes < hugePage ? bytes : (bytes + hugePage - 1) & ~(hugePage - 1)
    }

    private static func map(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let memory = mmap(nil, mapped(bytes), PROT_READ | PROT_WRITE, flags, -1, 0)
        return memory == MAP_FAILED ? nil : memory
    }

    @usableFromInline
    static func free(_ memory: UnsafeMutableRawPointer, _ bytes: Int) {
        if bytes < large { memory.deallocate() } else { munmap(memory, mapped(bytes)) }
    }
}
