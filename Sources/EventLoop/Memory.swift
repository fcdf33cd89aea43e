import CLibuv

extension Loop {
    /// Returns pages of freed memory to the kernel. The time is proportional to their number: about 100 ms for a
    /// gigabyte.
    public static func giveBackMemory() { malloc_trim(0) }
}
