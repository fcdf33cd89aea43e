/// Where daemon and clients find each other when nobody names a socket: `AGD_SOCKET`, else `$XDG_RUNTIME_DIR/agd/agd.sock`, else
/// `/run/agd/agd.sock`. The daemon takes the first that the variables allow, a client the first where there is something.
public enum SocketPlaces {
    public static let environmentVariable = "AGD_SOCKET"
    public static let systemPath = "/run/agd/agd.sock"

    /// What `AGD_SOCKET` says, if it says anything.
    public static func named(_ environment: (String) -> String?) -> String? {
        environment(environmentVariable).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The places to look at when nobody names one, in order; never none.
    public static func standard(_ environment: (String) -> String?) -> [String] {
        // The rules of XDG: a folder that is not absolute counts for nothing.
        guard let runtime = environment("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") else { return [systemPath] }
        return [runtime + "/agd/agd.sock", systemPath]
    }
}
