public import WireProtocol

/// The path of the daemon's socket: the caller's choice, else `AGD_SOCKET`, else the first of
/// `$XDG_RUNTIME_DIR/agd/agd.sock` and `/run/agd/agd.sock` that exists.
public struct SocketLocation: Hashable, Sendable {
    public let path: String
    /// The moment that its connections show, if the socket is that of agd-past; nil: the present.
    public var time: PastTime?
    /// The paths that were tried, if the caller named none.
    public let searched: [String]
    /// True for the socket of agd-past.
    var isPast: Bool { path == SocketPlaces.past(beside: path) }

    public init(path: String) { self.init(path: path, searched: []) }

    private init(path: String, searched: [String]) { (self.path, self.searched) = (path, searched) }

    /// - Parameter named: the caller's own choice, which takes precedence.
    /// - Parameter found: the standard places.
    public static func find(
        _ named: String? = nil, among found: @autoclosure () -> (path: String, searched: [String]) = SocketPlaces.find()
    ) -> SocketLocation {
        if let named { return SocketLocation(path: named) }
        let found = found()
        return SocketLocation(path: found.path, searched: found.searched)
    }
}
