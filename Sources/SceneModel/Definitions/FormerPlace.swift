import AttributeValues

/// The place that a node had in an earlier form of its scene: a former id (`lamp`), a path from its parent (`../lamp`),
/// or one from the root (`/room/lamp`). Choices and branches are levels of these paths, as they are of stored keys.
public struct FormerPlace: Equatable {
    /// Levels from the parent up to the beginning of the path; nil: it begins at the root.
    private var levelsUp: Int?
    private var ids: [Name]

    /// - Throws: why the text is no such place.
    init(_ text: String) throws(Failure) {
        var rest = Substring(text)
        var levels = 0
        while rest.hasPrefix("../") {
            levels += 1
            rest = rest.dropFirst(3)
        }
        levelsUp = text.hasPrefix("/") ? nil : levels
        if rest.utf8.contains(UInt8(ascii: "/")) {
            let path = try AttributePath(rest.hasPrefix("/") ? String(rest) : "/" + rest)
            guard path.attribute == nil else { throw Failure(.invalid, "'\(text)' names an attribute, not a node") }
            ids = path.nodes
        } else {
            ids = rest == ".." ? [] : [Name(String(rest))]
        }
        if ids.isEmpty { throw Failure(.invalid, "'\(text)' names no node that was renamed or moved") }
        for id in ids {
            if let problem = NodeIdentifier.refusal(of: id.text) { throw Failure(.invalid, "an id \(problem)") }
        }
    }

    /// True if it begins at the root.
    var isFromRoot: Bool { levelsUp == nil }

    /// The ids from the root.
    /// - Parameter parent: the ids of the present parent, where it was then.
    /// - Returns: nil if the path leads beyond the root.
    public func ids(below parent: [Name]) -> [Name]? {
        guard let levelsUp else { return ids }
        return levelsUp > parent.count ? nil : parent.dropLast(levelsUp) + ids
    }
}
