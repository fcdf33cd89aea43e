import AttributeValues

/// The initial size of objects, including the objects that they contain.
struct ObjectExtents {
    struct Extent {
        /// Levels of objects inside each other, including the outermost.
        var depth = 1
        /// Number of properties, including those of contained objects; at most `Int.max`.
        var properties = 0
    }

    /// The finite types. Other types contain themselves, or a type that does.
    private var extents: [String: Extent] = [:]
    /// The types of the objects that an object of a type initially contains, one for each property.
    private var inner: [String: [String]] = [:]

    /// O(properties). Uses an explicit stack, because the nesting may be as deep as a document has types.
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
                    let inside = properties(name).flatMap(ObjectExtents.beginnings)
                    inner[name] = inside
                    for type in inside where !open.contains(type) { pending.append(type) }
                    continue
                }
                pending.removeLast()
                extents[name] = extent(of: name, properties(name).count)
            }
        }
    }

    subscript(type: String) -> Extent? { extents[type] }

    /// nil if a contained type has no extent.
    private func extent(of type: String, _ properties: Int) -> Extent? {
        var extent = Extent(depth: 1, properties: properties)
        for inside in inner[type] ?? [] {
            guard let part = extents[inside] else { return nil }
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

    /// The cycles of types that contain themselves, each once. O(properties).
    func circles() -> [[String]] {
        // An infinite type contains an infinite type, so each path leads into a cycle.
        let infinite = inner.keys.filter { extents[$0] == nil }.sorted()
        let numbers = Dictionary(uniqueKeysWithValues: zip(infinite, infinite.indices))
        let parts = infinite.map { type in inner[type]?.compactMap { numbers[$0] }.prefix(1) ?? [] }
        return RuleOrder.circles(parts.map(Array.init)).map { circle in circle.dropLast().map { infinite[$0] } }
    }

    /// The types of the objects that a property may initially contain.
    private static func beginnings(of property: AttributeDefinition) -> [String] {
        guard case .state(let initial, _) = property.role else { return [] }
        switch (property.type, initial) {
        case (.object(let name), _): return [name]
        // A list or map initially contains objects only if its literal does.
        case (_, .null), (_, .optional(nil)): return []
        case (_, .list(let elements)) where elements.isEmpty: return []
        case (.map, .map(let map)) where map.isEmpty: return []
        default: return property.type.objectNames
        }
    }
}
