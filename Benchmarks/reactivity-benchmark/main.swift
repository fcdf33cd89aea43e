#if canImport(Glibc)
    import Glibc
#endif
import AttributeGraph
import TestSupport

// Without arguments all cases; otherwise the named ones, and these modes:
//   --cpu          processor time instead of wall-clock time
//   --scaling      ns per vertex of four shapes at 10³ … 10⁶ vertices, cold and warm
//   --scaling=1000 the same at this size alone
//   --memory       bytes per vertex and edge at a million
//   --updates=10, --updates=1000
//                  so many updates of each shape at 1000 vertices, to be counted by valgrind

let arguments = CommandLine.arguments.dropFirst()
let modes = arguments.filter { $0.hasPrefix("--") && $0 != "--cpu" }
let names = arguments.filter { !$0.hasPrefix("--") }
let all = kairoCases + cellxCases + sbenchCases + dynamicCases

do {
    for name in names where !all.contains(where: { $0.name == name }) {
        throw WrongResult(
            description: "no case is called \(name); there are: \(all.map(\.name).joined(separator: ", "))")
    }
    for mode in modes {
        switch mode {
        case "--scaling": try printScaling([1_000, 10_000, 100_000, 1_000_000])
        case "--scaling=1000": try printScaling([1_000])
        case "--memory": try printMemory()
        case "--updates=10": try runUpdates(10)
        case "--updates=1000": try runUpdates(1000)
        default: throw WrongResult(description: "unknown mode \(mode)")
        }
    }
    let chosen = names.isEmpty && modes.isEmpty ? all : all.filter { names.contains($0.name) }
    for row in chosen { try row.warmUp() }
    for row in chosen {
        let result = try row.measure()
        let hundredths = Int((result.milliseconds * 100).rounded())
        let fraction = hundredths % 100
        print(
            "{\"case\": \"\(row.name)\", \"ms\": \(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction),"
                + " \"evaluations\": \(result.evaluations)}")
    }
} catch {
    print("{\"error\": \"\(error)\"}")
    exit(1)
}
