import AttributeValues
import SceneModel

/// Costs of planning and performing a change, in steps of about 50 ns.
enum PlanCost {
    /// A node that is compared.
    static let update = 40
    /// A node that changes, beside the comparison, and each attribute that its document has or that goes.
    static let change = 90
    static let attribute = 40
    /// A node below one that changes: it is connected again.
    static let below = 10
    /// A new top node.
    static let creation = 10
    static let removal = 45
    static let value = 50
    /// A node that stays what it was made from a component that is declared anew: its row is written again.
    static let row = 10
}

// Limits of the tree and its values, and the cost of requests.
extension Wiring {
    /// Nodes and attributes that are to be added.
    struct Growth {
        var nodes = 0
        var attributes = 0
        /// The number of nodes that show other nodes: `place` and `slot`.
        var placements = 0
        /// How often nodes, and their attributes, are inside of what a component is given. They are connected once more
        /// each time, where they are shown.
        var given = 0

        static func += (a: inout Growth, b: Growth) {
            a.nodes += b.nodes
            a.attributes += b.attributes
            a.placements += b.placements
            a.given += b.given
        }

        /// Steps in the turn that makes them visible.
        var costAtOnce: Int { placements * Budget.stepsPerPlacement + given * Budget.stepsPerGiven }
    }

    /// The nodes and attributes that a definition makes, without instances of `forEach`.
    /// - Parameters:
    ///   - isGiven: the node is given to the component of its parent.
    ///   - new: the declarations of its document.
    /// - Throws: `limit` when the tree would become too deep.
    func additions(
        by definition: NodeDefinition, below depth: Int, isGiven: Bool = false, _ new: Declarations? = nil
    ) throws(Failure) -> Growth {
        var growth = Growth()
        var pending = [(definition, depth + 1, isGiven ? 1 : 0)]
        while let (next, depth, given) = pending.popLast() {
            try refuse(depth: depth, at: next.id.text)
            // Types that contain each other may make more than can be counted.
            try refuse(growth)
            growth.nodes += 1
            growth.attributes += next.attributes.count + (next.forEach == nil ? 0 : 1)
            if next.forEach?.choice?.isPlacement == true { growth.placements += 1 }
            growth.given += given * (1 + next.attributes.count)
            // The properties of an object are attributes, and so are those of the objects in it.
            var objects = next.attributes.filter { if case .object = $0.type { true } else { false } }
            while let attribute = objects.popLast() {
                guard case .state = attribute.role, case .object(let name) = attribute.type,
                    let type = new?.types[name] ?? declarations.types[name]
                else { continue }
                growth.attributes += type.properties.count
                objects += type.properties
            }
            let first = next.firstPlacing ?? .max
            for children in [next.header, next.children, next.footer] where !children.isEmpty {
                pending += children.map { ($0, depth + 1, given + ($0.layer > first ? 1 : 0)) }
            }
        }
        return growth
    }

    func refuse(depth: Int, at path: String) throws(Failure) {
        guard depth <= limits.depth else {
            throw Failure(
                .limit, "the tree would be deeper than \(limits.depth) nodes", path: path,
                hint: "the setting tree-depth is the limit")
        }
    }

    func refuse(_ growth: Growth) throws(Failure) {
        guard liveNodes + growth.nodes <= most(of: limits.nodes) else {
            throw Failure(
                .limit, "the graph would have more than \(limits.nodes) nodes", hint: "the setting nodes is the limit")
        }
        guard liveAttributes + growth.attributes <= most(of: limits.attributes) else {
            throw Failure(
                .limit, "the graph would have more than \(limits.attributes) attributes",
                hint: "the setting attributes is the limit")
        }
    }

    /// The part of a limit that the present requester may use. The last part is for root and the daemon's own user.
    func most(of limit: Int) -> Int { request.mayTakeLast ? limit : Standing.common(of: limit) }

    /// Charges steps to the current request.
    /// - Throws: `limit` when none are left.
    public func charge(_ steps: Int) throws(Failure) { try budget.charge(steps) }

    /// Charges steps for an answer, and the bytes of a content in it as JSON.
    public func charge(_ steps: Int, telling content: Content) throws(Failure) {
        try charge(steps + budget.cost(ofTelling: content))
    }

    /// Steps for a node and for an attribute in an answer that describes both.
    static let stepsPerDescribedNode = 40
    static let stepsPerDescribedAttribute = 80

    /// Charges the instances that a list makes before they are made.
    func chargeInstances(_ count: Int, _ each: Growth) throws(Failure) {
        try budget.chargeInstances(count, each)
    }

    /// - Throws: `limit` when a list would make more instances than one request may.
    func refuseInstances(_ count: Int, _ each: Growth) throws(Failure) {
        _ = try budget.costOfInstances(count, each)
    }

    /// Steps for a node that moves with its subtree.
    static let stepsPerMovedNode = 30
}
