import Glibc

/// `/proc`, or a folder with the same structure.
struct ProcFolder {
    var path: String = "/proc"

    /// The whole file, or nil if the kernel (or a container) does not show it. Files in `/proc` have no size, so they
    /// are read to their end.
    func bytes(_ name: String) -> [UInt8]? {
        let file = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var size = 4096
        while true {
            let start = bytes.count
            bytes.append(contentsOf: repeatElement(0, count: size))
            let count = bytes.withUnsafeMutableBytes { buffer in
                read(file, buffer.baseAddress.map { $0 + start }, size)
            }
            bytes.removeLast(size - max(0, count))
            if count == 0 { return bytes }
            // A process may end after it was listed and before it is read.
            if count < 0 { return errno == EINTR ? self.bytes(name) : nil }
            size *= 2
        }
    }

    func text(_ name: String) -> ProcText? { bytes(name).map { ProcText($0) } }

    /// The present processes, in no particular order.
    func processes() -> [Int64] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var processes: [Int64] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(entry.pointee.d_reclen)) { String(cString: $0) }
            }
            if let process = Int64(name) { processes.append(process) }
        }
        return processes
    }
}
