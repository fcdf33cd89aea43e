import AttributeGraph
import AttributeValues
import SceneModel

// What a container sees of its subviews. Container values are read by the closest container only: transparent nodes pass
// them through, views and containers stop them.

extension ViewGraph {
    /// A node that counts as one subview of its container.
    func isOpaque(_ row: UInt32) -> Bool {
        switch nodes[Int(row)].kind {
        case .view, .container: true
        case .group, .section, .forEach: false
        }
    }

    /// The closest container of a node (the root has itself).
    func container(of row: UInt32) -> UInt32 {
        var at = nodes[Int(row)].parent
        while at != NodeID.root.row, !isOpaque(at) { at = nodes[Int(at)].parent }
        return at
    }

    /// The subviews that a node's children come to, transparent ones looked through, in order.
    func subviewRows(of row: UInt32, slot: Slot? = nil) -> [UInt32] {
        var rows: [UInt32] = []
        var pending = childRows(of: row, slot).reversed() as [UInt32]
        while let next = pending.popLast() {
            if isOpaque(next) {
                rows.append(next)
            } else {
                // A section's header and footer are its own, not subviews of the container.
                pending.append(contentsOf: childRows(of: next, .content).reversed())
            }
        }
        return rows
    }

    private func childRows(of row: UInt32, _ slot: Slot?) -> [UInt32] {
        guard let slot, nodes[Int(row)].kind == .section else { return nodes[Int(row)].children }
        return nodes[Int(row)].children.filter { nodes[Int($0)].slot == slot }
    }

    func subviews(of row: UInt32) throws -> Content {
        try readStructure(of: row)
        return try describe(subviewRows(of: row))
    }

    /// A list of what the rows show their container, numbered from 0.
    private func describe(_ rows: [UInt32]) throws -> Content {
        var list: [Value] = []
        list.reserveCapacity(rows.count)
        for (index, subview) in rows.enumerated() {
            switch try engine.read(systemAttribute(.description, of: subview)) {
            case .failure(let failure): return .failure(failure)
            case .value(.map(var description)):
                description["index"] = .int(Int64(index))
                list.append(.map(description))
            case .value(let other): list.append(other)
            }
        }
        return .value(.list(list))
    }

    /// The container's sections in order; runs of subviews outside any section form sections of their own.
    func sections(of row: UInt32) throws -> Content {
        try readStructure(of: row)
        var list: [Value] = []
        var loose: [UInt32] = []
        func section(_ id: String, _ header: [UInt32], _ content: [UInt32], _ footer: [UInt32], _ values: Value) throws
            -> Failure?
        {
            var map = ValueMap([("id", .string(id)), ("index", .int(Int64(list.count)))].map { (.string($0), $1) })
            for (name, rows) in [("header", header), ("content", content), ("footer", footer)] {
                switch try describe(rows) {
                case .failure(let failure): return failure
                case .value(let value): map[name] = value
                }
            }
            map["containerValues"] = values
            list.append(.map(map))
            return nil
        }
        func flush() throws -> Failure? {
            guard let first = loose.first else { return nil }
            defer { loose = [] }
            return try section(nodes[Int(first)].id, [], loose, [], .map(defaultContainerValues()))
        }
        var pending = nodes[Int(row)].children.reversed() as [UInt32]
        while let next = pending.popLast() {
            if nodes[Int(next)].kind == .section {
                if let failure = try flush() { return .failure(failure) }
                let values: Value
                switch try containerValues(of: next) {
                case .failure(let failure): return .failure(failure)
                case .value(let value): values = value
                }
                let failure = try section(
                    nodes[Int(next)].id, subviewRows(of: next, slot: .header), subviewRows(of: next, slot: .content),
                    subviewRows(of: next, slot: .footer), values)
                if let failure { return .failure(failure) }
            } else if isOpaque(next) {
                loose.append(next)
            } else {
                pending.append(contentsOf: nodes[Int(next)].children.reversed())
            }
        }
        if let failure = try flush() { return .failure(failure) }
        return .value(.list(list))
    }

    /// `{id, index, tag, containerValues}` of one subview; the index is the container's to say.
    func describeSubview(_ row: UInt32) throws -> Content {
        try readStructure(of: row)
        var tag: Value = .null
        var at = row
        // A tag on a wrapper holds for what it wraps; the innermost wins.
        let container = container(of: row)
        while at != container {
            if let attribute = nodes[Int(at)].tag {
                switch try engine.read(attribute) {
                case .failure(let failure): return .failure(failure)
                case .value(let value): tag = value
                }
                break
            }
            at = nodes[Int(at)].parent
        }
        switch try containerValues(of: row) {
        case .failure(let failure): return .failure(failure)
        case .value(let values):
            let entries: [(String, Value)] = [
                ("id", .string(nodes[Int(row)].id)), ("index", 0), ("tag", tag), ("containerValues", values),
            ]
            return .value(.map(ValueMap(entries.map { (.string($0), $1) })))
        }
    }

    private func defaultContainerValues() -> ValueMap {
        ValueMap(
            declarations.container.values.sorted { $0.name.precedesByBytes($1.name) }
                .map { (.string($0.name), $0.defaultValue) })
    }

    /// All container values of a node: defaults, then what wrappers set from outside in, then its own.
    private func containerValues(of row: UInt32) throws -> Content {
        var whole = Value.map(defaultContainerValues())
        var writers = [row]
        let container = container(of: row)
        var at = row
        while at != container {
            at = nodes[Int(at)].parent
            if at != container { writers.append(at) }
        }
        for writer in writers.reversed() {
            for (key, steps, source) in nodes[Int(writer)].containerValues {
                guard case .value(let value) = try engine.read(source) else { return try engine.read(source) }
                do { whole = try whole.changing([.key(key)] + steps) { _ in value } } catch { return .failure(error) }
            }
        }
        return .value(whole)
    }

    // MARK: Shape

    /// Makes the running rule depend on the shape of the tree below a node.
    func readStructure(of row: UInt32) throws {
        let attribute: AttributeID
        if let existing = nodes[Int(row)].structure {
            attribute = existing
        } else {
            attribute = createInput(.value(0), node: row, name: "structure", source: .system)
            nodes[Int(row)].structure = attribute
        }
        _ = try engine.read(attribute)
    }

    /// Tells all that depend on the shape of the tree around a node that it changed: whoever reads something gathered
    /// from below. O(depth).
    func shapeChanged(at row: UInt32) {
        var at = row
        while true {
            countChange(of: at)
            if at == NodeID.root.row { return }
            at = nodes[Int(at)].parent
        }
    }

    private func countChange(of row: UInt32) {
        guard let structure = nodes[Int(row)].structure, case .value(.int(let count)) = content(of: structure) else { return }
        setInput(structure, .value(.int(count + 1)))
    }

    /// As `shapeChanged` everywhere, when keys are declared again: what is gathered has another default, or is merged another way. O(nodes).
    func gatheringChanged() {
        for row in nodes.living { countChange(of: row) }
    }

    /// As `shapeChanged`, when what a node says of itself changed: told also to the subviews that a transparent node wraps. O(subviews inside).
    func wrappingChanged(at row: UInt32) {
        shapeChanged(at: row)
        var pending = isOpaque(row) ? [] : nodes[Int(row)].children
        while let next = pending.popLast() {
            if isOpaque(next) { shapeChanged(at: next) } else { pending += nodes[Int(next)].children }
        }
    }

    /// The vertex for something every node has; made when first asked for.
    func systemAttribute(_ which: SystemAttribute, of row: UInt32) -> AttributeID {
        if let existing = nodes[Int(row)].system[which] { return existing }
        let made: AttributeID
        switch which {
        case .selfID: made = createInput(.value(.string(nodes[Int(row)].id)), node: row, name: "self.id", source: .system)
        case .selfPath:
            made = createInput(.value(.string(path(of: nodeID(row)))), node: row, name: "self.path", source: .system)
        case .selfIndex:
            made = createInput(index(of: row), node: row, name: "self.index", source: .system)
            nodes[Int(nodes[Int(row)].parent)].numberedChildren += 1
        case .subviews: made = createRule(node: row, name: "subviews", source: .subviews)
        case .sections: made = createRule(node: row, name: "sections", source: .sections)
        case .description: made = createRule(node: row, name: "self", source: .subviewDescription)
        case .preferenceOutput(let key):
            made = createRule(node: row, name: "preference \(key)", source: .preferenceOutput(key: key))
        case .preference(let key): made = createRule(node: row, name: "preferences.\(key)", source: .preference(key: key))
        }
        nodes[Int(row)].system[which] = made
        return made
    }

    /// A node's place among its siblings. O(1) for one that follows the one asked for last, else O(siblings).
    func index(of row: UInt32) -> Content {
        let parent = Int(nodes[Int(row)].parent)
        let next = nodes[parent].lastPlace + 1
        let place =
            nodes[parent].children.indices.contains(next) && nodes[parent].children[next] == row
            ? next : nodes[parent].children.firstIndex(of: row) ?? 0
        nodes[parent].lastPlace = place
        return .value(.int(Int64(place)))
    }

    /// Brings `self.path` below and `self.index` among the siblings of a moved node up to date.
    func placeChanged(of rows: [UInt32]) {
        for row in rows {
            if let attribute = nodes[Int(row)].system[.selfPath] {
                setInput(attribute, .value(.string(path(of: nodeID(row)))))
            }
        }
    }

    func indicesChanged(below parent: UInt32) {
        guard nodes[Int(parent)].numberedChildren > 0 else { return }
        for (position, child) in nodes[Int(parent)].children.enumerated() {
            if let attribute = nodes[Int(child)].system[.selfIndex] { setInput(attribute, .value(.int(Int64(position)))) }
        }
    }
}
