import Glibc

public struct ProcessEnvironment {
    private let variables: [String: String]?

    /// The variables of the process.
    public init() { variables = nil }

    /// Other variables, for tests.
    init(_ variables: [String: String]) { self.variables = variables }

    subscript(_ name: String) -> String? {
        if let variables { return variables[name] }
        return getenv(name).map { String(cString: $0) }
    }

    /// Removes variables that are meant for this process only, so that its children do not inherit them.
    func remove(_ names: [String]) {
        if variables == nil { for name in names { unsetenv(name) } }
    }
}
