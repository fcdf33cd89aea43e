import Foundation
import TestSupport
import Testing

@Suite("A daemon under all that comes and goes")
struct SoakTests {
    /// `AGD_SOAK_SECONDS` makes a run longer.
    @Test("vertices, edges, rows in the store and memory stay flat") func soak() throws {
        let seconds = numberInEnvironment("AGD_SOAK_SECONDS") ?? 5
        let seed = freshSeed()
        let folder = try Folder()
        let program = try Program("soak-benchmark", ["\(seconds)", "--seed", "\(seed)"], folder: folder)
        let status = try program.wait(seconds: 300)
        #expect(status == 0, "AGD_SEED=\(seed)\n\(program.text)")
        // A measure a line, behind the one with the seed.
        #expect(program.text.split(separator: "\n").count { $0.contains("\"vertices\":") } >= 2)
    }
}
