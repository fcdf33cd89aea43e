import AttributeGraph
import AttributeValues

/// A path, and where it leads.
public final class LocatedPath {
    public let place: Place
    /// The value of `pathVersion` when the path was followed.
    fileprivate let version: UInt64
    private let text: String
    private var parsed: AttributePath?

    fileprivate init(_ text: String, _ place: Place, _ version: UInt64) {
        self.text = text
        self.place = place
        self.version = version
    }

    /// Read at the first use: most requests need no more than the place.
    public var path: AttributePath {
        if let parsed { return parsed }
        guard let path = try? AttributePath(text) else { preconditionFailure("the path has been read before") }
        parsed = path
        return path
    }
}

extension Wiring {
    /// Changes with every attribute that is made or removed, and every node that is made, removed or moved.
    private var pathVersion: UInt64 {
        engine.counters.attributesCreated &+ engine.counters.attributesDestroyed &+ nodes.changes
    }

    /// True if a path still leads to the same attribute.
    public func isCurrent(_ path: LocatedPath) -> Bool { path.version == pathVersion }

    /// Reads a path and follows it.
    /// - Throws: as `locate`, and `invalid` for a text that is no path.
    public func locate(text: String) throws(Failure) -> LocatedPath {
        let version = pathVersion
        return LocatedPath(text, try locate(try AttributePath(text)), version)
    }
}
