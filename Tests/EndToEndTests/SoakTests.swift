import Foundation
import TestSupport
import Testing

@Suite("A daemon under all that comes and goes")
struct SoakTests {
    /// `AGD_SOAK_SECONDS` and `AGD_SOAK_SEED` choose a longer run or repeat one.
    @Test("vertices, edges, rows in the store and memory stay flat") func soak() throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["AGD_SOAK_SEED"] ?? "\(UInt64.random(in: 0...UInt64.max))"
        print("soak: AGD_SOAK_SEED=\(seed)")
        let folder = try Folder()
        let program = try Program(
            "soak-benchmark", [environment["AGD_SOAK_SECONDS"] ?? "5", "--seed", seed], folder: folder)
        let status = try program.wait(seconds: 300)
        #expect(status == 0, "AGD_SOAK_SEED=\(seed)\n\(program.text)")
        // A measure a line, behind the one with the seed.
        #expect(program.text.split(separator: "\n").count { $0.contains("\"vertices\":") } >= 2)
    }
}
