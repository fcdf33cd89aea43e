// swift-tools-version: 6.2
import PackageDescription

/// Debug builds write an index, which SwiftPM searches for tests. With the standard library in it, a module of tests
/// took a fifth longer to compile.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .treatAllWarnings(as: .error),
    .unsafeFlags(["-index-ignore-system-modules"], .when(configuration: .debug)),
]

/// For what no other module imports: one process compiles the module in debug builds too, and expands its macros once.
/// Groups of files, and one more process for the interface, took half as long again.
let whole: [SwiftSetting] = [
    .unsafeFlags(["-wmo", "-num-threads", "2", "-no-emit-module-separately-wmo"], .when(configuration: .debug))
]

// Processors of Intel's Skylake line decode a branch anew each time if it crosses or ends at a boundary of 32 bytes:
// where the code of an update came to lie made it up to a fifth slower or faster.
#if arch(x86_64)
    let branchesInPlace = ["-Xllvm", "-x86-branches-within-32B-boundaries"]
#else
    let branchesInPlace: [String] = []
#endif

/// Modules on the path of an update: the released daemon does without the run-time checks of exclusive access, which
/// debug builds (and so all tests) make.
/// Equal functions are not folded into one another: rules would be called through one more step. And no register is
/// spent on a frame pointer; backtraces come from the unwinding tables.
let fast: [SwiftSetting] =
    strict
    + [
        .unsafeFlags(
            [
                "-enforce-exclusivity=unchecked", "-Xfrontend", "-disable-llvm-merge-functions-pass",
                "-Xcc", "-Xclang", "-Xcc", "-mframe-pointer=none",
            ] + branchesInPlace, .when(configuration: .release))
    ]

/// A module of the daemon, at its row: it imports what stands in rows above.
func module(_ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = strict) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// The system's linker takes several times as long.
let linker: [LinkerSetting] = [.unsafeFlags(["-use-ld=lld"])]

/// Programs export no symbols, and have their relative relocations in a tenth of the space, which Debian 12 can read.
/// All references are resolved at the start, so that the table of their addresses can be read-only.
let small: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-Xlinker", "--no-export-dynamic", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            "-Xlinker", "-z", "-Xlinker", "now",
        ], .when(configuration: .release))
]

/// The folder with the static libraries of programs that ship (`Scripts/libraries`). A library that is not there is the
/// system's.
let staticLibraries: [LinkerSetting] =
    Context.environment["AGD_STATIC_LIBRARIES"].map { [.unsafeFlags(["-L\($0)"])] } ?? []

/// A static libnats does not name the libraries that it needs for TLS.
let staticNATS: [LinkerSetting] =
    staticLibraries.isEmpty ? [] : [.linkedLibrary("ssl"), .linkedLibrary("crypto")]

/// Code in C checks the sizes of buffers and the stack, as Debian's programs do.
let hardened: [CSetting] = [
    .define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release)), .unsafeFlags(["-fstack-protector-strong"]),
]
let hardenedFace: [CXXSetting] = [
    .define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release)), .unsafeFlags(["-fstack-protector-strong"]),
]

/// For a program with one thread, which depends on `COneThread`: references are counted without atomic operations, in
/// all modules and in the standard library.
let oneThread: [LinkerSetting] = [
    .unsafeFlags(
        ["retain", "retain_n", "release", "release_n"].flatMap { ["-Xlinker", "--wrap=swift_\($0)"] },
        .when(configuration: .release))
]

func program(
    _ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = strict, links: [LinkerSetting] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, swiftSettings: settings,
        linkerSettings: linker + small + staticLibraries + links)
}

func benchmark(_ name: String, _ dependencies: [Target.Dependency], links: [LinkerSetting] = []) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Benchmarks/\(name)", swiftSettings: fast + whole,
        linkerSettings: linker + links)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: ["TestSupport"] + dependencies, exclude: exclude,
        swiftSettings: strict + whole)
}

/// Tests of the runtime with its graph, over a clock that the test moves.
func runtimeTests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    tests(
        name,
        [
            "RuntimeHarness", "GraphRuntime", "ViewGraph", "RuleLanguage", "SceneModel", "WireProtocol",
            "AttributeValues",
        ] + dependencies)
}

/// A thin C++ face over a system library.
func face(_ name: String, links library: String) -> Target {
    .target(
        name: name, cxxSettings: hardenedFace, linkerSettings: [.linkedLibrary(library), .linkedLibrary("stdc++")])
}

/// The commit of a release, which `Scripts/release` names. A new one compiles only this file again.
let commit: [CSetting] = Context.environment["AGD_COMMIT"].map { [.define("AGD_COMMIT", to: "\"\($0)\"")] } ?? []

let log: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
    name: "agd",
    products: [
        .executable(name: "agd", targets: ["agd"]),
        .executable(name: "agctl", targets: ["agctl"]),
        .executable(name: "agd-host-feeder", targets: ["agd-host-feeder"]),
        .executable(name: "agd-gateway", targets: ["agd-gateway"]),
        .executable(name: "agd-link", targets: ["agd-link"]),
        .executable(name: "agd-bridge", targets: ["agd-bridge"]),
        .executable(name: "agctl-scene", targets: ["agctl-scene"]),
        .library(name: "AttributeGraph", targets: ["AttributeGraph"]),
        .library(name: "RuleLanguage", targets: ["RuleLanguage"]),
        .library(name: "Timelines", targets: ["Timelines"]),
        .library(name: "AGClient", targets: ["AGClient"]),
        .library(name: "AGScenes", targets: ["AGScenes"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2")
    ],
    targets: [
        // Row 0
        .systemLibrary(name: "CLibuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLibYAML", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CMicroHTTPD", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CNATS", providers: [.apt(["libnats-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CMosquitto", providers: [.apt(["libmosquitto-dev"])]),
        .systemLibrary(name: "CSystemd", providers: [.apt(["libsystemd-dev"])]),
        face("CSimdJSON", links: "simdjson"),
        face("CRE2", links: "re2"),
        .target(name: "COneThread", cSettings: [.unsafeFlags(["-Xclang", "-mframe-pointer=none"])]),
        .target(name: "CChecksum", cSettings: hardened),
        .target(name: "CSteadyTime", cSettings: hardened, linkerSettings: [.linkedLibrary("dl")]),
        .target(name: "CArguments", cSettings: hardened),
        .target(name: "CRelease", cSettings: commit),
        // Row 1
        module("AttributeValues", ["CSimdJSON"], settings: fast),
        // Row 2
        module("CommandArguments", ["AttributeValues", "CArguments"]),
        module("AttributeGraph", settings: fast),
        module("RuleLanguage", ["AttributeValues", "CRE2"], settings: fast),
        module("Timelines", ["AttributeValues"], settings: fast),
        module("LinkProtocol", ["AttributeValues"], settings: fast),
        // Row 3
        module("SceneModel", ["AttributeValues", "RuleLanguage", "Timelines", "CLibYAML"], settings: fast),
        module("RuleCases", ["AttributeValues", "RuleLanguage"]),
        module("WireProtocol", ["AttributeValues", "CRelease"], settings: fast),
        // Row 4
        module("ViewGraph", ["AttributeValues", "AttributeGraph", "RuleLanguage", "SceneModel"], settings: fast),
        module("EventLoop", ["CLibuv", "AttributeValues"], settings: fast),
        module("GatewayHandlers", ["AttributeValues", "CommandArguments", "CZlib", "WireProtocol"]),
        // Row 5
        module(
            "GraphRuntime",
            [
                "AttributeValues", "AttributeGraph", "RuleLanguage", "Timelines", "SceneModel", "ViewGraph",
                "WireProtocol",
            ],
            settings: fast),
        // Row 6
        module("StateStore", ["CChecksum", "CSQLite", "AttributeValues", "ViewGraph", "GraphRuntime"], settings: fast),
        module(
            "Archive", ["AttributeValues", "AttributeGraph", "CZlib", "ViewGraph", "GraphRuntime", "StateStore"],
            settings: fast),
        module(
            "SceneTesting",
            ["AttributeValues", "GraphRuntime", "RuleLanguage", "SceneModel", "ViewGraph", "WireProtocol"],
            settings: fast),
        // Row 7
        module(
            "DaemonServer",
            [
                "Archive", "AttributeValues", "CommandArguments", "RuleLanguage", "WireProtocol", "EventLoop",
                "GraphRuntime", "StateStore", log,
            ],
            settings: fast),
        module("AGClient", ["AttributeValues", "WireProtocol"], settings: fast),
        // Row 8
        module("AGScenes", ["AGClient", "AttributeValues", "WireProtocol"]),
        module(
            "Replay", ["Archive", "AttributeValues", "DaemonServer", "GraphRuntime", "ViewGraph", "WireProtocol"],
            settings: fast),
        // Row 9
        program(
            "agd", ["DaemonServer", "AttributeValues", "WireProtocol", "CommandArguments", "COneThread", log],
            links: oneThread),
        program(
            "agctl",
            [
                "AGClient", "AttributeValues", "CommandArguments", "RuleCases", "RuleLanguage", "SceneModel",
                "Timelines",
                "WireProtocol",
            ]),
        program(
            "agd-host-feeder", ["AGClient", "AttributeValues", "CommandArguments", "CSystemd", "WireProtocol"]),
        program(
            "agd-gateway",
            ["AttributeValues", "CMicroHTTPD", "CommandArguments", "EventLoop", "GatewayHandlers", "WireProtocol"]),
        program(
            "agd-link",
            [
                "AGClient", "AttributeValues", "CNATS", "CSteadyTime", "CommandArguments", "LinkProtocol",
                "WireProtocol",
            ],
            settings: fast, links: staticNATS),
        program(
            "agd-bridge",
            [
                "AGClient", "AttributeValues", "CCurl", "CMosquitto", "CommandArguments", "RuleLanguage",
                "WireProtocol",
            ],
            settings: fast),
        program(
            "agd-past",
            [
                "AGClient", "Archive", "AttributeValues", "COneThread", "CommandArguments", "DaemonServer", "EventLoop",
                "GraphRuntime", "Replay", "ViewGraph", "WireProtocol",
            ],
            links: oneThread),
        program(
            "agctl-scene",
            [
                "AGClient", "AttributeValues", "COneThread", "CommandArguments", "RuleLanguage", "SceneModel",
                "SceneTesting", "WireProtocol",
            ],
            links: oneThread),
        // Without the bridge, which few need: `make run` would have to wait for it.
        module("Programs", ["agd", "agctl", "agctl-scene", "agd-past", "agd-host-feeder", "agd-gateway", "agd-link"]),

        benchmark("reactivity-benchmark", ["AttributeGraph", "TestSupport"]),
        benchmark("rules-benchmark", ["AttributeValues", "RuleLanguage", "CAllocationCounter"]),
        benchmark("timelines-benchmark", ["AttributeValues", "Timelines", "BenchmarkSupport", "TestSupport"]),
        benchmark(
            "scenes-benchmark",
            ["AttributeValues", "RuleLanguage", "SceneModel", "ViewGraph", "COneThread", "TestSupport"],
            links: oneThread),
        benchmark("documents-benchmark", ["AttributeValues", "SceneModel"]),
        benchmark("hostile-benchmark", ["AttributeValues", "BenchmarkSupport", "TestSupport"]),
        benchmark("server-benchmark", ["AttributeValues", "BenchmarkSupport", "TestSupport"]),
        benchmark("trees-benchmark", ["AttributeValues", "BenchmarkSupport", "TestSupport"]),
        benchmark("fleet-benchmark", ["AttributeValues", "BenchmarkSupport", "CNATS", "TestSupport"]),
        benchmark("soak-benchmark", ["AttributeValues", "BenchmarkSupport", "TestSupport", "CSQLite"]),
        .target(
            name: "BenchmarkSupport", dependencies: ["AttributeValues", "TestSupport"], path: "Benchmarks/Support",
            swiftSettings: strict),
        .target(name: "CAllocationCounter", path: "Benchmarks/CAllocationCounter"),

        .target(
            name: "TestSupport", dependencies: ["AttributeGraph", "AttributeValues"], path: "Tests/TestSupport",
            swiftSettings: strict, linkerSettings: linker),
        .target(name: "CSimulatedKernel", path: "Tests/CSimulatedKernel", linkerSettings: [.linkedLibrary("dl")]),
        .executableTarget(
            name: "simulate",
            dependencies: [
                "Archive", "AttributeValues", "COneThread", "CSimulatedKernel", "CommandArguments", "DaemonServer",
                "EventLoop", "GatewayHandlers", "GatewayHarness", "GraphRuntime", "LinkProtocol", "Replay",
                "StateStore", "TestSupport", "WireProtocol", log,
            ],
            path: "Tests/Simulator", swiftSettings: fast + whole, linkerSettings: linker + oneThread),
        .target(
            name: "Fuzzing",
            dependencies: [
                "AttributeValues", "GatewayHandlers", "GatewayHarness", "GraphRuntime", "LinkProtocol", "RuleCases",
                "RuleLanguage", "StateStore", "Timelines", "WireProtocol",
            ],
            path: "Tests/Fuzzing", swiftSettings: strict),
        .target(name: "CFuzzer", path: "Tests/CFuzzer"),
        .executableTarget(
            name: "fuzz", dependencies: ["CFuzzer", "Fuzzing"], path: "Tests/Fuzzer", swiftSettings: strict,
            linkerSettings: linker),
        .testTarget(name: "FuzzingTests", dependencies: ["Fuzzing"], swiftSettings: strict + whole),
        tests("AttributeValues", ["AttributeValues"]),
        tests("AttributeGraph", ["AttributeGraph"]),
        tests("RuleLanguage", ["RuleCases", "RuleLanguage", "AttributeValues"], exclude: ["Fixtures"]),
        tests("Timelines", ["Timelines", "AttributeValues"]),
        tests("SceneModel", ["SceneModel", "RuleLanguage", "AttributeValues"]),
        tests("WireProtocol", ["WireProtocol", "AttributeValues"]),
        tests("ViewGraph", ["ViewGraph", "AttributeGraph", "RuleLanguage", "SceneModel", "AttributeValues"]),
        .target(
            name: "RuntimeHarness",
            dependencies: ["AttributeValues", "GraphRuntime", "SceneTesting", "ViewGraph", "WireProtocol"],
            path: "Tests/RuntimeHarness", swiftSettings: strict),
        runtimeTests("GraphRuntime", ["CAllocationCounter"]),
        runtimeTests("RuntimeStructure"),
        runtimeTests("RuntimeRights"),
        runtimeTests("RuntimeTime"),
        tests(
            "Archive",
            ["Archive", "GraphRuntime", "SceneTesting", "ViewGraph", "WireProtocol", "AttributeValues"]),
        tests(
            "Past",
            [
                "agd-past", "Archive", "GraphRuntime", "Replay", "SceneTesting", "ViewGraph", "WireProtocol",
                "AttributeValues",
            ],
            exclude: ["Archives"]),
        tests("SceneTesting", ["SceneTesting", "SceneModel", "AttributeValues"]),
        tests("LinkProtocol", ["agd-link", "LinkProtocol", "AttributeValues"]),
        tests("Bridge", ["agd-bridge", "AttributeValues", "CommandArguments"]),
        tests("EventLoop", ["EventLoop", "AttributeValues"]),
        // Clients of the gateway, and a machine that a test moves.
        .target(
            name: "GatewayHarness", dependencies: ["AttributeValues", "GatewayHandlers"], path: "Tests/GatewayHarness",
            swiftSettings: strict),
        tests("Gateway", ["GatewayHandlers", "GatewayHarness", "AttributeValues"]),
        tests(
            "StateStore",
            ["Archive", "StateStore", "GraphRuntime", "ViewGraph", "WireProtocol", "AttributeValues", "CSQLite"]),
        tests(
            "DaemonServer", ["DaemonServer", "EventLoop", "GraphRuntime", "AttributeValues", "CommandArguments", log]),
        tests("AGClient", ["AGClient", "WireProtocol", "AttributeValues"]),
        tests("AGScenes", ["AGScenes", "AttributeValues"]),
        tests("Agctl", ["agctl", "AGClient", "CommandArguments", "SceneModel", "WireProtocol", "AttributeValues"]),
        tests("AgctlCurve", ["agctl", "CommandArguments", "Timelines", "AttributeValues"]),
        tests("HostFeeder", ["agd-host-feeder", "AttributeValues"], exclude: ["Fixtures"]),
        // They start the programs, which a build of the tests builds too. They name none of them here, because the longest
        // module would then compile last and alone.
        tests("EndToEnd", ["AttributeValues", "AGClient", "AGScenes", "SceneModel", "WireProtocol"]),
    ],
    cxxLanguageStandard: .cxx17
)
