import AttributeGraph
import AttributeValues
import SceneModel

// The one place where a write reaches a state: whoever uses the graph is asked there.

/// A part that leads a write elsewhere.
public struct WriteStep {
    public var attribute: AttributeID
    public var author: PartAuthor
}

/// Decides about writes.
public struct WriteGuard {
    /// False: it is asked only about writes that parts with a limited author lead to their states.
    public var isForAll: Bool
    /// If `isForAll`: false while whoever writes now need not be asked about.
    public var concerns: () -> Bool
    /// True for an author who may write only a part of the tree.
    public var isLimited: (PartAuthor) -> Bool
    /// - Parameters:
    ///   - state: the path of the state at the end, into its value.
    ///   - way: the parts that led there, with authors who may write only a part of the tree.
    /// - Throws: to refuse the write; nothing has been written.
    public var check: (_ state: AttributePath, _ way: [WriteStep]) throws(Failure) -> Void
    /// - Throws: to refuse that an action of this author calls another one.
    public var checkCall: (_ action: AttributePath, _ author: PartAuthor) throws(Failure) -> Void

    public init(
        isForAll: Bool, concerns: @escaping () -> Bool, isLimited: @escaping (PartAuthor) -> Bool,
        check: @escaping (_ state: AttributePath, _ way: [WriteStep]) throws(Failure) -> Void,
        checkCall: @escaping (_ action: AttributePath, _ author: PartAuthor) throws(Failure) -> Void
    ) {
        self.checkCall = checkCall
        self.isForAll = isForAll
        self.concerns = concerns
        self.isLimited = isLimited
        self.check = check
    }
}

extension TransactedWiring {
    /// Asks about a write that has come to its state.
    func askGuard(_ state: Place, _ way: [WriteStep]) throws(Failure) {
        guard let writeGuard else { return }
        let way = way.isEmpty && writers.isEmpty ? [] : (writers + way).filter { writeGuard.isLimited($0.author) }
        if way.isEmpty, !writeGuard.isForAll || !writeGuard.concerns() { return }
        try writeGuard.check(try path(of: state), way)
    }

    /// Where a write at a place ends now, with the parts that lead there; no state if a binding with rules computes
    /// what is written.
    public func end(
        ofWriteAt place: Place, through path: AttributePath
    ) throws(Failure) -> (state: AttributePath?, way: [WriteStep]) {
        let way = try writable(place, path)
        let steps = writers + way.steps
        if case .binding(.rules, _)? = record(way.state.attribute).definition?.role { return (nil, steps) }
        return (try self.path(of: way.state), steps)
    }

    private func path(of place: Place) throws(Failure) -> AttributePath {
        var path = try AttributePath(self.path(of: place.attribute))
        path.steps += place.steps
        return path
    }

    /// While `body` runs, an action leads all writes.
    /// - Parameter author: of the type that has the action, if one has.
    public func leading<T>(
        by action: AttributeID, of author: PartAuthor? = nil, _ body: () throws(Failure) -> T
    ) throws(Failure) -> T {
        let way = author.flatMap { $0 == .daemon ? nil : [WriteStep(attribute: action, author: $0)] } ?? []
        let count = enterWay(way, action)
        defer { writers.removeLast(writers.count - count) }
        return try body()
    }

    /// From now on, all writes come by a way, and through an action or a binding with rules at its end.
    /// - Returns: the number of parts before.
    func enterWay(_ way: [WriteStep], _ attribute: AttributeID) -> Int {
        defer {
            if !way.isEmpty { writers += way }
            if let step = step(at: attribute) { writers.append(step) }
        }
        return writers.count
    }

    /// The step that an attribute is on the way of a write; nil for the daemon's.
    func step(at attribute: AttributeID) -> WriteStep? {
        let author = author(of: attribute)
        return author == .daemon ? nil : WriteStep(attribute: attribute, author: author)
    }

    /// The author of the reference, action or data by which an attribute leads elsewhere.
    public func author(of attribute: AttributeID) -> PartAuthor {
        let record = record(attribute)
        if let definition = record.definition { return definition.author }
        // References from the root are parts of what names them.
        if record.isHidden { return .daemon }
        let node = nodes[record.node]
        guard node.instance?.element == attribute else { return .daemon }
        return nodes[node.parent].definition.forEach?.author ?? .unknown
    }

    /// The paths of the states where writes at a place end now, into their values: several behind a binding with rules,
    /// none where nothing can be written.
    public func ends(ofWritesAt place: Place) -> [AttributePath] {
        var found: [AttributePath] = []
        var seen: Set<AttributeID> = []
        var pending = [place]
        while let next = pending.popLast() {
            guard let way = try? writable(next, AttributePath(nodes: [], attribute: "")) else { continue }
            let state = way.state
            if case .binding(.rules(_, let set)?, _)? = record(state.attribute).definition?.role {
                guard seen.insert(state.attribute).inserted else { continue }
                let row = record(state.attribute).node
                pending += set.compactMap { part in
                    resolveName(part.target.name.text, from: row, .enclosing).map { Place($0, part.target.steps) }
                }
            } else if let path = try? path(of: state) {
                found.append(path)
            }
        }
        return found
    }

    /// Where a name in a document that is applied at a node leads; nil if it leads to nothing yet.
    public func place(ofName name: Name, inDocumentAt node: NodeID) -> Place? {
        if let path = name.pathFromRoot {
            return (try? AttributePath(path.text)).flatMap { try? locate($0, looksForNames: false) }
        }
        let scope = nodes.isComponentRoot(node.row) ? Scope.enclosing : .modifier
        return resolveName(name.text, from: node.row, scope).map { Place($0) }
    }

    /// The parts that lead elsewhere and that a store had without their authors: their number, and the path of the
    /// first one. O(nodes).
    public func findPartsWithoutAuthor() -> (count: Int, first: String)? {
        var (count, first) = (0, "")
        for row in nodes.living {
            let definition = nodes[row].definition
            func note(_ path: String) {
                if count == 0 { first = path }
                count += 1
            }
            for attribute in definition.attributes where attribute.author == .unknown {
                note("\(nodes.path(of: row)).\(attribute.name)")
            }
            if definition.isPlain { continue }
            if definition.forEach?.author == .unknown { note(nodes.path(of: row)) }
            for provided in definition.environmentObjects where provided.author == .unknown {
                note(nodes.path(of: row))
            }
        }
        return count == 0 ? nil : (count, first)
    }
}
