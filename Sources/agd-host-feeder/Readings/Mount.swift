import Glibc

/// A place at which a file system is mounted (`/proc/1/mountinfo`, see proc_pid_mountinfo(5)).
struct Mount: Equatable, Sendable {
    /// The mount point as bytes: the kernel allows any but 0.
    var path: [UInt8]
    var type: String
    /// What is mounted: a partition, or a folder of another machine.
    var source: String

    var name: String { String(decoding: path, as: UTF8.self) }

    /// Types without a size that matters: they show the kernel, belong to a container or an image, or are mounted when
    /// somebody looks at them (`autofs`).
    private static let omitted: Set<String> = [
        "autofs", "devtmpfs", "efivarfs", "erofs", "fuse.gvfsd-fuse", "fuse.lxcfs", "fuse.portal", "fuse.snapfuse",
        "hugetlbfs", "iso9660", "nsfs", "overlay", "ramfs", "squashfs", "udf",
    ]
    /// Folders in which the kernel shows itself.
    private static let kernel = ["/proc/", "/sys/"]
    /// Every service and every user has file systems in memory. These are the ones that programs share.
    private static let shared = ["/", "/dev/shm", "/run", "/tmp"]

    /// One mount of each file system that may fill up, in the file's order.
    static func read(_ mountinfo: SystemText) -> [Mount] {
        var text = mountinfo
        var found: [(device: String, isWhole: Bool, mount: Mount)] = []
        while var line = text.line() {
            line.skip(2)
            guard let device = line.word(), let root = line.word() else { continue }
            let path = unescaped(line.bytes())
            // Options and any number of other fields come before the dash.
            while let word = line.word(), word != "-" {}
            guard let type = line.word(), let source = line.word(), !path.isEmpty else { continue }
            // A later mount hides an earlier one at the same point.
            found.removeAll { $0.mount.path == path }
            let mount = Mount(
                path: path, type: type, source: String(decoding: unescaped(Array(source.utf8)[...]), as: UTF8.self))
            found.append((device, root == "/", mount))
        }
        found.removeAll {
            omitted.contains($0.mount.type) || ($0.mount.type == "tmpfs" && !shared.contains($0.mount.name))
                || kernel.contains(where: ($0.mount.name + "/").hasPrefix)
        }
        // A file system may be mounted at several points, also in parts. The whole at the shortest path stands for it.
        var best: [String: Int] = [:]
        for (index, each) in found.enumerated() {
            guard let known = best[each.device].map({ found[$0] }) else {
                best[each.device] = index
                continue
            }
            let isBetter =
                each.isWhole != known.isWhole ? each.isWhole : each.mount.path.count < known.mount.path.count
            if isBetter { best[each.device] = index }
        }
        return best.values.sorted().map { found[$0].mount }
    }

    /// The kernel writes a space as `\040`.
    private static func unescaped(_ word: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = word
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}

/// How full a file system is.
struct FileSystem: Equatable, Sendable {
    var id: String
    var type: String
    var source: String
    /// Bytes. `free` is what users may still write: less than what is not used.
    var size: Int64
    var used: Int64
    var free: Int64
    /// Files and folders. Both are 0 for a file system that has no limit of them.
    var inodes: Int64
    var usedInodes: Int64

    /// Asks the file system, which takes as long as it likes: that of another machine may never answer.
    /// - Parameter root: the folder below which the machine's file systems are.
    /// - Returns: nil if it has no size, or the feeder may not see it.
    static func read(_ mount: Mount, below root: String) -> FileSystem? {
        var size = statvfs()
        guard statvfs((Array(root.utf8) + mount.path + [0]).map { CChar(bitPattern: $0) }, &size) == 0,
            size.f_blocks > 0
        else { return nil }
        func bytes(_ blocks: UInt) -> Int64 {
            Int64(clamping: blocks.multipliedReportingOverflow(by: size.f_frsize).partialValue)
        }
        return FileSystem(
            id: mount.name, type: mount.type, source: mount.source, size: bytes(size.f_blocks),
            used: bytes(size.f_blocks &- size.f_bfree), free: bytes(size.f_bavail),
            inodes: Int64(clamping: size.f_files),
            usedInodes: Int64(clamping: size.f_files &- size.f_ffree))
    }
}
