import AttributeValues
import Glibc

/// The reference data beside the repository: the folder named by `AGD_SHARED`, else `../shared` from the package's
/// root.
enum SharedData {
    /// nil when the file is not there; says so.
    static func json(_ path: String) throws -> Value? {
        let folder = getenv("AGD_SHARED").map { String(cString: $0) } ?? root + "/../shared"
        guard let bytes = read("\(folder)/\(path)") else {
            print("\(folder)/\(path) is absent: what needs it is left out (AGD_SHARED names the folder)")
            return nil
        }
        return try JSONParser.parseOnce(bytes)
    }

    /// The package's root, from this file's place in it.
    static let root: String = {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        parts.removeLast(3)
        return parts.joined(separator: "/")
    }()

    static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }
}
