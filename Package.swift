// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// A module of the daemon with its tests, at its row: it imports what stands above.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> [Target] {
    [.target(name: name, dependencies: dependencies, swiftSettings: strict)]
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> [Target] {
    [.testTarget(name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, swiftSettings: strict)]
}

let package = Package(
    name: "agd",
    products: [],
    dependencies: [],
    targets: [
        // Row 0: thin C faces of system libraries.
        .systemLibrary(name: "CLibuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CSimdJSON", linkerSettings: [.linkedLibrary("simdjson"), .linkedLibrary("stdc++")]),
    ]
        // Row 1
        + module("AttributeValues", ["CSimdJSON"]) + tests("AttributeValues"),
    cxxLanguageStandard: .cxx17
)
