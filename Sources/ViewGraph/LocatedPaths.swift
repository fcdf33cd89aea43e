import AttributeGraph
import AttributeValues

/// A path, and where it leads.
public final class LocatedPath {
    public let path: AttributePath
    public let place: Place
    /// Of the tree and its attributes when the path was followed.
    fileprivate let version: UInt64

    fileprivate init(_ path: AttributePath, _ place: Place, _ version: UInt64) {
        self.path = path
        self.place = place
        self.version = version
    }
}

/// The paths that requests have named last: a script writes the same ones again and again.
struct LocatedPaths {
    fileprivate var known: [String: LocatedPath] = [:]

    /// So many paths of so many bytes are kept; then all are dropped. The links of a fleet name 100,000 each second.
    fileprivate static let capacity = 1 << 17
    fileprivate static let longest = 256
}

extension Wiring {
    /// Reads a path and follows it. O(bytes), while the tree stays as it is.
    /// - Throws: as `locate`, and `invalid` for a text that is no path.
    public func locate(text: String) throws(Failure) -> LocatedPath {
        // Every attribute that comes or goes, and every node that does or moves.
        let counters = engine.counters
        let version = counters.attributesCreated &+ counters.attributesDestroyed &+ nodes.changes
        if let found = locatedPaths.known[text], found.version == version { return found }
        let path = try AttributePath(text)
        let found = LocatedPath(path, try locate(path), version)
        guard text.utf8.count <= LocatedPaths.longest else { return found }
        if locatedPaths.known.count >= LocatedPaths.capacity { locatedPaths.known.removeAll() }
        locatedPaths.known[text] = found
        return found
    }
}
