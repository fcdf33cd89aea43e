import AttributeValues

/// What objects of types that hold each other begin with.
struct ObjectExtents {
    struct Extent {
        /// Objects inside each other, the outermost counted.
        var depth = 1
        /// Those of the objects in it counted, up to `Int.max`.
        var properties = 0
    }

    /// Types that end; the others hold themselves, or one that does.
    private var extents: [String: Extent] = [:]
    /// The types that objects of a type begin with, one for each property.
    private var inner: [String: [String]] = [:]

    /// O(properties). An explicit stack: types hold each other as deep as a document has types.
    init(of types: some Sequence<String>, properties: (String) -> [AttributeDefinition]) {
        var open: Set<String> = []
        for root in types {
            var pending = [root]
            while let name = pending.last {
                guard extents[name] == nil else {
                    pending.removeLast()
                    continue
                }
                if open.insert(name).inserted {
                    let held = properties(name).flatMap(ObjectExtents.beginnings)
                    inner[name] = held
                    for type in held where !open.contains(type) { pending.append(type) }
                    continue
                }
                pending.removeLast()
                extents[name] = extent(of: name, properties(name).count)
            }
        }
    }

    subscript(type: String) -> Extent? { extents[type] }

    /// nil where a type that is held has none.
    private func extent(of type: String, _ properties: Int) -> Extent? {
        var extent = Extent(depth: 1, properties: properties)
        for held in inner[type] ?? [] {
            guard let part = extents[held] else { return nil }
            extent.depth = max(extent.depth, part.depth + 1)
            let (sum, isBeyond) = extent.properties.addingReportingOverflow(part.properties)
            extent.properties = isBeyond ? .max : sum
        }
        return extent
    }

    func isBeyondLimits(_ type: String) -> Bool {
        guard let extent = extents[type] else { return true }
        return extent.depth > SceneLimits.objectDepth || extent.properties > SceneLimits.objectProperties
    }

    /// Types that hold themselves, each circle once. O(properties).
    func circles() -> [[String]] {
        var circles: [[String]] = []
        var walked: Set<String> = []
        for start in inner.keys.sorted() where extents[start] == nil && !walked.contains(start) {
            var way: [String] = []
            var places: [String: Int] = [:]
            var at = start
            // What does not end holds something that does not, so that each way leads into a circle.
            while walked.insert(at).inserted {
                places[at] = way.count
                way.append(at)
                guard let next = inner[at]?.first(where: { extents[$0] == nil }) else { break }
                at = next
            }
            if let first = places[at] { circles.append(Array(way[first...])) }
        }
        return circles
    }

    /// The types of the objects that a property may begin with.
    private static func beginnings(of property: AttributeDefinition) -> [String] {
        guard case .state(let initial, _) = property.role else { return [] }
        switch (property.type, initial) {
        case (.object(let name), _): return [name]
        // A list or map has objects in it only if something is written there.
        case (_, .null), (_, .optional(nil)): return []
        case (_, .list(let elements)) where elements.isEmpty: return []
        case (.map, .map(let map)) where map.isEmpty: return []
        default: return property.type.objectNames
        }
    }
}
