import AttributeGraph
import AttributeValues
import RuleLanguage
import ViewGraph
import WireProtocol

/// Requests that change nothing.
final class Reader {
    private let graph: ViewGraph
    private let limits: RuntimeLimits
    private let history: History
    private let watching: Watching
    /// The answer of `describe` about the protocol. Made once, because any client may ask for it at any time.
    private lazy var protocolSchema = ProtocolSchema.describeProtocol()

    init(_ graph: ViewGraph, _ limits: RuntimeLimits, _ history: History, _ watching: Watching) {
        self.graph = graph
        self.limits = limits
        self.history = history
        self.watching = watching
    }

    /// Reads one path: its content, or a fault if it names nothing. Reads several paths, or patterns: the content or
    /// the fault of each path, once.
    func get(_ request: Request.Get, _ client: Client) throws(Failure) -> Answer {
        if request.isSingle, let path = request.targets.first {
            let place = try graph.locate(path).place
            return .content(
                hinted(content(at: place, request.presentation, client), at: place), revision: history.revision,
                typed: request.typed)
        }
        var contents: [(path: String, content: Content)] = []
        contents.reserveCapacity(request.paths.count)
        var known: Set<Name> = []
        var missing = 0
        for text in request.paths {
            try graph.charge(Reader.stepsPerPath)
            let named: [(path: String, place: Place)]
            do throws(Failure) { named = try places(text, looksForNames: missing < Reader.missingWithHint) } catch {
                if error.code == .limit, graph.stepsLeft <= 0 { throw error }
                missing += 1
                if known.insert(text).inserted { contents.append((text, .failure(error))) }
                continue
            }
            guard contents.count + named.count <= limits.watchedAttributes else {
                throw Failure(
                    .limit, "at most \(limits.watchedAttributes) attributes are read at once", hint: "name fewer")
            }
            // A single pattern does not name an attribute twice.
            for (path, place) in named where request.targets.count == 1 || known.insert(path).inserted {
                contents.append((path, content(at: place, request.presentation, client)))
            }
        }
        return .contents(contents, revision: history.revision, typed: request.typed)
    }

    /// Steps for each path of a request.
    private static let stepsPerPath = 100

    /// Missing paths of one request for which a similar name is suggested.
    private static let missingWithHint = 10

    /// The places that a path names, or that a pattern matches now.
    private func places(_ text: String, looksForNames: Bool) throws(Failure) -> [(path: String, place: Place)] {
        // Quoted ids may contain stars, too.
        guard text.utf8.contains(UInt8(ascii: "*")), (try? AttributePath(text)) == nil else {
            return [(text, try graph.locate(try AttributePath(text), looksForNames: looksForNames))]
        }
        let pattern = try PathPattern(text)
        let steps = pattern.steps.map(\.description).joined()
        var places: [(path: String, place: Place)] = []
        try PatternSearch(pattern, in: graph).forEachAttribute { attribute, path in
            places.append((steps.isEmpty ? path : path + steps, Place(attribute, pattern.steps)))
        }
        return places
    }

    private func content(at place: Place, _ presentation: Bool, _ client: Client) -> Content {
        watching.markRead(place, by: client)
        let vertex = graph.existingVertex(for: place)
        if presentation, let vertex, watching.presentations.running[vertex] != nil {
            return watching.presentations.presented(vertex, graph.content(of: vertex))
        }
        return graph.shown(graph.content(at: place), of: place.attribute)
    }

    /// A failure for a key that a map does not have, with the nearest key or some of those that it has.
    private func hinted(_ content: Content, at place: Place) -> Content {
        guard case .failure(let failure) = content, failure.code == .notFound, failure.hint == nil,
            var value = graph.content(at: Place(place.attribute)).value
        else { return content }
        for step in place.steps {
            if let next = value.child(step) {
                value = next
            } else if case .key(let name) = step, let keys = value.map?.keys {
                let hint = NearestName.hint(name, orSomeOf: keys.lazy.compactMap(\.string))
                return .failure(Failure(failure.code, failure.message, path: failure.path, hint: hint))
            } else {
                return content
            }
        }
        return content
    }

    /// Evaluates an expression, with or without the names of a node.
    func eval(_ expression: String, _ given: ValueMap, at: String?, typed: Bool) throws(Failure) -> Answer {
        var bindings = given
        if typed { for (name, value) in given { bindings[name] = try Value(typedJSON: value) } }
        let rule = RuleText(expression, bindings, in: graph)
        let content =
            if let at { try rule.evaluate(at: try graph.node(at: try AttributePath(at).nodes)) } else {
                try rule.evaluate()
            }
        return .content(content, revision: history.revision, typed: typed)
    }

    /// Describes a node with its attributes and descendants (`/`: the whole tree); without a path, the protocol.
    func describe(_ text: String?, _ depth: Int?) throws(Failure) -> Answer {
        guard let text else { return .value(protocolSchema) }
        let path = try AttributePath(text)
        guard path.attribute != nil else {
            let node = try graph.node(at: path.nodes)
            return .value(try graph.description.details(of: node, depth: depth ?? .max, limit: limits.describedNodes))
        }
        return .value(graph.description.details(of: try graph.locate(path)))
    }

    /// The named layers at a node and below it.
    func layers(_ text: String) throws(Failure) -> Answer {
        let path = try AttributePath(node: text)
        return .value([
            "epoch": .string(history.epoch), "revision": .int(Int64(clamping: history.revision)),
            "layers": .list(graph.description.layers(at: path.nodes)),
        ])
    }

    /// The cards of a node and all below it, or the card of an attribute.
    func board(_ text: String, _ panel: ValueMap, _ client: Client) throws(Failure) -> Answer {
        let path = try AttributePath(text)
        guard path.attribute == nil else { return .value(try graph.description.card(at: path, panel)) }
        var board = try graph.description.board(of: try graph.node(at: path.nodes)) { ids in
            client.grants?.allow(.define, PathPattern(subtreeAt: ids)) ?? true
        }
        board["revision"] = .int(Int64(clamping: history.revision))
        return .value(.map(board))
    }

    /// The recorded past of an attribute.
    func readPast(of text: String) throws(Failure) -> Answer {
        let recorded = try graph.description.recordedHistory(of: try graph.locate(try AttributePath(text)), named: text)
        return .value([
            "span": .double(recorded.span.seconds), "step": .double(recorded.step.seconds),
            "times": .list(recorded.stretches.map { .timestamp($0.beginning) }),
            "least": .list(recorded.stretches.map { .double($0.least) }),
            "greatest": .list(recorded.stretches.map { .double($0.greatest) }),
            "revision": .int(Int64(clamping: history.revision)),
        ])
    }

    func dump(_ text: String, _ format: Request.DumpFormat, _ layer: String?) throws(Failure) -> Answer {
        let path = try AttributePath(node: text)
        if let layer {
            let name = LayerName(layer, at: AttributePath.describe(nodes: path.nodes))
            return .value([
                "document": try graph.description.document(of: name),
                "revision": .int(Int64(clamping: history.revision)),
            ])
        }
        let node = try graph.node(at: path.nodes)
        switch format {
        case .json: return .value(try graph.description.dump(node, limit: limits.describedNodes))
        case .scene: return .value(["document": try graph.scene(at: node, limit: limits.describedNodes)])
        case .dot: return .value(["dot": .string(try graph.description.dot(node, limit: limits.describedNodes))])
        }
    }

    /// Explains why an attribute has its value, and why it changed last. With a revision: why it changed then, or why
    /// not.
    func explain(_ text: String, _ revision: UInt64?, _ client: Client) throws(Failure) -> Answer {
        let place = try graph.locate(try AttributePath(text))
        // A place in a value that nobody reads has no vertex, and asking for it makes none. A client that may not read
        // everything must not learn whether somebody reads the place or where it leads, so the named attribute is
        // explained.
        let isPartial = graph.request.mayRead != nil
        let existing = isPartial && !place.steps.isEmpty ? nil : graph.existingVertex(for: place)
        let vertex = existing ?? (isPartial ? place : graph.follow(place)).attribute
        var map = ValueMap([(.string("path"), .string(text))])
        switch graph.shown(existing.map(graph.content(of:)) ?? graph.content(at: place), of: place.attribute) {
        case .value(let value): map["value"] = value
        case .failure(let failure): map["error"] = failure.json
        }
        if isPartial { _ = graph.content(of: vertex) }
        graph.description.explain(vertex, into: &map)
        // A rule's last change depends on its last run, which another client may have caused.
        guard !isPartial || graph.isState(vertex) else { return .value(.map(map)) }
        let changedAt = history.lastChange(of: vertex)
        let chain = graph.provenance.causes(of: vertex)
        // An attribute that was evaluated late seems to have changed late. The cause is the chain's earliest change.
        let entry = chain.map(history.lastChange).min().flatMap(history.recorded(at:))
        map["changed"] =
            entry.map { describe($0, client, chain) } ?? [
                "revision": .null,
                "reason": "it has not changed since it was defined, or the history no longer has the change",
            ]
        map["chain"] = .list((existing == nil ? [.string(text)] : []) + chain.map { .string(graph.path(of: $0)) })
        if let revision { map["at"] = whyNot(vertex, isNamed: existing != nil, changedAt, revision, client) }
        return .value(.map(map))
    }

    /// - Parameter client: the client that asks. Only if it may read everything, it is told of other users' processes
    ///   and of their other writes.
    /// - Parameter chain: the attributes whose change is explained.
    private func describe(_ entry: Transaction, _ client: Client, _ chain: [AttributeID] = []) -> Value {
        var map = ValueMap()
        map["revision"] = .int(Int64(clamping: entry.revision))
        map["time"] = .timestamp(entry.wall)
        map["label"] = entry.label.map { .string($0) } ?? .null
        if let author = entry.author {
            let peer = author.peer
            let isKnown =
                graph.request.mayRead == nil || peer.uid == client.peer.uid && author.principal == client.principal
            var told = ValueMap([
                ("pid", .int(Int64(peer.pid))), ("uid", .int(Int64(peer.uid))),
                ("name", author.name.map { .string($0) } ?? .null),
            ])
            if let principal = author.principal { told["as"] = .string(principal) }
            map["client"] = isKnown ? .map(told) : .null
        } else {
            map["client"] = "agd"
        }
        if graph.request.mayRead == nil, let action = chain.lazy.compactMap({ entry.causes?[$0] }).first {
            map["action"] = .string(action)
        }
        let writes = entry.writes.filter { graph.isVisible($0) }
        map["writes"] = .list(writes.map { .string(graph.path(of: $0)) })
        return .map(map)
    }

    /// Explains what a transaction meant for an attribute: it changed, or an attribute upstream was evaluated and came
    /// out equal. `changed` is null if that is not known.
    /// - Parameter isNamed: the client named the vertex itself, and not a place in its value.
    private func whyNot(
        _ vertex: AttributeID, isNamed: Bool, _ changedAt: UInt64, _ revision: UInt64, _ client: Client
    ) -> Value {
        guard let entry = history.recorded(revision) else {
            let reason: Value =
                revision > history.revision
                ? .string("there has been no such revision yet; the present one is \(history.revision)")
                : "the history no longer has this revision"
            return ["revision": .int(Int64(clamping: revision)), "changed": .null, "reason": reason]
        }
        var map = ValueMap()
        // A client that may not read everything must not learn of transactions elsewhere.
        if graph.request.mayRead == nil || (entry.stampBefore < changedAt && changedAt <= entry.stampAfter) {
            map["transaction"] = describe(entry, client)
        }
        if changedAt > entry.stampAfter {
            // The history has only writes from before the attribute's last change.
            let isWritten = isNamed && entry.writes.contains(vertex)
            map["changed"] = isWritten ? .bool(true) : Value.null
            if !isWritten {
                map["reason"] = "it has changed again since then, so the history no longer tells about this revision"
            }
        } else if changedAt > entry.stampBefore {
            map["changed"] = true
        } else {
            map["changed"] = false
            if case let seeming = graph.lastChange(of: vertex), seeming > entry.stampBefore, seeming <= entry.stampAfter
            {
                map["reason"] = "it changed and had its old value again at the end of the transaction"
            } else if let stop = graph.provenance.cutOff(above: vertex, since: entry.stampBefore) {
                map["reason"] = .string(
                    "\(graph.path(of: stop)) was evaluated again with an equal result, "
                        + "so the rules that depend on it did not run")
                map["cutOff"] = .string(graph.path(of: stop))
            } else {
                map["reason"] = "none of its inputs changed"
            }
        }
        return .map(map)
    }
}

extension AttributePath {
    /// - Throws: `invalid` if the path names an attribute.
    public init(node text: String) throws(Failure) {
        try self.init(text)
        if attribute != nil { throw Failure(.invalid, "\(text) names an attribute, not a node", path: text) }
    }
}
