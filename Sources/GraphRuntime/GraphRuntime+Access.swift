import AttributeValues
import SceneModel
import ViewGraph
import WireProtocol

// Access rules. Every request is checked against them before its method looks at the graph. Only the declarations and
// reads of a document are checked later, when it has been read. Answers are filtered through `RequestContext.mayRead`.

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
            for path in scene.rootPathsRead { try grants.require(.read, PathPattern(path.text)) }
            guard grants.isPartial, let node = scene.readerOfEnvironment else { return }
            throw Failure(
                .denied,
                "\(grants.title) lacks the right 'read' on /**, which a node that reads the environment needs: \(node)",
                hint: "leave out env, inherit, transformEnvironment, objects and parts of keys")
        }
    }

    /// The author of a binding or an action needs the right to write where it leads now. `guardWrite` checks the same
    /// again at each use.
    private func checkAccess(_ grants: Grants, toTargetsIn scene: SceneDefinition, at place: NodeID) throws(Failure) {
        for (name, action) in scene.actions {
            do throws(Failure) {
                for step in action.steps {
                    guard case .pattern(let pattern) = step.target else { continue }
                    try grants.require(step.operation == .call ? .do : .write, pattern)
                }
            } catch { throw error.within("the action \(name)") }
        }
        for (name, position) in scene.written.sorted(by: { $0.value.precedesByBytes($1.value) }) {
            do throws(Failure) { try require(grants, toWriteThrough: name, inDocumentAt: place) } catch {
                throw error.within(position)
            }
        }
    }

    private func require(
        _ grants: Grants, toWriteThrough name: Name, inDocumentAt node: NodeID
    ) throws(Failure) {
        let path = try name.pathFromRoot.map { (path) throws(Failure) in try PathPattern(path.text) }
        // The refusal must not depend on whether there is a hidden attribute.
        if let path, !grants.allow(.read, path) { try grants.require(.write, path) }
        guard let place = graph.place(ofName: name, inDocumentAt: node) else {
            if let path { try grants.require(.write, path) }
            return
        }
        for end in graph.ends(ofWritesAt: place) where !grants.allow(.write, PathPattern(attributesAt: end)) {
            guard grants.showsAttributes(at: end) else {
                let name = name.pathFromRoot == nil ? "$\(name)" : name.text
                throw Failure(.denied, "\(grants.title) lacks the right 'write' where \(name) leads")
            }
            try grants.require(.write, PathPattern(attributesAt: end))
        }
    }

    /// Asks the graph to call `guardWrite` from now on.
    func renewGuard() {
        graph.writeGuard = WriteGuard(
            isForAll: !delegations.isEmpty,
            concerns: { [unowned self] in writer.map { !delegations.areAll(of: $0) } ?? true },
            isLimited: { [unowned self] author in authors.grants(of: author, by: clients.access) != nil },
            check: { [unowned self] (state, way) throws(Failure) in try guardWrite(to: state, way) },
            checkCall: { [unowned self] (action, author) throws(Failure) in try guardCall(of: action, by: author) })
    }

    /// Called where an action calls another one: its author needs the right to do so.
    private func guardCall(of action: AttributePath, by author: PartAuthor) throws(Failure) {
        try authors.grants(of: author, by: clients.access)?.require(.do, PathPattern(attributesAt: action))
    }

    /// Called where a write reaches a state, unless the writer names the state itself. The rights of this moment count:
    /// those of the authors of each part that leads there. The writer needs none there; `checkAccess` has checked his
    /// right on the path that he names.
    private func guardWrite(to state: AttributePath, _ way: [WriteStep]) throws(Failure) {
        try requireAuthors(of: way, toWrite: state)
        if !delegations.isEmpty { try refuseDelegated(state) }
    }

    func requireAuthors(of way: [WriteStep], toWrite state: AttributePath) throws(Failure) {
        let pattern = PathPattern(attributesAt: state)
        for step in way {
            guard let grants = authors.grants(of: step.author, by: clients.access), !grants.allow(.write, pattern)
            else { continue }
            let error = denial(of: step, grants, state, pattern)
            statistics.denials += 1
            if let writer { outcome.denials.append((writer, error)) }
            throw error
        }
    }

    private func denial(
        of step: WriteStep, _ grants: Grants, _ state: AttributePath, _ pattern: PathPattern
    ) -> Failure {
        guard graph.request.mayRead?(state) != false, graph.isVisible(step.attribute) else {
            return Failure(
                .denied, "the path leads through a part whose author may not write there",
                hint: "whoever has defined that part needs the right 'write' at its end")
        }
        let part = graph.path(of: step.attribute)
        guard authors.isKnown(step.author) else {
            return Failure(
                .denied, "\(part) leads to \(state), and the store does not know its author", path: "\(state)",
                hint: "apply it again as somebody who may write \(state)")
        }
        return Failure(
            .denied, "\(grants.title), the author of \(part), lacks the right 'write' on \(state)", path: "\(state)",
            hint: "a line of the daemon's configuration gives it: access = "
                + "\(AccessRule(.write, [grants.subject], pattern))")
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
        authors.rulesChanged()
        for job in jobs { job.hasOldAccess = true }
        for client in clients.adopt(rules) { watching.endForbidden(of: client) }
    }
}
