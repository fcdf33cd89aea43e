import AttributeGraph
import AttributeValues
import SceneModel
import ViewGraph
import WireProtocol

extension GraphRuntime {
    /// All mutations or none; one revision. Readers of what changed hear of it before the reply.
    func transact(_ mutations: [Mutation], _ options: TransactionOptions, _ client: ClientID) throws(Failure) -> Result {
        guard mutations.count <= limits.mutationsPerTransaction else {
            throw Failure(.limit, "at most \(limits.mutationsPerTransaction) mutations in a transaction")
        }
        let motion = try motion(options)
        let stamp = graph.stamp
        graph.begin()
        do throws(Failure) {
            for (position, mutation) in mutations.enumerated() {
                do throws(Failure) {
                    try graph.charge(GraphRuntime.stepsPerMutation)
                    try perform(mutation, options.typed)
                } catch {
                    guard mutations.count > 1 else { throw error }
                    throw Failure(
                        error.code, "mutations[\(position)]: \(error.message)", path: error.path, rule: error.rule,
                        line: error.line, column: error.column, hint: error.hint)
                }
            }
        } catch {
            graph.rollBack()
            statistics.refusals += 1
            throw error
        }
        let commit = graph.commit()
        if !commit.states.isEmpty {
            let label = cut(options.label)
            advanceRevision(client, label, since: stamp, writes: commit.states)
            keep(states: commit.states)
            publish(since: stamp, motion.with(commit.bindingAnimations.compactMapValues(knownAnimation)), label)
        }
        return .revision(revision)
    }

    /// A client's label as the history and events carry it.
    func cut(_ label: String?) -> String? {
        // No text has more characters than bytes.
        guard let label, label.utf8.count > limits.labelLength else { return label }
        return String(label.prefix(limits.labelLength))
    }

    /// A transaction has happened: it gets its revision and its place in the history.
    func advanceRevision(_ client: ClientID?, _ label: String?, since stamp: UInt64, writes: [AttributeID]) {
        revision += 1
        statistics.transactions += 1
        let origin = client.flatMap { clients[$0] }
        history.append(
            History.Entry(
                revision: revision, stampBefore: stamp, stampAfter: graph.stamp, wall: now.wall, peer: origin?.peer,
                client: origin?.name, label: label,
                writes: writes.prefix(limits.historyWrites).map { graph.path(of: $0) }))
    }

    /// Steps for a mutation, what it writes and copies not counted.
    private static let stepsPerMutation = 5

    private func perform(_ mutation: Mutation, _ typed: Bool) throws(Failure) {
        let path = try AttributePath(mutation.path)
        let place = try graph.locate(path)
        func value() throws(Failure) -> Value {
            guard let value = mutation.value else {
                throw Failure(.invalid, "\(mutation.operation.rawValue) needs a value", path: mutation.path)
            }
            return typed ? try Value(typedJSON: value) : value
        }
        func wrongType(_ wanted: String, _ found: Value?) -> Failure {
            Failure(
                .typeMismatch, "\(mutation.operation.rawValue) needs \(wanted) at \(mutation.path), not \(found?.shortTypeName ?? "nothing")",
                path: mutation.path)
        }
        switch mutation.operation {
        case .set:
            let new = try value()
            try graph.write(place, through: path) { _ throws(Failure) in new }
        case .toggle:
            try graph.write(place, through: path) { old throws(Failure) in
                guard case .bool(let flag)? = old else { throw wrongType("a bool", old) }
                return .bool(!flag)
            }
        case .add:
            let summand = try value()
            try graph.write(place, through: path) { old throws(Failure) in
                guard let old else { throw wrongType("a number", nil) }
                return try Arithmetic.sum(old, summand, path: mutation.path)
            }
        case .append:
            let element = try value()
            try graph.write(place, through: path) { old throws(Failure) in
                switch (old, element) {
                case (.list(let list)?, _): return .list(list + [element])
                case (.string(let text)?, .string(let more)): return .string(text + more)
                default: throw wrongType("a list (or a string and a string)", old)
                }
            }
        case .insert:
            let element = try value()
            try graph.write(place, through: path) { old throws(Failure) in
                guard case .list(var list)? = old else { throw wrongType("a list", old) }
                let index = mutation.index ?? list.count
                guard index >= 0, index <= list.count else {
                    throw Failure(.notFound, "index out of bounds: \(index)", path: mutation.path, hint: "0 to \(list.count)")
                }
                list.insert(element, at: index)
                return .list(list)
            }
        case .remove:
            guard !path.steps.isEmpty else {
                throw Failure(
                    .invalid, "remove takes an element or entry out of a value; \(mutation.path) is a whole attribute",
                    path: mutation.path, hint: "to remove a node, use the method remove")
            }
            try graph.write(place, through: path) { old throws(Failure) in
                guard old != nil else { throw Failure(.notFound, "nothing at \(mutation.path)", path: mutation.path) }
                return nil
            }
        case .merge:
            let patch = try value()
            try graph.write(place, through: path) { old throws(Failure) in (old ?? .null).merging(patch) }
        case .test:
            let expected = try value()
            switch graph.contentInTransaction(at: place) {
            case .failure(let failure):
                throw Failure(.conflict, "test: \(mutation.path) has no value: \(graph.shown(failure, of: place.attribute).message)", path: mutation.path)
            case .value(let found):
                guard graph.isEqual(found, expected, at: place) else {
                    throw Failure(.conflict, "test: \(mutation.path) is \(found), not \(expected)", path: mutation.path)
                }
            }
        }
    }

    /// Mutations that are committed when the client goes away. What can be checked is checked now, so that a mistake is not found
    /// out too late.
    func onDisconnect(_ mutations: [Mutation], _ options: TransactionOptions, _ client: ClientID) throws(Failure) -> Result {
        let held = clients[client]?.onDisconnect.count ?? 0
        guard held + mutations.count <= limits.onDisconnectPerClient else {
            throw Failure(
                .limit, "at most \(limits.onDisconnectPerClient) mutations on disconnect", hint: "on-disconnect-per-client is the limit")
        }
        var room = clients[client]?.onDisconnectRoom ?? 0
        options.draw(from: &room)
        for mutation in mutations where room >= 0 { mutation.draw(from: &room) }
        guard room >= 0 else {
            throw Failure(
                .limit, "at most \(limits.onDisconnectSize) bytes of mutations on disconnect", hint: "on-disconnect-size is the limit")
        }
        _ = try motion(options)
        for mutation in mutations { try refuseHopeless(mutation, options.typed) }
        clients[client]?.onDisconnect.append(mutations, options)
        clients[client]?.onDisconnectRoom = room
        return .revision(revision)
    }

    /// Tries a mutation without keeping it, and refuses one that could not be committed at any time: what depends on the value
    /// that stands there then is left to then.
    private func refuseHopeless(_ mutation: Mutation, _ typed: Bool) throws(Failure) {
        let path = try AttributePath(mutation.path)
        let place = try graph.locate(path)
        graph.begin()
        defer { graph.rollBack() }
        do throws(Failure) { try perform(mutation, typed) } catch {
            switch error.code {
            case .typeMismatch where mutation.operation != .set && !graph.isOfOneType(place): break
            case .typeMismatch, .readOnly, .dangling, .removed, .invalid: throw error
            default: break
            }
        }
    }
}
