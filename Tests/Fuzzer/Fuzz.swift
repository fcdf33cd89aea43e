import CFuzzer
import Fuzzing
import Glibc

/// `fuzz ENTRY FILE…` gives the bytes of files to an entry. With libFuzzer in it, `fuzz ENTRY FOLDER OPTION…` looks for
/// bytes that reach more of the code, as libFuzzer does.
@main
enum Fuzz {
    nonisolated(unsafe) private static var entry: Fuzzing.Entry = { _ in }

    static func main() {
        var arguments = CommandLine.arguments
        guard arguments.count > 2, let chosen = Fuzzing.entries[arguments[1]] else {
            print("fuzz \(Fuzzing.entries.keys.sorted().joined(separator: "|")) FILE…")
            exit(64)
        }
        entry = chosen
        arguments.remove(at: 1)
        if fuzzer_is_there() {
            var names = arguments.map { strdup($0) } + [nil]
            exit(
                names.withUnsafeMutableBufferPointer { names in
                    names.withMemoryRebound(to: UnsafeMutablePointer<CChar>.self) { names in
                        guard let first = names.baseAddress else { return 64 }
                        return fuzzer_run(Int32(arguments.count), first) { bytes, count in
                            Fuzz.entry(Array(UnsafeBufferPointer(start: bytes, count: count)))
                            return 0
                        }
                    }
                })
        }
        for file in arguments.dropFirst() {
            guard let bytes = read(file) else {
                print("\(file): \(String(cString: strerror(errno)))")
                exit(66)
            }
            entry(bytes)
        }
    }

    private static func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = Glibc.read(file, &block, block.count), count > 0 { bytes += block[..<count] }
        return bytes
    }
}
