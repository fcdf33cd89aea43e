import Glibc

/// The standard paths of the socket: `AGD_SOCKET`, else `$XDG_RUNTIME_DIR/agd/agd.sock`, else `/run/agd/agd.sock`. The
/// daemon uses the first one whose variable is set. A client uses the first one that exists.
public enum SocketPlaces {
    public static let environmentVariable = "AGD_SOCKET"
    public static let systemPath = "/run/agd/agd.sock"

    /// The value of `AGD_SOCKET`, if it is not empty.
    public static func named(_ environment: (String) -> String?) -> String? {
        environment(environmentVariable).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The paths to try if the caller names none, in order. Never empty.
    public static func standard(_ environment: (String) -> String?) -> [String] {
        // XDG requires that a relative path is ignored.
        guard let runtime = environment("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") else { return [systemPath] }
        return [runtime + "/agd/agd.sock", systemPath]
    }

    /// The socket of agd-past, in the folder of the daemon's.
    public static func past(beside socket: String) -> String {
        guard let slash = socket.lastIndex(of: "/") else { return "past.sock" }
        return String(socket[..<slash]) + "/past.sock"
    }

    /// The path that a client uses, and the paths that were tried if the variable names none.
    public static func find(
        _ environment: (String) -> String? = { getenv($0).map { String(cString: $0) } },
        exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> (path: String, searched: [String]) {
        if let named = named(environment) { return (named, []) }
        let candidates = standard(environment)
        return (candidates.first(where: exists) ?? systemPath, candidates)
    }
}
