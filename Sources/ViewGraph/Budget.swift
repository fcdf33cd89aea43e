import AttributeValues

/// The steps that a request may still take. A step is about 50 ns.
struct Budget {
    /// Steps that rules and answers may take. Below zero, rules are deferred.
    var steps = Int.max
    /// Steps for the instances that lists make.
    var growth = Int.max
    /// True while the store is restored. Nothing is charged: everything was accepted once, and rules at this start may
    /// have cost more.
    var isWaived = false
    /// True while scenes are loaded at a start: plans are not charged.
    var waivesPlans = false

    /// Bytes of JSON that are measured in a step.
    static let bytesPerStep = 32
    /// Elements of a list or map that are copied in a step.
    private static let elementsPerStep = 8
    /// Steps for each binding that a write goes through, and for the state.
    static let stepsPerBinding = 4
    private static let stepsPerNewNode = 60
    private static let stepsPerNewAttribute = 20
    /// Steps for a `place` or `slot`, which finds its nodes in the turn that makes it visible.
    static let stepsPerPlacement = 200
    /// For each time that a node, or an attribute of it, is connected again because a component shows the node.
    static let stepsPerGiven = 40
    /// For a node that data makes a `place` show.
    private static let stepsPerPlaced = 200

    /// - Throws: `limit` when no steps are left.
    mutating func charge(_ cost: Int) throws(Failure) {
        if isWaived { return }
        steps -= cost
        guard steps > 0 else { throw Budget.spent }
    }

    private static let spent = Failure(
        .limit, "the request costs more steps than one request may use",
        hint: "ask for less at once; the setting request-cost is the limit")

    /// Charges steps of planning a document.
    mutating func chargePlan(_ cost: Int) throws(Failure) { if !waivesPlans { try charge(cost) } }

    /// - Throws: `limit` if so many steps of planning a document are not left. Nothing is charged.
    func refusePlan(_ cost: Int) throws(Failure) {
        guard waivesPlans || isWaived || cost < steps else { throw Budget.spent }
    }

    /// Steps for new nodes that are made in one turn.
    static func cost(ofMaking growth: Wiring.Growth) -> Int {
        growth.nodes * stepsPerNewNode + growth.attributes * stepsPerNewAttribute + growth.costAtOnce
    }

    /// - Throws: `limit` when the instances would take more steps than are left; then nothing is charged.
    mutating func chargeInstances(_ count: Int, _ each: Wiring.Growth) throws(Failure) {
        growth -= try costOfInstances(count, each)
    }

    /// - Throws: `limit` when the instances would take more steps than are left.
    func costOfInstances(_ count: Int, _ each: Wiring.Growth) throws(Failure) -> Int {
        // The element is an attribute, too.
        let cost =
            count
            * (each.nodes * Budget.stepsPerNewNode + (each.attributes + 1) * Budget.stepsPerNewAttribute
                + each.costAtOnce)
        guard cost <= growth else {
            throw Failure(
                .limit, "one request may not make nodes for \(count) new elements",
                hint: "add them in several requests; the setting request-cost is the limit")
        }
        return cost
    }

    /// - Throws: `limit` when showing so many more nodes at a `place` would take more steps than are left.
    mutating func chargePlaced(_ count: Int) throws(Failure) {
        guard count * Budget.stepsPerPlaced <= growth else {
            throw Failure(
                .limit, "one request may not make a place show \(count) more nodes",
                hint: "show them in several steps; the setting request-cost is the limit")
        }
        growth -= count * Budget.stepsPerPlaced
    }

    /// Steps for the JSON text of a content. Measuring stops at the size that the remaining steps can pay for.
    func cost(ofTelling content: Content) -> Int {
        guard case .value(let value) = content else { return 0 }
        let most = min(max(steps, 0), Int.max / Budget.bytesPerStep) * Budget.bytesPerStep
        var left = most
        value.draw(from: &left, isTyped: false)
        return (most - left) / Budget.bytesPerStep
    }

    /// Steps for what a write copies: the lists, maps and texts on the way to the place, and the value there.
    /// - Parameter bindings: number of bindings that the write went through.
    static func cost(ofWriteInto whole: Value, at steps: [AttributePath.Step], through bindings: Int) -> Int {
        var copied = whole.breadth
        var part = whole
        for step in steps {
            guard case .value(let next) = part.select([step]) else { break }
            part = next
            copied += part.breadth
        }
        return bindings * stepsPerBinding + copied / elementsPerStep
    }
}

extension Value {
    /// Number of elements that are copied when a part is changed. Texts and bytes count by the size of an element.
    fileprivate var breadth: Int {
        switch self {
        case .list(let elements): elements.count
        case .map(let map): 2 * map.count
        case .string(let text): text.utf8.count / MemoryLayout<Value>.stride
        case .bytes(let bytes): bytes.count / MemoryLayout<Value>.stride
        default: 0
        }
    }
}
