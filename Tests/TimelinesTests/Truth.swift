import AttributeValues
import Glibc

/// Reference values computed at 50 digits. A selection of them is part of the tests (`truthSelection`); all of them are
/// in `animation/truth.json` below the folder that the environment variable AGD_SHARED names, or else below `../shared`
/// beside the package. Where that file is absent, the tests that need it say so and are skipped.
struct Truth {
    let root: Value

    nonisolated(unsafe) static let selection = Truth(text: truthSelection)
    nonisolated(unsafe) static let all: Truth? = {
        let folder = getenv("AGD_SHARED").map { String(cString: $0) } ?? packageRoot + "/../shared"
        return contents(of: folder + "/animation/truth.json").map(Truth.init(text:))
    }()
    static var isComplete: Bool { all != nil }
    static let absence =
        "animation/truth.json is neither in AGD_SHARED nor in ../shared; the selection in the repository is tested all the same"

    /// The selection, and everything where it is there.
    static var sources: [Truth] { [selection] + (all.map { [$0] } ?? []) }

    private init(text: String) {
        do {
            root = try JSONParser.parseOnce(Array(text.utf8))
        } catch {
            root = .null
        }
    }

    subscript(section: String) -> [Value] { root[section].list?.array ?? [] }

    private static var packageRoot: String {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        parts.removeLast(3)
        return parts.joined(separator: "/")
    }

    private static func contents(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { break }
            bytes.append(contentsOf: buffer[..<count])
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Value {
    subscript(key: String) -> Value { map?[key] ?? .null }
    subscript(index: Int) -> Value { list.flatMap { $0.indices.contains(index) ? $0[index] : nil } ?? .null }
    var isNull: Bool { if case .null = self { true } else { false } }
    /// A number; "inf" is infinity.
    var real: Double { number ?? (string == "inf" ? .infinity : string == "-inf" ? -.infinity : .nan) }
    var reals: [Double] { (list ?? []).map(\.real) }
    func real(_ key: String) -> Double { self[key].real }
}
