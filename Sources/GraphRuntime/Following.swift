import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

/// Follows values while records are performed: those of attributes, or of a rule at a node. It sees what a subscriber
/// would see, and costs less: it makes no events.
///
/// While a runtime is followed, its subscribers hear nothing.
public final class Following {
    private var runtime: GraphRuntime
    private var client: Client
    private let source: FollowedSource
    /// The attributes so far, and whether each is there. A rule is the only one.
    public private(set) var names: [String] = []
    private var numbers: [Name: Int] = [:]
    /// By number; nil: not there.
    private var vertices: [AttributeID?] = []
    /// The numbers of the attributes that a vertex shows.
    private var shown: [AttributeID: [Int]] = [:]
    private var rule: PlacedRule?
    private var invalidated: [AttributeID] = []
    private let most: Int
    /// Steps of the rules and searches so far.
    public private(set) var cost = 0

    private var graph: ViewGraph { runtime.graph }

    /// The time that the rule's operators look back, as far as it is known now.
    public var lookback: TimeSpan { rule?.lookback ?? TimeSpan(nanoseconds: 0) }

    /// - Parameter most: so many attributes are followed.
    /// - Throws: `limit`.
    public init(
        _ source: FollowedSource, in runtime: GraphRuntime, for client: ClientID, atMost most: Int, _ take: Take
    ) throws(Failure) {
        (self.source, self.runtime, self.client, self.most) = (source, runtime, try runtime.follower(client), most)
        try find(isNew: true, take)
    }

    /// Goes on in another graph. Passes on all values.
    public func move(to runtime: GraphRuntime, _ take: Take) throws(Failure) {
        (self.runtime, client) = (runtime, try runtime.follower(client.id))
        (rule, shown) = (nil, [:])
        vertices = names.map { _ in nil }
        try find(isNew: true, take)
    }

    /// Gets a number of `names` and what the value is now; nil: the attribute, or the node of the rule, is not there.
    public typealias Take = (Int, Content?) -> Void

    /// Passes on what may have changed since the last call.
    public func takeChanges(_ take: Take) throws(Failure) {
        guard graph.hasNews else { return }
        if graph.hasStructureChange {
            _ = graph.takeStructureChange()
            try find(isNew: false, take)
        }
        graph.takeInvalidated(into: &invalidated)
        for vertex in invalidated {
            for number in shown[vertex] ?? [] { take(number, content(of: vertex)) }
        }
    }

    public func number(of path: String) -> Int? { numbers[Name(path)] }

    /// Why an attribute, or the node of the rule, is not there now; nil: it is.
    public func whyMissing(_ number: Int) -> Failure? {
        working {
            do throws(Failure) {
                if case .rule(_, let at) = source {
                    _ = try graph.node(at: at.nodes)
                } else {
                    _ = try graph.locate(try AttributePath(names[number]))
                }
                return nil
            } catch { return error }
        }
    }

    /// While `body` runs, the graph works for the client, as long as it takes.
    private func working<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
        try graph.working(in: RequestContext(growth: runtime.limits.graph.attributes)) { () throws(E) in
            try graph.seeing(as: client, body)
        }
    }

    /// Counts what `body` costs.
    private func charging<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
        try graph.spending(.max, { cost = cost.addingReportingOverflow($1).partialValue }, body)
    }

    private func content(of vertex: AttributeID) -> Content {
        let content = charging { graph.contentForWatcher(of: vertex) }
        guard client.isPartial, content.failure != nil else { return content }
        return working { graph.shown(content, of: vertex) }
    }

    // MARK: Finding

    /// Finds the attributes that are there now, and the rule's node.
    /// - Parameter isNew: tells of all, also of those that are not there.
    private func find(isNew: Bool, _ take: Take) throws(Failure) {
        try working { () throws(Failure) in
            switch source {
            case .attributes(let patterns): try find(patterns, isNew: isNew, take)
            case .rule(let text, let at): findRule(text, at: at, take)
            }
        }
    }

    private func find(_ patterns: [PathPattern], isNew: Bool, _ take: Take) throws(Failure) {
        var found: [(path: String, vertex: AttributeID)] = []
        for pattern in patterns {
            if let exact = pattern.exact, exact.attribute != nil {
                if let place = try? graph.locate(exact, looksForNames: false) {
                    found.append((exact.description, graph.watchable(place)))
                } else {
                    // It is named in the answer although it was never there.
                    _ = try number(adding: exact.description)
                }
                continue
            }
            let steps = pattern.steps
            let text = steps.map(\.description).joined()
            try charging { () throws(Failure) in
                try PatternSearch(pattern, in: graph).forEachAttribute { attribute, path in
                    found.append((path + text, graph.watchable(Place(attribute, steps))))
                }
            }
        }
        var present = [AttributeID?](repeating: nil, count: names.count)
        for (path, vertex) in found {
            let number = try number(adding: path)
            while present.count <= number { present.append(nil) }
            present[number] = vertex
        }
        for (number, vertex) in present.enumerated() { show(vertex, as: number, isNew: isNew, take) }
    }

    private func number(adding path: String) throws(Failure) -> Int {
        if let known = numbers[Name(path)] { return known }
        guard names.count < most else {
            throw Failure(.limit, "more than \(most) attributes match", hint: "name fewer, or narrower patterns")
        }
        numbers[Name(path)] = names.count
        names.append(path)
        vertices.append(nil)
        return names.count - 1
    }

    /// - Parameter vertex: nil: the attribute is not there now.
    private func show(_ vertex: AttributeID?, as number: Int, isNew: Bool, _ take: Take) {
        let old = vertices[number]
        if old == vertex, !isNew { return }
        if let old {
            shown[old]?.removeAll { $0 == number }
            if shown[old]?.isEmpty == true {
                shown[old] = nil
                graph.endWatch(of: old)
            }
        }
        vertices[number] = vertex
        if let vertex {
            if shown[vertex] == nil { graph.beginWatch(of: vertex) }
            shown[vertex, default: []].append(number)
        }
        take(number, vertex.map { content(of: $0) })
    }

    private func findRule(_ text: String, at path: AttributePath, _ take: Take) {
        if names.isEmpty {
            names = [text]
            vertices = [nil]
        }
        let node = try? graph.node(at: path.nodes, looksForNames: false)
        if let rule, rule.node == node { return charging { graph.connectAgain(rule) } }
        if let rule {
            shown[rule.vertex] = nil
            graph.remove(rule)
        }
        (rule, vertices[0]) = (nil, nil)
        guard let node else { return take(0, nil) }
        do throws(Failure) {
            let made = try charging { () throws(Failure) in
                try graph.place(RuleText(text, ValueMap(), in: graph), at: node)
            }
            rule = made
            vertices[0] = made.vertex
            shown[made.vertex] = [0]
            take(0, content(of: made.vertex))
        } catch {
            take(0, .failure(error))
        }
    }
}

extension GraphRuntime {
    /// A client that follows; from now on, subscribers hear nothing.
    fileprivate func follower(_ client: ClientID) throws(Failure) -> Client {
        guard let client = clients[client] else { throw Failure(.unavailable, "the client has gone") }
        isFollowed = true
        return client
    }
}

/// Attributes or a rule that a series follows.
public enum FollowedSource {
    case attributes([PathPattern])
    /// A rule in CEL at a node.
    case rule(String, at: AttributePath)
}
