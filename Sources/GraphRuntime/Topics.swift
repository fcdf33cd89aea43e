import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

/// All topics, and the attributes that they watch.
final class Topics {
    private let graph: ViewGraph
    private let limits: RuntimeLimits
    private var byKey: [TopicKey: Topic] = [:]
    private var nextNumber: Int64 = 1
    /// Finds the topics whose patterns match a new attribute.
    private var index = PatternIndex()
    private(set) var watches = WatchTable()
    let ledger = WatchLedger()
    /// Topics with completion events.
    private(set) var completionCount = 0
    let reports: WatchedReports

    init(_ graph: ViewGraph, _ limits: RuntimeLimits) {
        self.graph = graph
        reports = WatchedReports(graph)
        self.limits = limits
    }

    var isEmpty: Bool { byKey.isEmpty }
    var count: Int { byKey.count }

    /// In the order of their first subscriptions, so that a replay gives the same result.
    var inOrder: [Topic] { byKey.values.sorted { $0.number < $1.number } }

    subscript(attribute: AttributeID) -> Watch? { watches[attribute] }

    /// The topic for a request; makes it if there is none.
    /// - Parameter standing: of the owner, whose share has to suffice.
    /// - Throws: `invalid` for a malformed pattern, `notFound` for a path without wildcard that names nothing, `limit`.
    func obtain(
        _ request: Request.Subscribe, for owner: AccessRule.Subject, _ standing: Standing
    ) throws(Failure) -> Topic {
        let key = TopicKey(
            patterns: request.patterns.names, events: request.events, typed: request.typed, css: request.css,
            writers: request.writers, reports: request.reports)
        if let existing = byKey[key] {
            if !existing.has(owner) { try refuseExcess(of: existing, for: owner, standing) }
            return existing
        }
        var patterns: [PathPattern] = []
        for text in request.patterns { patterns.append(try PathPattern(text)) }
        let made = Topic(key: key, number: nextNumber, patterns: patterns, ledger)
        nextNumber += 1
        guard ledger.count <= limits.watchedAttributes else { throw tooMany }
        for pattern in patterns { try join(pattern, to: made) }
        try refuseExcess(of: made, for: owner, standing)
        byKey[key] = made
        index.insert(made)
        if key.events.contains(.completion) { completionCount += 1 }
        if key.events.contains(.structure) { graph.animations.watchAll() }
        for attribute in made.order { watch(attribute, for: made) }
        return made
    }

    /// Adds the attributes that a pattern matches now.
    private func join(_ pattern: PathPattern, to topic: Topic) throws(Failure) {
        if let exact = pattern.exact {
            guard exact.attribute != nil else {
                _ = try graph.node(at: exact.nodes)
                guard topic.watchesAttributes else { return }
                try PatternSearch(pattern, in: graph).forEachAttribute { (attribute, path) throws(Failure) in
                    try add(attribute, path, to: topic)
                }
                return
            }
            let place = try graph.locate(exact)
            return try add(graph.watchable(place), exact.description, to: topic)
        }
        guard topic.watchesAttributes else { return }
        let steps = pattern.steps
        try PatternSearch(pattern, in: graph).forEachAttribute { (attribute, path) throws(Failure) in
            if !steps.isEmpty { graph.stepsLeft -= Topics.stepsPerPart }
            let vertex = graph.watchable(Place(attribute, steps))
            try add(vertex, path + steps.map(\.description).joined(), to: topic)
        }
    }

    private func add(_ vertex: AttributeID, _ path: String, to topic: Topic) throws(Failure) {
        _ = topic.add(vertex, path)
        guard ledger.count <= limits.watchedAttributes else { throw tooMany }
    }

    /// - Throws: `limit` if a topic would be more than the owner's share.
    private func refuseExcess(
        of topic: Topic, for owner: AccessRule.Subject, _ standing: Standing
    ) throws(Failure) {
        let own = ledger.used(by: owner)
        switch standing.verdict(own: own + topic.entered, used: ledger.count, of: limits.watchedAttributes) {
        case .fits: break
        case .full: throw tooMany
        case .beyondShare: throw beyondShare(own, owner)
        }
    }

    func beyondShare(_ count: Int, _ owner: AccessRule.Subject) -> Failure {
        Failure(
            .limit, "\(owner) watches \(count) of \(limits.watchedAttributes) attributes already",
            hint: "the others are for other users; watch less; the setting watched-attributes is the limit")
    }

    var tooMany: Failure {
        Failure(
            .limit, "at most \(limits.watchedAttributes) attributes are watched by all subscriptions together",
            hint: "watch less; the setting watched-attributes is the limit")
    }

    private func watch(_ attribute: AttributeID, for topic: Topic) {
        if let known = watches[attribute] {
            known.topics.append(topic)
        } else {
            graph.beginWatch(of: attribute)
            watches.insert(attribute).topics.append(topic)
        }
        if topic.key.reports, let watch = watches[attribute], watch.report == nil {
            watch.report = reports.begin(of: attribute)
        }
        if topic.wantsValues {
            graph.animations.watchModifiers(around: attribute)
        } else {
            graph.watchSources(of: attribute)
        }
    }

    /// Stops watching an attribute that no topic contains any more.
    func unwatch(_ attribute: AttributeID) {
        if let watch = watches[attribute] { reports.end(&watch.report) }
        watches.remove(attribute)
        graph.endWatch(of: attribute)
    }

    /// Evaluates a watched attribute, and remembers its content for comparison with the next one.
    func evaluated(_ attribute: AttributeID) -> Content {
        let content = graph.content(of: attribute)
        if let watch = watches[attribute] {
            watch.content = content
            watch.changedAt = graph.lastChange(of: attribute)
        }
        return content
    }

    /// Ends topics without subscriptions.
    /// - Returns: attributes that no topic contains any more. The caller must call `unwatch` for them.
    func end(_ topics: [Topic]) -> [AttributeID] {
        for topic in topics {
            topic.hasEnded = true
            byKey[topic.key] = nil
            index.remove(topic)
            if topic.key.events.contains(.completion) { completionCount -= 1 }
        }
        var unwatched: [AttributeID] = []
        // The first topic that contains an attribute removes all ended topics from it.
        for topic in topics {
            for attribute in topic.order {
                guard let watch = watches[attribute], !watch.topics.isEmpty else { continue }
                watch.topics.removeAll(where: \.hasEnded)
                if watch.report != nil, !watch.topics.contains(where: \.key.reports) { reports.end(&watch.report) }
                if watch.topics.isEmpty { unwatched.append(attribute) }
            }
        }
        return unwatched
    }

    /// Adds attributes that are new or have a new name to the topics whose patterns match them. A topic that would
    /// exceed the limit gets none.
    func join(_ attributes: [AttributeID], _ news: News) {
        var named: [(attribute: AttributeID, entries: [PatternIndex.Entry])] = []
        var joining: [ObjectIdentifier: Topic] = [:]
        var all = 0
        var listeners = byKey.values.count { $0.watchesAttributes && !$0.isOverfull }
        func end(_ topic: Topic) {
            news.overfill(topic)
            all -= topic.joining
            listeners -= 1
        }
        for attribute in attributes where listeners > 0 {
            let entries = naming(attribute)
            if entries.isEmpty { continue }
            graph.stepsLeft -= entries.count
            named.append((attribute, entries))
            for (position, entry) in entries.enumerated() {
                // Each of a topic's places inside the value may be one more, and the whole value is one.
                let isPart = !entry.topic.patterns[entry.position].steps.isEmpty
                guard isPart || position == 0 || entries[position - 1].topic !== entry.topic else { continue }
                if entry.topic.isOverfull { continue }
                if entry.topic.joining == 0 { joining[ObjectIdentifier(entry.topic)] = entry.topic }
                let weight = isPart ? Topics.weightOfPart : 1
                entry.topic.joining += weight
                all += weight
                if entry.topic.joining > limits.watchedAttributes {
                    end(entry.topic)
                } else if all > 2 * limits.watchedAttributes,
                    let most = joining.values.filter({ !$0.isOverfull }).max(by: { $0.joining < $1.joining })
                {
                    // Attributes that are known by another name are no more than the limit of watched ones.
                    end(most)
                }
            }
        }
        for (_, entries) in named { for entry in entries { entry.topic.joining = 0 } }
        for (attribute, entries) in named { join(attribute, entries, news) }
    }

    /// The matching patterns of topics that watch attributes.
    private func naming(_ attribute: AttributeID) -> [PatternIndex.Entry] {
        guard let (node, name) = graph.nodeAndName(of: attribute) else { return [] }
        let entries = index.find(name, at: graph.ids(of: node))
        func joins(_ entry: PatternIndex.Entry) -> Bool { entry.topic.watchesAttributes && !entry.topic.isOverfull }
        return entries.allSatisfy(joins) ? entries : entries.filter(joins)
    }

    /// Steps to make the vertex of a place inside a value.
    private static let stepsPerPart = 30

    /// A place inside a value becomes a vertex of its own. So it counts as much as several attributes towards what one
    /// transaction may add.
    private static let weightOfPart = 4

    /// The topics that are told of changes of a node or attributes of it.
    func listeners(_ ids: [Name], _ attributes: [String]) -> [PatternIndex.Listener] {
        index.listeners(at: ids, attributes)
    }

    private func join(_ attribute: AttributeID, _ entries: [PatternIndex.Entry], _ news: News) {
        var whole: String?
        var joined: Topic?
        for entry in entries where !entry.topic.isOverfull {
            let topic = entry.topic
            let steps = topic.patterns[entry.position].steps
            // A topic's patterns follow each other. All that match the whole attribute have the same result.
            if steps.isEmpty, joined === topic { continue }
            if steps.isEmpty { joined = topic }
            let vertex = graph.watchable(Place(attribute, steps))
            let isKnown = topic.paths[vertex] != nil
            guard isKnown || ledger.count < limits.watchedAttributes else {
                news.overfill(topic)
                continue
            }
            let start = whole ?? graph.path(of: attribute)
            whole = start
            let path = start + steps.map(\.description).joined()
            guard topic.add(vertex, path) else { continue }
            if !isKnown { watch(vertex, for: topic) }
            news.join(vertex, path, topic)
        }
    }

    /// Makes the index attribute of an instance if some topic names it.
    func joinIndex(of node: NodeID, _ news: News) {
        guard let name = graph.nameOfIndex(of: node) else { return }
        let isNamed = index.find(name, at: graph.ids(of: node)).contains { $0.topic.watchesAttributes }
        if isNamed, let index = graph.index(of: node) { join([index], news) }
    }

    func giveBack() {
        byKey.giveBack()
        watches.giveBack()
        index.giveBack()
        for topic in byKey.values { topic.giveBack() }
    }
}

#if DEBUG
    extension Topics {
        /// Describes each contradiction between topics, watched attributes and their shares.
        func checkInvariants() -> [String] {
            var faults: [String] = []
            var named: Set<AttributeID> = []
            var used: [AccessRule.Subject: Int] = [:]
            for (key, topic) in byKey {
                if topic.key != key || topic.hasEnded || topic.members.isEmpty || topic.joining != 0 {
                    faults.append("topic \(topic.number) should have ended")
                }
                if Set(topic.order) != Set(topic.paths.keys) || Set(topic.order).count != topic.order.count {
                    faults.append("topic \(topic.number) has attributes without a name")
                }
                for owner in topic.owners.keys { used[owner, default: 0] += topic.entered }
                for attribute in topic.order {
                    named.insert(attribute)
                    if watches[attribute]?.topics.count(where: { $0 === topic }) != 1 {
                        faults.append("topic \(topic.number) watches an attribute that does not know it")
                    }
                }
            }
            if Set(watches.attributes) != named || watches.count != named.count {
                faults.append("attributes are watched for nobody")
            }
            if byKey.values.reduce(0, { $0 + $1.entered }) != ledger.count {
                faults.append("watched attributes are miscounted")
            }
            for (owner, count) in used where ledger.used(by: owner) != count {
                faults.append("\(owner) watches \(count) attributes, and \(ledger.used(by: owner)) are counted")
            }
            return faults
        }
    }

    extension Watching {
        /// Describes each contradiction between subscriptions, clients and topics.
        func checkInvariants() -> [String] {
            var faults = topics.checkInvariants()
            for (number, subscription) in subscriptions {
                if subscription.hasEnded || subscription.topic.hasEnded {
                    faults.append("subscription \(number) has ended")
                }
                if !subscription.topic.members.contains(where: { $0 === subscription }) {
                    faults.append("subscription \(number) is missing in its topic")
                }
                if clients[subscription.client.id]?.subscriptions[number] !== subscription {
                    faults.append("subscription \(number) is missing in its client")
                }
            }
            let members = topics.inOrder.reduce(0) { $0 + $1.members.count }
            if members != subscriptions.count { faults.append("topics have \(members) members") }
            for (number, subscription) in sender.delayed where subscriptions[number] !== subscription {
                faults.append("news is delayed for subscription \(number), which has gone")
            }
            return faults
        }
    }
#endif
