import Glibc

/// What the daemon's surroundings tell it by variables.
public struct ProcessEnvironment {
    private let variables: [String: String]?

    /// The process's own.
    public init() { variables = nil }

    /// Something else in its place.
    init(_ variables: [String: String]) { self.variables = variables }

    subscript(_ name: String) -> String? {
        if let variables { return variables[name] }
        return getenv(name).map { String(cString: $0) }
    }

    /// Keeps what was meant for this process from its children.
    func remove(_ names: [String]) {
        if variables == nil { for name in names { unsetenv(name) } }
    }
}
