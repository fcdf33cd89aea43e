import AttributeValues

extension Request {
    /// Names every right that the client needs for the request. It uses only the request, not the graph: a refusal does
    /// not tell a client without the right what exists.
    ///
    /// - Parameter need: throws to refuse the request. After that it is not called again.
    /// - Throws: the error of `need`, and `invalid` for a path that is not well formed.
    public func forEachNeed(_ need: (AccessRight, PathPattern) throws(Failure) -> Void) throws(Failure) {
        switch self {
        case .hello(_, nil, _), .ping, .unsubscribe, .answer, .describe(nil, _), .seek, .play: break
        // What the client may not read is left out.
        case .log: break
        case .hello(_, _?, _): try need(.admin, .everything)
        case .get(let get):
            for path in get.paths { try need(.read, .named(path)) }
        case .set(let mutation, _):
            try need(.write, .attributes(mutation.path))
        case .do(let path, _, _):
            try need(.do, .attributes(path.text))
        case .transact(let mutations, _), .onDisconnect(let mutations, _):
            for mutation in mutations { try need(.write, .attributes(mutation.path)) }
        case .apply(let apply):
            try need(.define, .subtree(apply.at))
            // If the replacement removes a named attribute, the name may then mean an attribute further out.
            if apply.mode == .replace { try need(.read, .everything) }
        case .withdraw(_, let path, _), .remove(let path, _), .restore(let path, _), .delegate(let path):
            try need(.define, .subtree(path))
        case .move(let path, let to, _, _):
            try need(.define, .subtree(path))
            guard let to else {
                return try need(.define, PathPattern(subtreeAt: try AttributePath(path).nodes.dropLast()))
            }
            try need(.define, .subtree(to))
            // The names in a moved node have another meaning at the new position.
            try need(.read, .everything)
        case .subscribe(let subscribe):
            for pattern in subscribe.patterns { try need(.read, try PathPattern(pattern)) }
        case .describe(let path?, _), .board(let path, _):
            let subject = try AttributePath(path)
            try need(
                .read,
                subject.attribute == nil ? PathPattern(subtreeAt: subject.nodes) : PathPattern(attributesAt: subject))
        case .explain(let path, _), .history(let path): try need(.read, .attributes(path))
        case .series(let series):
            switch series.subject {
            case .attributes(let patterns):
                for pattern in patterns { try need(.read, try PathPattern(pattern)) }
            case .rule(_, let at): try need(.read, .subtree(at))
            }
        case .dump(let path, _, _), .layers(let path): try need(.read, .subtree(path))
        case .stats: try need(.read, .everything)
        case .trace, .prune: try need(.admin, .everything)
        case .eval(_, _, let at, _):
            // A rule can name attributes of the node itself and values gathered from below. It cannot read the
            // environment unless the client may read everything.
            try need(.read, .subtree(at ?? "/"))
        }
    }
}

extension Request {
    /// The lowest right that the request needs on any path; nil if every client may send it. Costs nothing.
    public var leastRight: AccessRight? {
        switch self {
        case .hello(_, nil, _), .ping, .unsubscribe, .answer, .describe(nil, _): nil
        case .log, .series, .seek, .play: .read
        case .get, .subscribe, .describe, .board, .explain, .history, .dump, .layers, .stats, .eval: .read
        case .do: .do
        case .set, .transact, .onDisconnect: .write
        case .apply, .remove, .withdraw, .move, .restore, .delegate: .define
        case .hello(_, _?, _), .trace, .prune: .admin
        }
    }
}

extension PathPattern {
    /// A path, if the text is one, else a pattern.
    fileprivate static func named(_ text: String) throws(Failure) -> PathPattern {
        do { return try attributes(text) } catch {
            guard text.utf8.contains(UInt8(ascii: "*")) else { throw error }
            return try PathPattern(text)
        }
    }

    fileprivate static func attributes(_ path: String) throws(Failure) -> PathPattern {
        PathPattern(attributesAt: try AttributePath(path))
    }

    fileprivate static func subtree(_ path: String) throws(Failure) -> PathPattern {
        PathPattern(subtreeAt: try AttributePath(path).nodes)
    }
}
