import AttributeValues
import SceneModel
import ViewGraph
import WireProtocol

// Changes of structure are jobs. A long one takes several turns, between which other clients are served. Jobs are done
// one after the other, so that only data changes the tree while a document is read, checked and built. The client's
// later requests wait for the reply, as always.

/// A change of structure that a client has asked for.
final class StructureJob {
    let client: ClientID
    let request: Request
    var stage = Stage.waiting
    /// Number of slices that it has taken.
    var slices = 0
    /// The access rules have changed since the job began. It starts again, so that the new rules apply to all of it.
    var hasOldAccess = false

    enum Stage {
        case waiting
        /// A document is being read and checked.
        case reading(SceneReading, Request.Apply)
        case checked(SceneDefinition, Request.Apply)
        /// It is being compared with the existing nodes.
        case planning(Planning, SceneDefinition, Request.Apply)
        /// Its new nodes are being made.
        case building(Construction, SceneDefinition, Request.Apply)
        case built(Construction, SceneDefinition, Request.Apply)
    }

    init(_ client: ClientID, _ request: Request) {
        self.client = client
        self.request = request
    }
}

extension GraphRuntime {
    /// The result of a change of structure.
    /// - Returns: nil while it is under way or waits for others. The request has to be performed again in the next
    ///   turn.
    func resultOfJob(_ request: Request, for client: ClientID) -> Answer? {
        if let result = finishedJobs.removeValue(forKey: client) { return result }
        guard !jobs.contains(where: { $0.client == client }) else { return nil }
        statistics.requests += 1
        do throws(Failure) { try checkAccess(of: client, to: request) } catch {
            return .fault(RequestFault(failure: error))
        }
        jobs.append(StructureJob(client, request))
        doJobs()
        return finishedJobs.removeValue(forKey: client)
    }

    /// Works on jobs while this turn has steps left. Unlinked trees are freed first, so that they no longer count
    /// against the limits of a job.
    func doJobs() {
        graph.freeUnlinked(&jobSteps)
        while jobSteps > 0, !graph.hasUnlinked, let job = jobs.first {
            graph.stepsLeft = limits.requestCost
            graph.growthLeft = limits.instanceCost
            job.slices += 1
            let result: Answer
            do throws(Failure) {
                guard let done = try seeing(as: job.client, { () throws(Failure) in try goOn(with: job) }) else {
                    return
                }
                result = done
            } catch { result = .fault(RequestFault(failure: error)) }
            jobs.removeFirst()
            if job.slices > 1 { hasFreed = true }
            // Each job takes some steps, even if it did little.
            jobSteps -= GraphRuntime.stepsPerJob
            finishedJobs[job.client] = result
        }
    }

    private static let stepsPerJob = 100

    /// - Returns: nil if no steps are left.
    private func goOn(with job: StructureJob) throws(Failure) -> Answer? {
        if job.hasOldAccess { startAgain(job) }
        // A job that starts again waits until the nodes that it had built are freed.
        if graph.hasUnlinked { return nil }
        while true {
            switch job.stage {
            case .waiting:
                try checkAccess(of: job.client, to: job.request)
                switch job.request {
                case .apply(let apply): job.stage = .reading(try reading(of: apply), apply)
                case .remove(let path, let options): return try remove(path, options, job.client)
                case .move(let path, let to, let index, let options):
                    return try move(path, to: to, at: index, options, job.client)
                default: preconditionFailure("a job that changes no structure")
                }
            case .reading(let reading, let apply):
                guard reading.advance(&jobSteps) else { return nil }
                let scene: SceneDefinition
                do throws(SceneFaults) { scene = try reading.scene() } catch { throw error.failure }
                job.stage = .checked(scene, apply)
                // Freeing the definitions that were read takes a while, too.
                if job.slices > 1 { return nil }
            case .checked(let scene, let apply):
                try checkAccess(of: job.client, to: scene, at: place(of: apply))
                let planning = try graph.planning(
                    of: scene, at: place(of: apply), mode(of: apply), isTold: apply.dryRun)
                job.stage = .planning(planning, scene, apply)
            case .planning(let planning, let scene, let apply):
                let at = try place(of: apply)
                guard planning.isCurrent else {
                    // Data has changed the tree meanwhile, and may do so again.
                    let planned = try graph.planned(scene, at: at, mode(of: apply), isTold: apply.dryRun)
                    job.stage = .planning(planned, scene, apply)
                    continue
                }
                guard try planning.advance(&jobSteps) else { return nil }
                if apply.dryRun || planning.plan.isDone(in: graph) {
                    return try self.apply(scene, apply, at: at, planning.plan, nil, job.client)
                }
                job.stage = .building(Construction(planning, graph.persistence), scene, apply)
            case .building(let construction, let scene, let apply):
                // If the parent is gone, `link` reports that.
                if construction.hasParents, !graph.advance(construction, &jobSteps) { return nil }
                job.stage = .built(construction, scene, apply)
                if job.slices > 1 { return nil }
            case .built(let construction, let scene, let apply):
                do throws(Failure) { return try link(construction, scene, apply, job) } catch {
                    graph.abandon(construction)
                    throw error
                }
            }
        }
    }

    private func startAgain(_ job: StructureJob) {
        job.hasOldAccess = false
        switch job.stage {
        case .reading, .checked, .planning: job.stage = .waiting
        case .building(let construction, _, _), .built(let construction, _, _):
            graph.abandon(construction)
            job.stage = .waiting
        case .waiting: break
        }
    }

    private func reading(of apply: Request.Apply) throws(Failure) -> SceneReading {
        _ = try motion(apply.options)
        let context = graph.sceneContext(at: try place(of: apply), mode(of: apply), isKept: false)
        if case .string(let text) = apply.document { return SceneReading(text: text, context: context) }
        return SceneReading(value: apply.document, context: context)
    }

    private func place(of apply: Request.Apply) throws(Failure) -> NodeID {
        try graph.node(at: try AttributePath(node: apply.at).nodes)
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
        _ construction: Construction, _ scene: SceneDefinition, _ apply: Request.Apply, _ job: StructureJob
    ) throws(Failure) -> Answer {
        let at = try place(of: apply)
        let plan = try construction.renewedPlan(scene, at: at, mode(of: apply))
        guard construction.fits(plan) else {
            throw Failure(
                .conflict, "the node at which the document is applied changed while the daemon read the document",
                path: apply.at, hint: "apply it again")
        }
        return try self.apply(scene, apply, at: at, plan, construction, job.client)
    }
}

extension Request {
    var changesStructure: Bool {
        switch self {
        case .apply, .remove, .move: true
        default: false
        }
    }
}
