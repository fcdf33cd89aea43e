import Glibc
import WireProtocol

/// The path of the daemon's socket: the caller's choice, else `AGD_SOCKET`, else the first of
/// `$XDG_RUNTIME_DIR/agd/agd.sock` and `/run/agd/agd.sock` that exists.
public struct SocketLocation: Hashable, Sendable {
    public let path: String
    /// The paths that were tried, if the caller named none.
    public let searched: [String]

    public init(path: String) {
        self.path = path
        searched = []
    }

    /// - Parameter named: the caller's own choice, which takes precedence.
    public static func find(_ named: String? = nil) -> SocketLocation {
        find(named, environment: environment) { access($0, F_OK) == 0 }
    }

    /// The same rule for a given environment and file system.
    public static func find(
        _ named: String?, environment: (String) -> String?, exists: (String) -> Bool
    ) -> SocketLocation {
        if let named { return SocketLocation(path: named) }
        if let named = SocketPlaces.named(environment) { return SocketLocation(path: named) }
        let candidates = SocketPlaces.standard(environment)
        return SocketLocation(path: candidates.first(where: exists) ?? SocketPlaces.systemPath, searched: candidates)
    }

    private init(path: String, searched: [String]) {
        self.path = path
        self.searched = searched
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
