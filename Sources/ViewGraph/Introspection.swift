import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// What the graph tells about itself: to the runtime, and to people.

extension ViewGraph {
    public func isDurable(_ attribute: AttributeID) -> Bool {
        if case .state(let isTransient)? = attributes[Int(attribute.index)]?.source { return !isTransient }
        return false
    }

    public func isState(_ attribute: AttributeID) -> Bool {
        if case .state? = attributes[Int(attribute.index)]?.source { true } else { false }
    }

    /// The durable states at and below a node.
    public func durableStates(below node: NodeID) -> [AttributeID] { Array(durableStates(of: nodes.subtree(of: node.row))) }

    /// Found as they are asked for.
    func durableStates(of rows: [UInt32]) -> some Collection<AttributeID> {
        withObjects(rows).lazy.flatMap { self.nodes[Int($0)].attributes.list }.map(\.attribute).filter { self.isDurable($0) }
    }

    /// The attribute in which a write to a place ends, as far as it is known now.
    public func target(of place: Place) -> AttributeID { follow(place, isWritten: true).attribute }

    /// Whether a place holds values of one type whatever is written: a whole attribute whose type leaves no choice.
    public func isOfOneType(_ place: Place) -> Bool {
        switch type(of: place) {
        case nil, .dyn?, .nullable?, .optional?: false
        default: true
        }
    }

    public func type(of place: Place) -> ValueType? {
        let place = follow(place)
        return place.steps.isEmpty ? attributes[Int(place.attribute.index)]?.type : nil
    }

    /// The node and name of a named attribute; nil for hidden ones, and for properties of objects, which are named as places in
    /// the attribute that holds the object.
    public func owner(of attribute: AttributeID) -> (NodeID, String)? {
        guard engine.isAlive(attribute), let record = attributes[Int(attribute.index)], !record.isHidden,
            !nodes[Int(record.node)].isObject, isNamed(attribute)
        else { return nil }
        return (nodes.nodeID(record.node), record.name)
    }

    /// Whether the name of an attribute means it: an instance's element or index gives way to an attribute of the node's own.
    func isNamed(_ attribute: AttributeID) -> Bool {
        let record = record(attribute)
        return nodes[Int(record.node)].attributes[record.name].map { $0 == attribute } ?? true
    }

    public func systemValue(_ name: String) -> Value? {
        ownAttribute(name, of: NodeID.root.row).flatMap { content(of: $0).value }
    }

    // MARK: Animation

    public func isAnimationValue(_ attribute: AttributeID) -> Bool { animations.watched.contains(attribute) }

    /// Whether an animation modifier stands around anything that is watched.
    public var hasAnimationModifiers: Bool { !animations.watched.isEmpty }

    /// Evaluates the values that the animation modifiers around an attribute watch, so that their next change is noticed.
    public func prepareAnimations(for attribute: AttributeID) {
        guard animations.exist, var row = attributes[Int(attribute.index)]?.node else { return }
        while true {
            for (_, value) in nodes[Int(row)].animations where animations.watched.insert(value).inserted {
                watch(value)
                _ = content(of: value)
            }
            if row == NodeID.root.row { return }
            row = nodes[Int(row)].parent
        }
    }

    /// What is said around an attribute of how its changes after a stamp move.
    /// - Parameter known: of one stamp, so that each node is looked at once, whatever stands below it.
    public func surroundings(of attribute: AttributeID, since stamp: UInt64, _ known: inout KnownSurroundings) -> MotionSurroundings {
        guard let row = attributes[Int(attribute.index)]?.node else { return MotionSurroundings() }
        var at = row
        var pending: [UInt32] = []
        var found = MotionSurroundings()
        while true {
            if let around = known.byRow[at] {
                found = around
                break
            }
            pending.append(at)
            if at == NodeID.root.row {
                found.reducesMotion = environmentDefaults["reduceMotion"].map { content(of: $0).value == true } ?? false
                break
            }
            at = nodes[Int(at)].parent
        }
        for row in pending.reversed() {
            if let override = nodes[Int(row)].environment.last(where: { $0.key == "reduceMotion" }) {
                found.reducesMotion = content(of: override.attribute).value == true
            }
            for (animation, value) in nodes[Int(row)].animations.reversed() {
                _ = content(of: value)
                guard hasChanged(value, since: stamp) else { continue }
                found.modifier = .some(animation)
                break
            }
            known.byRow[row] = found
        }
        return found
    }

    /// The state whose change made the attribute change last, as far as the engine remembers.
    public func origin(of attribute: AttributeID) -> AttributeID? {
        causes(of: attribute).last
    }

    /// From an attribute down to the input whose change reached it last, the attribute first. Projections lead on to the state
    /// they are of.
    public func causes(of attribute: AttributeID) -> [AttributeID] {
        var chain = [attribute]
        var seen: Set<AttributeID> = [attribute]
        while let last = chain.last, let cause = cause(of: last), seen.insert(cause).inserted { chain.append(cause) }
        return chain
    }

    private func cause(of attribute: AttributeID) -> AttributeID? {
        if let cause = engine.cause(of: attribute) { return cause }
        if let owner = places.owner(of: attribute) { return owner }
        // A place behind a reference is what it reads, also when it has run only once.
        if whole(of: attribute).map(isReference) == true { return engine.inputs(of: attribute).first }
        // What has run only once was not made to by any: it has its value from what it read, of which something came last.
        return engine.inputs(of: attribute).max { engine.changedAt($0) < engine.changedAt($1) }
    }

    // MARK: Watching without evaluating

    /// Watches the inputs that a rule which never ran may read, for a watcher who wants no values: see `Watches`.
    public func watchSources(of attribute: AttributeID) {
        guard engine.changedAt(attribute) == 0 else { return }
        // What refers to an input reads that and runs no rule for it.
        if case .alias(let place, _)? = attributes[Int(attribute.index)]?.source, isInput(record(follow(place).attribute).source) {
            _ = content(of: attribute)
            return
        }
        var seen: Set<AttributeID> = [attribute]
        var pending = [attribute]
        while let next = pending.popLast() {
            let sources = possibleInputs(of: next)
            if sources.isEmpty, let record = attributes[Int(next.index)], isInput(record.source) {
                watches.addProxy(next, of: attribute, in: engine)
                _ = content(of: next)
            }
            for source in sources where seen.insert(source).inserted { pending.append(source) }
        }
    }

    /// Every vertex that a vertex may read, whatever branch it takes.
    private func possibleInputs(of attribute: AttributeID) -> [AttributeID] {
        guard let record = attributes[Int(attribute.index)] else { return [] }
        switch record.source {
        case .alias(let place, let vertex): return [vertex ?? self.vertex(for: place)]
        case .projection(let whole, _): return [whole]
        case .override(let inherited, _, let value): return [inherited, value]
        case .rule(let rule):
            return rule.sources.flatMap { source -> [AttributeID] in
                switch source {
                case .attribute(let attribute): [attribute]
                case .presence(let attribute, let holder): [attribute, holder]
                case .dynamic(let place): [vertex(for: place)]
                case .failure: []
                }
            }
        case .object(let node): return nodes.isAlive(node) ? nodes[Int(node)].attributes.map(\.attribute) : []
        case .elements: return nodes[Int(record.node)].instances.map { [$0.order] } ?? []
        case .subviewList, .subviews, .sections, .preference, .preferenceOutput:
            // What these read is found only by looking at the tree, which is what evaluating them does.
            _ = content(of: attribute)
            return engine.inputs(of: attribute)
        case .state, .system, .literal: return []
        }
    }

    /// The watched vertices that a reported one stands for: itself, and those that never ran and may read it.
    public func forEachWatchedBehind(_ attribute: AttributeID, _ body: (AttributeID) -> Void) {
        body(attribute)
        let rules = watches.rules(behind: attribute)
        guard !rules.isEmpty else { return }
        _ = content(of: attribute)
        for rule in rules {
            if engine.isAlive(rule), engine.changedAt(rule) == 0 {
                body(rule)
            } else {
                noteIdle(watches.endProxies(of: rule, in: engine))
            }
        }
    }
}

/// What nodes say of the motion in them.
public struct MotionSurroundings {
    public var reducesMotion = false
    /// The animation of the nearest enclosing modifier whose value changed: nil if there is none, `.some(nil)` if it says that
    /// nothing moves.
    public var modifier: String??
}

/// Surroundings that were looked up for one change, by row of their node.
public struct KnownSurroundings {
    fileprivate var byRow: [UInt32: MotionSurroundings] = [:]
    public init() {}
}
