import AttributeValues
import Glibc

/// `/proc`, or a folder with the same structure.
struct ProcFolder {
    var path: String = "/proc"

    /// The whole file, or nil if the kernel (or a container) does not show it. A process may end after it was listed
    /// and before it is read.
    func text(_ name: String) -> ProcText? {
        (try? TextFile.bytes(of: "\(path)/\(name)", block: 4096)).map { ProcText($0) }
    }

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
