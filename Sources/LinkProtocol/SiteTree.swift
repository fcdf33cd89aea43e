import AttributeValues

package struct SiteTree {
    /// The ids of the children of each node. The root is the empty list of ids, and missing if the site has no root.
    package var children: [[Name]: [Name]] = [:]
    package var contents: [Transaction.Place: Content] = [:]
    package var definitions: [Transaction.Place: Transaction.Definition] = [:]

    package init() {}

    package init(snapshot: Transaction) {
        children[[]] = []
        apply(snapshot)
    }

    package var snapshot: Transaction { changes(since: SiteTree()) }

    /// The transaction that makes this tree of an older one.
    package func changes(since old: SiteTree) -> Transaction {
        var changes = Transaction()
        for (node, ids) in children {
            if old.children[node] ?? [] != ids { changes.children[node] = ids }
            if let parent = node.last.map({ _ in Array(node.dropLast()) }), old.children[node] == nil,
                old.children[parent] != nil
            {
                changes.added.insert(node)
            }
        }
        for (place, content) in contents where old.contents[place] != content { changes.contents[place] = content }
        for place in old.contents.keys where contents[place] == nil && children[place.node] != nil {
            changes.contents[place] = .failure(Failure(.removed, "the attribute has been removed"))
        }
        for (place, definition) in definitions where old.definitions[place] != definition {
            changes.definitions[place] = definition
        }
        return changes
    }

    /// The parts of a tree that a transaction has changed.
    package struct Difference {
        /// The contents that are new or others than before.
        package var contents: [(place: Transaction.Place, content: Content)] = []
        /// There are other nodes, attributes or definitions.
        package var isStructural = false
        /// There may be other failures.
        package var hasFailures = false
    }

    /// Costs nothing for the rest of the site if only contents have changed.
    @discardableResult
    package mutating func apply(_ changes: Transaction) -> Difference {
        var difference = Difference()
        difference.contents.reserveCapacity(changes.contents.count)
        difference.isStructural = !changes.added.isEmpty || !changes.children.isEmpty || !changes.definitions.isEmpty
        if !changes.added.isEmpty || !changes.children.isEmpty {
            for node in changes.added { children[node] = [] }
            func isNew(_ place: Transaction.Place) -> Bool {
                let node = place.node
                return node.indices.contains { changes.added.contains(Array(node[...$0])) }
            }
            contents = contents.filter { !isNew($0.key) }
            definitions = definitions.filter { !isNew($0.key) }
            children.merge(changes.children) { $1 }
            prune()
        }
        for (place, definition) in changes.definitions where children[place.node] != nil {
            definitions[place] = definition
        }
        for (place, content) in changes.contents {
            if content.isRemoval {
                difference.isStructural = difference.isStructural || contents[place] != nil
                (contents[place], definitions[place]) = (nil, nil)
            } else if let index = contents.index(forKey: place) {
                let old = contents.values[index]
                if old == content { continue }
                if old.value == nil || content.value == nil { difference.hasFailures = true }
                contents.values[index] = content
                difference.contents.append((place, content))
            } else if children[place.node] != nil {
                difference.isStructural = true
                contents[place] = content
                difference.contents.append((place, content))
            }
        }
        if difference.isStructural { difference.hasFailures = true }
        return difference
    }

    /// Drops nodes that no child list names, and makes those that have no child list.
    private mutating func prune() {
        var reached: [[Name]: [Name]] = [:]
        var open: [[Name]] = [[]]
        while let node = open.popLast() {
            let ids = children[node] ?? []
            reached[node] = ids
            for id in ids { open.append(node + [id]) }
        }
        children = reached
        contents = contents.filter { reached[$0.key.node] != nil }
        definitions = definitions.filter { reached[$0.key.node] != nil }
    }
}

extension Content {
    /// An attribute that has been removed has this content in updates.
    package var isRemoval: Bool { if case .failure(let failure) = self { failure.code == .removed } else { false } }
}
