import Foundation
import Fuzzing
import Testing

/// The files that the fuzzers have found to reach different parts of the code, and those on which something has failed.
@Suite("Corpus of the fuzzers")
struct CorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Corpus")

    @Test("each reader survives its corpus", arguments: Fuzzing.entries.keys.sorted()) func replay(_ name: String)
        throws
    {
        let entry = try #require(Fuzzing.entries[name])
        let files = try FileManager.default.contentsOfDirectory(
            at: CorpusTests.folder.appendingPathComponent(name), includingPropertiesForKeys: nil)
        #expect(files.count >= 5)
        for file in files { entry([UInt8](try Data(contentsOf: file))) }
        // Each of them cut off anywhere, and with a wrong byte anywhere.
        for file in files.sorted(by: { $0.path < $1.path }).prefix(4) {
            let bytes = [UInt8](try Data(contentsOf: file))
            for place in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 50)) {
                entry(Array(bytes[..<place]))
                var wrong = bytes
                wrong[place] ^= 0x21
                entry(wrong)
            }
        }
    }
}
