import AttributeGraph
import AttributeValues
import SceneModel
import ViewGraph
import WireProtocol

extension GraphRuntime {
    /// Adds a checked document to the tree.
    /// - Parameter construction: the new nodes, if they were made ahead and still fit.
    func perform(
        _ request: Request.Apply, _ plan: ScenePlan, _ construction: Construction?, _ client: Client
    ) throws(Failure) -> Answer {
        let motion = try presentations.motion(request.options)
        var unset: [String] = []
        if !request.dryRun, !plan.isDone(in: graph) {
            for change in authors.takeUnkept() { store.add(change) }
            unset = perform(plan, construction, client, motion, cut(request.options.label))
            store.takeChanges()
            graph.noteLayer(of: plan, at: revision)
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

    /// Loads a document at the start of the daemon.
    /// - Throws: the fault in the document, with the file's name in the message.
    /// - Returns: warnings: things that are allowed but probably not intended.
    @discardableResult
    public func load(_ text: String, file: String) throws(Failure) -> SceneFaults? {
        var context = graph.sceneContext(at: .root, .merge, isKept: false)
        context.isFile = true
        let scene: SceneDefinition
        do throws(SceneFaults) { scene = try SceneReader.read(text: text, file: file, context: context) } catch {
            throw error.failure
        }
        graph.notesChanges = false
        defer { graph.notesChanges = true }
        perform(try graph.planned(scene, at: .root, .merge).plan, nil, nil, nil, file)
        graph.persistence.noteScenes()
        _ = graph.takeStoreChanges(at: revision)
        outcome = Outcome()
        return scene.warnings
    }

    @discardableResult
    private func perform(
        _ plan: ScenePlan, _ construction: Construction?, _ client: Client?, _ motion: Motion?, _ label: String?
    ) -> [String] {
        let stamp = graph.stamp
        let unset = graph.perform(plan, construction)
        watching.complete(since: stamp, by: client, label, motion, redefines: true)
        return unset
    }

    func remove(_ text: String, _ options: TransactionOptions, _ client: Client) throws(Failure) -> Answer {
        let motion = try presentations.motion(options)
        let node = try graph.node(at: try AttributePath(node: text).nodes)
        let stamp = graph.stamp
        try graph.remove(node)
        watching.complete(since: stamp, by: client, cut(options.label), motion)
        store.takeChanges()
        return .revision(revision)
    }

    func withdraw(_ plan: ScenePlan, _ options: TransactionOptions, _ client: Client) throws(Failure) -> Answer {
        perform(plan, nil, client, try presentations.motion(options), cut(options.label))
        store.takeChanges()
        return .revision(revision)
    }

    func restore(_ text: String, _ options: TransactionOptions, _ client: Client) throws(Failure) -> Answer {
        let motion = try presentations.motion(options)
        let plan = try graph.planRestoring(try AttributePath(node: text).nodes)
        perform(plan, nil, client, motion, cut(options.label))
        store.takeChanges()
        return .revision(revision)
    }

    func move(
        _ path: String, to: String?, at index: Int?, _ options: TransactionOptions, _ client: Client
    ) throws(Failure) -> Answer {
        let motion = try presentations.motion(options)
        let nodes = try AttributePath(node: path).nodes
        let node = try graph.node(at: nodes)
        let parent = try graph.node(
            at: try to.map { (to) throws(Failure) in try AttributePath(node: to).nodes } ?? Array(nodes.dropLast()))
        let stamp = graph.stamp
        guard try graph.move(node, to: parent, at: index) else { return .revision(revision) }
        watching.complete(since: stamp, by: client, cut(options.label), motion)
        store.takeChanges()
        return .revision(revision)
    }
}
