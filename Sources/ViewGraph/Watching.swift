import AttributeGraph
import AttributeValues

extension ViewGraph {
    /// From now on the attribute is reported by `takeInvalidated` when it may have changed. Evaluates nothing.
    public func watch(_ attribute: AttributeID) { watches.begin(attribute, in: engine) }

    public func unwatch(_ attribute: AttributeID) {
        // The tree's own watching of its data must go on.
        guard forEachByData[attribute.index] == nil else { return }
        noteIdle(watches.end(attribute, in: engine))
    }

    public func isAlive(_ attribute: AttributeID) -> Bool { engine.isAlive(attribute) }

    /// A point on the engine's own clock, for `hasChanged(_:since:)`.
    public var stamp: UInt64 { engine.revision }

    /// Whether the attribute's content became another one after a stamp; known once it has been read.
    public func hasChanged(_ attribute: AttributeID, since stamp: UInt64) -> Bool { engine.changedAt(attribute) > stamp }

    public func changedAt(_ attribute: AttributeID) -> UInt64 { engine.changedAt(attribute) }

    /// Watched attributes that may have changed since the last call, each once, in the order in which the first change reached them.
    public func takeInvalidated() -> [AttributeID] {
        collectInvalidated()
        return watches.take(engine)
    }

    /// Whether the attribute's content may have become another one after a stamp, as far as that is known without reading it.
    public func mayHaveChanged(_ attribute: AttributeID, since stamp: UInt64) -> Bool {
        engine.changedAt(attribute) > stamp || engine.isInvalidated(attribute)
    }

    /// Whether the attribute's content became another one after a stamp. A rule that ran late has changed only if something has that it
    /// read: so each is looked into, down to where a value was set. Evaluates what it looks at. O(what it depends on).
    /// - Parameter isSettled: since the stamp no vertex was made by a change of the tree, none got another rule, and none ran that had
    ///   had to wait.
    public func hasChanged(_ attribute: AttributeID, since stamp: UInt64, isSettled: Bool) -> Bool {
        var pending = [attribute]
        var seen: Set<AttributeID> = [attribute]
        while let next = pending.popLast() {
            let content = content(of: next)
            guard engine.changedAt(next) > stamp, let source = attributes[Int(next.index)]?.source else { continue }
            // A rule that has to wait may have read nothing yet.
            if case .failure(let failure) = content, failure.code == .limit { return true }
            var isPlace = false
            if case .projection = source { isPlace = true }
            if isInput(source) || !(isSettled || isPlace) { return true }
            for input in engine.inputs(of: next) where seen.insert(input).inserted { pending.append(input) }
        }
        return false
    }

    /// Whether contents follow from the tree as it was defined and from states alone, all of which satisfy a condition. Evaluates what it
    /// looks at. What depends on a clock, a transient state or other parts of the tree does not.
    public func follow(_ attributes: [AttributeID], from isKnown: (AttributeID) -> Bool) -> Bool {
        var pending = attributes
        var seen = Set(attributes)
        while let next = pending.popLast() {
            // A rule that has to wait has the same error whatever it is of.
            if case .failure(let failure) = content(of: next), failure.code == .limit { return false }
            guard let record = self.attributes[Int(next.index)] else { return false }
            var inputs: [AttributeID] = []
            switch record.source {
            case .state(let isTransient): guard !isTransient, owner(of: next) != nil, isKnown(next) else { return false }
            case .literal: break
            case .system:
                if let owner = places.owner(of: next) {
                    inputs = [owner]
                } else {
                    // An element is what the list says.
                    guard record.kind != .clock, let list = nodes[Int(nodes[Int(record.node)].parent)].instances else { return false }
                    inputs = [list.data]
                }
            case .alias, .rule, .projection, .override: inputs = engine.inputs(of: next)
            case .elements:
                guard let list = nodes[Int(record.node)].instances else { return false }
                inputs = [list.data]
            case .subviewList, .subviews, .sections, .preferenceOutput, .preference, .object: return false
            }
            for input in inputs where seen.insert(input).inserted { pending.append(input) }
        }
        return true
    }

    /// The data of the lists that decide what a pattern matches; nil if there are too many to look at.
    public func listData(deciding pattern: PathPattern) -> [AttributeID]? {
        guard forEachByData.count <= ViewGraph.decidingLists else { return nil }
        let named = pattern.segments.prefix { if case .id = $0 { true } else { false } }
        let isExact = named.count == pattern.segments.count
        return forEachByData.values.compactMap { row in
            let ids = nodes.ids(of: row).map { PathPattern.Segment.id($0) }
            let decides = named.starts(with: ids) || !isExact && ids.starts(with: named)
            return decides ? nodes[Int(row)].instances?.data : nil
        }
    }

    private static let decidingLists = 10_000

    func collectInvalidated() {
        watches.collect(from: engine) { vertex in
            guard let row = forEachByData[vertex.index] else { return false }
            staleForEach.insert(row)
            return true
        }
    }
}
