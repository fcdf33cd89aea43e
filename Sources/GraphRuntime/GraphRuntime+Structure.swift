import AttributeGraph
import AttributeValues
import SceneModel
import ViewGraph
import WireProtocol

extension GraphRuntime {
    /// A checked document becomes part of the tree.
    /// - Parameter construction: its new nodes, if they were made ahead and still fit.
    func apply(
        _ scene: SceneDefinition, _ request: Request.Apply, at: NodeID, _ plan: ScenePlan, _ construction: Construction?,
        _ client: ClientID
    ) throws(Failure) -> Result {
        let motion = try motion(request.options)
        var unset: [String] = []
        if !request.dryRun, !graph.isDone(plan) {
            forgetRenewed(by: plan)
            let performed = graph.keeping(changes) { perform(plan, construction, client, motion, cut(request.options.label)) }
            keep(.applied(document: request.document, at: graph.path(of: at), mode: request.mode.rawValue), states: performed.states)
            forgetHopeless()
            unset = performed.unset
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
        let scene = try readScene(.string(text), file: file, at: .root, .merge)
        perform(try graph.plan(scene, at: .root, .merge), nil, nil, .none, file)
        outcome = Outcome()
        _ = graph.takeLostStates()
        _ = graph.takeHeldLists()
    }

    /// - Parameter isKept: the document comes from the store.
    func readScene(
        _ document: Value, file: String? = nil, at node: NodeID, _ mode: ApplyMode, isKept: Bool = false
    ) throws(Failure) -> SceneDefinition {
        let context = graph.sceneContext(at: node, mode, isKept: isKept)
        do throws(SceneFaults) {
            if case .string(let text) = document { return try SceneReader.read(text: text, file: file, context: context) }
            return try SceneReader.read(value: document, context: context)
        } catch {
            throw error.failure
        }
    }

    @discardableResult
    private func perform(
        _ plan: ScenePlan, _ construction: Construction?, _ client: ClientID?, _ motion: Motion, _ label: String?
    ) -> (states: [AttributeID], unset: [String]) {
        let stamp = graph.stamp
        let performed = graph.perform(plan, construction)
        advanceRevision(client, label, since: stamp, writes: [])
        history.lastRedefinition = revision
        publish(since: stamp, motion, label)
        return performed
    }

    func nodePath(_ text: String) throws(Failure) -> AttributePath { try AttributePath(node: text) }

    func remove(_ text: String, _ options: TransactionOptions, _ client: ClientID) throws(Failure) -> Result {
        let motion = try motion(options)
        let node = try graph.node(at: try nodePath(text).nodes)
        let path = graph.path(of: node)
        let stamp = graph.stamp
        try graph.keeping(changes) { () throws(Failure) in try graph.remove(node) }
        let label = cut(options.label)
        advanceRevision(client, label, since: stamp, writes: [])
        publish(since: stamp, motion, label)
        keep(.removed(path: path))
        forgetHopeless()
        return .revision(revision)
    }

    func move(_ request: Request.Move, _ options: TransactionOptions, _ client: ClientID) throws(Failure) -> Result {
        let motion = try motion(options)
        let node = try graph.node(at: try nodePath(request.path).nodes)
        let parent = try graph.node(
            at: request.to == nil ? Array(try nodePath(request.path).nodes.dropLast()) : try nodePath(request.to ?? "/").nodes)
        let path = graph.path(of: node)
        let stamp = graph.stamp
        let level = graph.instanceLevel(of: node)
        let changesInstance = graph.changesInstance(node, to: parent)
        let hasMoved = try graph.keeping(changes) { () throws(Failure) in try graph.move(node, to: parent, at: request.index) }
        guard hasMoved else { return .revision(revision) }
        let label = cut(options.label)
        advanceRevision(client, label, since: stamp, writes: [])
        publish(since: stamp, motion, label)
        if changesInstance {
            keepAsNew(node, from: path, at: request.index)
        } else {
            keep(.moved(path: path, to: request.to.map { _ in graph.path(of: parent) }, index: request.index))
        }
        if graph.path(of: node) != path { keepMovedStates(of: node, from: path, level: level) }
        forgetHopeless()
        return .revision(revision)
    }

    /// A node that has come out of an instance of a `forEach`, or into one, is kept as one that went there and one that is made here:
    /// so it stands on nothing that data may take away on its other side. One that cannot be written is kept as moved.
    private func keepAsNew(_ node: NodeID, from path: String, at index: Int?) {
        let parent = AttributePath.describe(nodes: Array(graph.ids(of: node).dropLast()))
        guard let document = try? graph.keptScene(of: node, limit: limits.describedNodes) else {
            graph.keeping(changes) { graph.noteMade(node) }
            return keep(.moved(path: path, to: parent, index: index))
        }
        keep(.removed(path: path))
        graph.keeping(changes) { graph.noteMade(node) }
        keep(.applied(document: document, at: parent, mode: Request.ApplyMode.merge.rawValue))
        guard let index else { return }
        graph.keeping(changes) { graph.noteOrder(of: node) }
        keep(.moved(path: graph.path(of: node), to: nil, index: index))
    }
}
