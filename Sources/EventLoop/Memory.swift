import CLibuv

extension Loop {
    /// Gives pages of freed memory back to the kernel. Takes time in proportion to them: some 100 ms for a gigabyte.
    public static func giveBackMemory() { malloc_trim(0) }
}
