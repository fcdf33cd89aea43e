import AttributeValues
import Glibc

/// `/proc` or `/sys`, or a folder with the same structure.
struct SystemFolder: Sendable {
    var path: String

    /// The whole file, or nil if the kernel (or a container) does not show it. A process may end after it was listed
    /// and before it is read, and a sensor may be pulled out.
    func text(_ name: String) -> SystemText? {
        (try? TextFile.bytes(of: "\(path)/\(name)", block: 4096)).map { SystemText($0) }
    }

    /// The only line of a file.
    func line(_ name: String) -> String? {
        var text = text(name)
        return text?.line()?.text
    }

    /// The only number of a file. It is nil if the file has a word instead, as `max`.
    func number(_ name: String) -> Int64? {
        var text = text(name)
        return text?.number()
    }

    func contains(_ name: String) -> Bool { access("\(path)/\(name)", F_OK) == 0 }

    /// The names in a folder, or in this one, in no particular order. It is empty if the folder does not exist.
    func names(in name: String = "", foldersAlone: Bool = false) -> [String] {
        guard let folder = opendir(name.isEmpty ? path : "\(path)/\(name)") else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            if foldersAlone, entry.pointee.d_type != DT_DIR { continue }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(entry.pointee.d_reclen)) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
