import AttributeValues
import SceneModel
import ViewGraph
import WireProtocol

// Changes of structure are jobs. A long one takes several turns, between which other clients are served. Jobs are done
// one after the other, so that only data changes the tree while a document is read, checked and built. The client's
// later requests wait for the reply, as always.

extension GraphRuntime {
    /// The result of a change of structure.
    /// - Returns: nil while it is under way or waits for others. The request has to be performed again in the next
    ///   turn.
    func resultOfJob(_ request: Request, for client: Client) -> Answer? {
        if client.job == nil {
            statistics.requests += 1
            do throws(Failure) { try checkAccess(of: client, to: request) } catch {
                return .fault(RequestFault(failure: error))
            }
            let job = StructureJob(client, request)
            client.job = job
            enqueue(job)
            doJobs()
        }
        guard let result = client.job?.result else { return nil }
        client.job = nil
        return result
    }

    /// A user's second job comes behind the first ones of all others, and so on. The job at hand goes on.
    private func enqueue(_ job: StructureJob) {
        job.round = jobs.last { $0.owner == job.owner }.map { $0.round + 1 } ?? 0
        jobs.insert(job, at: jobs.indices.dropFirst().first { jobs[$0].round > job.round } ?? jobs.endIndex)
    }

    /// Works on jobs while this turn has steps left. Unlinked trees are freed first, so that they no longer count
    /// against the limits of a job.
    func doJobs() {
        let before = jobSteps
        defer { statistics.steps &+= before &- jobSteps }
        graph.freeUnlinked(&jobSteps)
        while jobSteps > 0, !graph.hasUnlinked, let job = jobs.first {
            job.slices += 1
            do throws(Failure) {
                job.result = try working(for: job.client) { () throws(Failure) in
                    try graph.seeing(as: job.client) { () throws(Failure) in try goOn(with: job) }
                }
                if job.result == nil { return }
            } catch { job.result = .fault(RequestFault(failure: error)) }
            jobs.removeFirst()
            if job.slices > 1 { hasFreed = true }
            // Each job takes some steps, even if it did little.
            jobSteps -= GraphRuntime.stepsPerJob
        }
    }

    private static let stepsPerJob = 100

    /// - Returns: nil if no steps are left.
    private func goOn(with job: StructureJob) throws(Failure) -> Answer? {
        if job.hasOldAccess { startAgain(job) }
        // A job that starts again waits until the nodes that it had built are freed.
        if graph.hasUnlinked { return nil }
        if case .waiting = job.stage { try checkAccess(of: job.client, to: job.request) }
        switch job.request {
        case .apply(let apply): return try goOn(with: job, apply)
        case .remove(let path, let options): return try remove(path, options, job.client)
        case .withdraw(let layer, let path, let options):
            return try withdraw(layer, at: path, options, job.client)
        case .restore(let path, let options): return try restore(path, options, job.client)
        case .move(let path, let to, let index, let options):
            return try move(path, to: to, at: index, options, job.client)
        default: preconditionFailure("a job that changes no structure")
        }
    }

    private func goOn(with job: StructureJob, _ apply: Request.Apply) throws(Failure) -> Answer? {
        while true {
            switch job.stage {
            case .waiting: job.stage = .reading(try reading(of: apply, by: job.client))
            case .reading(let reading):
                guard reading.advance(&jobSteps) else { return nil }
                let scene: SceneDefinition
                do throws(SceneFaults) { scene = try reading.scene() } catch { throw error.failure }
                job.stage = .checked(scene)
                // Freeing the definitions that were read takes a while, too.
                if job.slices > 1 { return nil }
            case .checked(let scene):
                let at = try place(of: apply)
                try checkAccess(of: job.client, to: scene, at: at)
                let planning = try graph.planning(
                    of: scene, at: at, mode(of: apply), as: try layer(of: apply), isTold: apply.dryRun)
                job.stage = .planning(planning, scene)
            case .planning(let planning, let scene):
                let at = try place(of: apply)
                guard planning.isCurrent else {
                    // Data has changed the tree meanwhile, and may do so again.
                    let planned = try graph.planned(
                        scene, at: at, mode(of: apply), as: try layer(of: apply), isTold: apply.dryRun)
                    job.stage = .planning(planned, scene)
                    continue
                }
                guard try planning.advance(&jobSteps) else { return nil }
                // The nodes of a layer are made where the parts of all layers are composed.
                if apply.dryRun || apply.layer != nil || planning.plan.isDone(in: graph) {
                    try refuseChanged(apply, scene)
                    return try perform(apply, planning.plan, nil, job.client)
                }
                job.stage = .building(Construction(planning, graph.persistence), scene)
            case .building(let construction, let scene):
                // If the parent is gone, `link` reports that.
                if construction.hasParents, !graph.advance(construction, &jobSteps) { return nil }
                job.stage = .built(construction, scene)
                if job.slices > 1 { return nil }
            case .built(let construction, let scene):
                do throws(Failure) { return try link(construction, scene, apply, job.client) } catch {
                    graph.abandon(construction)
                    throw error
                }
            }
        }
    }

    private func startAgain(_ job: StructureJob) {
        job.hasOldAccess = false
        switch job.stage {
        case .building(let construction, _), .built(let construction, _): graph.abandon(construction)
        case .waiting, .reading, .checked, .planning: break
        }
        job.stage = .waiting
    }

    private func reading(of apply: Request.Apply, by client: Client) throws(Failure) -> SceneReading {
        _ = try presentations.motion(apply.options)
        var context = graph.sceneContext(
            at: try place(of: apply), mode(of: apply), isKept: false, as: try layer(of: apply))
        context.author = try authors.author(client, by: clients.access)
        if case .string(let text) = apply.document { return SceneReading(text: text, context: context) }
        return SceneReading(value: apply.document, context: context)
    }

    private func place(of apply: Request.Apply) throws(Failure) -> NodeID {
        try graph.node(at: try AttributePath(node: apply.at).nodes)
    }

    /// The layer that a document is; nil if it changes the edits.
    private func layer(of apply: Request.Apply) throws(Failure) -> LayerName? {
        guard let layer = apply.layer else { return nil }
        guard !layer.isEmpty, layer.utf8.count <= limits.nameLength else {
            throw Failure(
                .invalid, "apply: the name of a layer has 1 to \(limits.nameLength) bytes", hint: "take another name")
        }
        return LayerName(layer, at: try canonical(apply.at))
    }

    private func canonical(_ path: String) throws(Failure) -> String {
        AttributePath.describe(nodes: try AttributePath(node: path).nodes)
    }

    /// - Throws: `conflict` if the layer, or without one the edits of the document's nodes, have changed since the
    ///   revision that the request names.
    private func refuseChanged(_ apply: Request.Apply, _ scene: SceneDefinition) throws(Failure) {
        guard let condition = apply.condition else { return }
        let layer = try layer(of: apply)
        let last =
            if let layer { graph.layer(layer)?.revision ?? 0 } else {
                graph.lastEdit(of: scene, at: try place(of: apply), isReplacing: apply.mode == .replace)
            }
        guard condition.epoch.hasSameBytes(as: epoch), last <= condition.revision else {
            let name = layer.map { "the layer \($0.name) at \($0.at) has" } ?? "what clients say of these nodes has"
            throw Failure(
                .conflict, "\(name) changed since revision \(condition.revision)", path: apply.at,
                hint: "look at what is there now, and apply the document again")
        }
    }

    private func withdraw(
        _ name: String, at path: String, _ options: TransactionOptions, _ client: Client
    ) throws(Failure) -> Answer {
        let plan = try graph.planWithdrawal(of: LayerName(name, at: try canonical(path)))
        return try withdraw(plan, options, client)
    }

    private func mode(of apply: Request.Apply) -> ApplyMode {
        switch apply.mode {
        case .create: .create
        case .merge: .merge
        case .replace: .replace
        }
    }

    /// Links the built nodes into the tree. Compares again with the nodes that data has changed meanwhile.
    private func link(
        _ construction: Construction, _ scene: SceneDefinition, _ apply: Request.Apply, _ client: Client
    ) throws(Failure) -> Answer {
        let plan = try construction.renewedPlan(scene, at: try place(of: apply), mode(of: apply))
        guard construction.fits(plan) else {
            throw Failure(
                .conflict, "the node at which the document is applied changed while the daemon read the document",
                path: apply.at, hint: "apply it again")
        }
        try refuseChanged(apply, scene)
        return try perform(apply, plan, construction, client)
    }
}

extension Request {
    var changesStructure: Bool {
        switch self {
        case .apply, .remove, .withdraw, .move, .restore: true
        default: false
        }
    }
}
