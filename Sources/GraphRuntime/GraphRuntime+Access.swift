import AttributeValues
import SceneModel
import ViewGraph
import WireProtocol

// Access rules. Every request is checked against them before its method looks at the graph. Only the declarations and
// reads of a document are checked later, when it has been read. Answers are filtered through `ViewGraph.mayRead`.

extension GraphRuntime {
    /// Cost: O(patterns × rules), counted as steps of the request.
    /// - Throws: `denied`, or `limit` when no steps are left; nothing has changed.
    func checkAccess(of client: Client, to request: Request) throws(Failure) {
        try checkAccess(of: client) { (grants) throws(Failure) in
            if let right = request.leastRight { try grants.requireAny(right) }
            try request.forEachNeed { (right, pattern) throws(Failure) in
                var steps = pattern.segments.count
                defer { graph.stepsLeft -= steps }
                try grants.require(right, pattern, steps: &steps)
                guard graph.stepsLeft > steps else {
                    throw Failure(
                        .limit, "too many paths to check for one request",
                        hint: "name fewer at once; the setting request-cost is the limit")
                }
            }
        }
    }

    /// Checks a document. Its declarations apply to the whole graph, wherever its nodes are put. A read of the
    /// environment may get a value from anywhere above. Names lead to readable attributes, because the document is
    /// refused otherwise.
    func checkAccess(of client: Client, to scene: SceneDefinition, at place: NodeID) throws(Failure) {
        try checkAccess(of: client) { (grants) throws(Failure) in
            if !scene.declarations.isEmpty { try grants.require(.define, .everything) }
            try checkAccess(grants, toTargetsIn: scene, at: place)
            let names = scene.rootNames
            for path in names.read { try grants.require(.read, PathPattern(path)) }
            for path in names.written { try grants.require(.write, PathPattern(path)) }
            guard grants.isPartial, let node = scene.readerOfEnvironment else { return }
            throw Failure(
                .denied,
                "\(grants.holder) lacks the right 'read' on /**, which a node that reads the environment needs: \(node)",
                hint: "leave out env, inherit, transformEnvironment, objects and parts of keys")
        }
    }

    /// An action writes with the rights of its author, so it may only write what its author may write.
    private func checkAccess(_ grants: Grants, toTargetsIn scene: SceneDefinition, at place: NodeID) throws(Failure) {
        for (name, action) in scene.actions {
            do throws(Failure) {
                for step in action.steps {
                    guard case .pattern(let pattern) = step.target else { continue }
                    try grants.require(.write, pattern)
                }
                for target in action.outsideTargets {
                    guard let path = graph.path(ofName: target, around: place) else { continue }
                    try grants.require(.write, PathPattern(attributesAt: try AttributePath(path)))
                }
            } catch { throw error.within("the action \(name)") }
        }
    }

    private func checkAccess(of client: Client, _ check: (Grants) throws(Failure) -> Void) throws(Failure) {
        guard let grants = client.grants else { return }
        do throws(Failure) { try check(grants) } catch {
            if error.code == .denied {
                statistics.denials += 1
                outcome.denials.append((client.id, error))
            }
            throw error
        }
    }

    /// Makes the client act for a principal from now on. Subscriptions that the principal is not allowed end, with the
    /// reason. The client has no job under way, because a request waits until the job before it has been answered.
    func act(for principal: String, _ client: Client) throws(Failure) {
        try PrincipalName.check(principal)
        try client.act(for: principal, by: clients.access)
        watching.endForbidden(of: client)
    }

    /// Applies new rules to all clients. Subscriptions that are no longer allowed end, with the reason.
    func changeAccess(to rules: AccessRules) {
        for job in jobs { job.hasOldAccess = true }
        for client in clients.adopt(rules) { watching.endForbidden(of: client) }
    }
}
