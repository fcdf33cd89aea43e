import AttributeValues
import SceneModel
import ViewGraph
import WireProtocol

extension GraphRuntime {
    /// A scene document becomes part of the tree. It is checked whole first: any fault, and nothing has changed.
    func apply(_ request: Request.Apply, _ client: ClientID) throws(Failure) -> Result {
        let at = try graph.node(at: try nodePath(request.at).nodes)
        let mode: ApplyMode =
            switch request.mode {
            case .create: .create
            case .merge: .merge
            case .replace: .replace
            }
        let scene = try read(request.document, file: nil, at: at, mode)
        try checkAccess(of: client, to: scene.declarations)
        let plan = try graph.plan(scene, at: at, mode, isTold: request.dryRun)
        var unset: [String] = []
        if !request.dryRun {
            unset = perform(plan, client, request.options)
            outcome.accepted.append(
                (revision, .applied(document: request.document, at: request.at, mode: request.mode.rawValue)))
        }
        func list(_ paths: [String]) -> Value { .list(paths.map { .string($0) }) }
        var result: ValueMap = ValueMap([
            (.string("revision"), .int(Int64(clamping: revision))), (.string("added"), list(plan.added)),
            (.string("removed"), list(plan.removed)), (.string("changed"), list(plan.changed)),
        ])
        if request.dryRun, !plan.differences.isEmpty { result["differences"] = list(plan.differences) }
        if !unset.isEmpty { result["unset"] = list(unset) }
        return .value(.map(result))
    }

    /// Loads a document that the daemon was started with.
    /// - Throws: what is wrong with it, with the file's name in the message.
    public func load(_ text: String, file: String) throws(Failure) {
        let scene = try read(.string(text), file: file, at: .root, .merge)
        perform(try graph.plan(scene, at: .root, .merge), nil, TransactionOptions(label: file))
        outcome = Outcome()
    }

    private func read(_ document: Value, file: String?, at node: NodeID, _ mode: ApplyMode) throws(Failure) -> SceneDefinition {
        let context = graph.sceneContext(at: node, mode)
        do throws(SceneFaults) {
            if case .string(let text) = document { return try SceneReader.read(text: text, file: file, context: context) }
            return try SceneReader.read(value: document, context: context)
        } catch {
            throw error.failure
        }
    }

    @discardableResult
    private func perform(_ plan: ScenePlan, _ client: ClientID?, _ options: TransactionOptions) -> [String] {
        let stamp = graph.stamp
        let unset = graph.perform(plan)
        advanceRevision(client, options.label, since: stamp, writes: [])
        publish(since: stamp, (try? motion(options)) ?? .none, options.label)
        return unset
    }

    private func nodePath(_ text: String) throws(Failure) -> AttributePath {
        let path = try AttributePath(text)
        guard path.attribute == nil else {
            throw Failure(.invalid, "\(text) names an attribute; a node is wanted", path: text)
        }
        return path
    }

    func remove(_ text: String, _ options: TransactionOptions, _ client: ClientID) throws(Failure) -> Result {
        let node = try graph.node(at: try nodePath(text).nodes)
        let stamp = graph.stamp
        try graph.remove(node)
        advanceRevision(client, options.label, since: stamp, writes: [])
        publish(since: stamp, try motion(options), options.label)
        outcome.accepted.append((revision, .removed(path: text)))
        return .revision(revision)
    }

    func move(_ request: Request.Move, _ options: TransactionOptions, _ client: ClientID) throws(Failure) -> Result {
        let node = try graph.node(at: try nodePath(request.path).nodes)
        let parent = try graph.node(
            at: request.to == nil ? Array(try nodePath(request.path).nodes.dropLast()) : try nodePath(request.to ?? "/").nodes)
        let stamp = graph.stamp
        try graph.move(node, to: parent, at: request.index)
        advanceRevision(client, options.label, since: stamp, writes: [])
        publish(since: stamp, try motion(options), options.label)
        outcome.accepted.append((revision, .moved(path: request.path, to: request.to, index: request.index)))
        return .revision(revision)
    }

    // MARK: Starting again

    /// Puts back what a journal kept, before the first turn. Entries are taken in their order.
    /// - Throws: why an entry cannot be taken; the caller decides whether to go on.
    public func restore(_ entry: JournalEntry) throws(Failure) {
        switch entry {
        case .state(let path, let value):
            let path = try AttributePath(path)
            let place = try graph.locate(path)
            graph.begin()
            do { try graph.write(place, through: path) { _ throws(Failure) in value } } catch {
                graph.rollBack()
                throw error
            }
            _ = graph.commit()
        case .applied(let document, let at, let mode):
            let node = try graph.node(at: try nodePath(at).nodes)
            let mode: ApplyMode = mode == "replace" ? .replace : .merge
            let scene = try read(document, file: nil, at: node, mode)
            graph.perform(try graph.plan(scene, at: node, mode))
        case .removed(let path): try graph.remove(try graph.node(at: try nodePath(path).nodes))
        case .moved(let path, let to, let index):
            let node = try graph.node(at: try nodePath(path).nodes)
            let parent = try nodePath(to ?? path).nodes
            try graph.move(node, to: try graph.node(at: to == nil ? Array(parent.dropLast()) : parent), at: index)
        }
        _ = graph.takeStructureChange()
        _ = graph.takeInvalidated()
    }
}
