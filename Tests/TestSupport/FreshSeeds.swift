import Glibc

/// A number from the environment, which makes a test longer or repeats a run.
public func numberInEnvironment(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }

/// Seeds for a random test: new ones in each run, which are printed. `AGD_SEED=… swift test --filter …` repeats a run
/// with one seed, and `AGD_RUNS=…` tries that many.
public func freshSeeds(_ count: Int, _ file: String = #fileID) -> [UInt64] {
    if let seed = numberInEnvironment("AGD_SEED") { return [seed] }
    let count = numberInEnvironment("AGD_RUNS").map { Int($0) } ?? count
    let seeds = (0..<count).map { _ in UInt64.random(in: 0 ... .max) }
    print(seeds.map { "\(file): AGD_SEED=\($0)\n" }.joined(), terminator: "")
    return seeds
}

/// One seed; see `freshSeeds`.
public func freshSeed(_ file: String = #fileID) -> UInt64 {
    let seed = numberInEnvironment("AGD_SEED") ?? .random(in: 0 ... .max)
    print("\(file): AGD_SEED=\(seed)")
    return seed
}
