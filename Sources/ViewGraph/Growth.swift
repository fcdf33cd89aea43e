import AttributeValues
import SceneModel

// What is added to the tree and its states, held against the limits.
extension ViewGraph {
    /// What the graph gets more of.
    struct Growth {
        var nodes = 0
        var attributes = 0

        static func += (a: inout Growth, b: Growth) {
            a.nodes += b.nodes
            a.attributes += b.attributes
        }
    }

    /// What a definition makes, instances of `forEach` not counted.
    /// - Parameter new: what its document declares.
    /// - Throws: `limit` when the tree would become too deep.
    func growth(by definition: NodeDefinition, below depth: Int, _ new: Declarations? = nil) throws(Failure) -> Growth {
        var growth = Growth()
        var pending = [(definition, depth + 1)]
        while let (next, depth) = pending.popLast() {
            try refuse(depth: depth, at: next.id)
            // Types that hold each other may make more than can be counted.
            try refuse(growth)
            growth.nodes += 1
            growth.attributes += next.attributes.count + (next.forEach == nil ? 0 : 1)
            // The properties of an object are attributes, those of the objects in it, too.
            var objects = next.attributes
            while let attribute = objects.popLast() {
                guard case .state = attribute.role, case .object(let name) = attribute.type,
                    let type = new?.types[name] ?? declarations.types[name]
                else { continue }
                growth.attributes += type.properties.count
                objects += type.properties
            }
            for child in next.header + next.children + next.footer { pending.append((child, depth + 1)) }
        }
        return growth
    }

    func refuse(depth: Int, at path: String) throws(Failure) {
        guard depth <= limits.depth else {
            throw Failure(.limit, "the tree would be deeper than \(limits.depth) nodes", path: path, hint: "tree-depth is the limit")
        }
    }

    func refuse(_ growth: Growth) throws(Failure) {
        guard liveNodes + growth.nodes <= limits.nodes else {
            throw Failure(.limit, "the graph would have more than \(limits.nodes) nodes", hint: "nodes is the limit")
        }
        guard liveAttributes + growth.attributes <= limits.attributes else {
            throw Failure(.limit, "the graph would have more than \(limits.attributes) attributes", hint: "attributes is the limit")
        }
    }

    /// Takes steps from those that are left for the request at hand.
    /// - Throws: `limit` when none are left.
    public func charge(_ steps: Int) throws(Failure) {
        // What was admitted once finds its place again, whatever rules have cost at this start.
        if isRestoring { return }
        stepsLeft -= steps
        guard stepsLeft > 0 else {
            throw Failure(.limit, "more work than one request may ask for", hint: "ask for less at once; request-cost is the limit")
        }
    }

    /// Holds a value against the limit of its size. O(parts of the value), which counts towards the request's cost.
    func refuseLong(_ value: Value, at path: AttributePath) throws(Failure) {
        var room = limits.valueSize
        value.draw(from: &room, isTyped: false)
        guard room >= 0 else { throw tooLong(path) }
        try charge((limits.valueSize - room) / ViewGraph.bytesPerStep)
    }

    /// Charges an answer for a value that it tells: the steps, and its bytes as JSON.
    public func charge(_ steps: Int, telling content: Content) throws(Failure) {
        var bytes = 0
        if case .value(let value) = content {
            // No more of it is looked at than could be paid for.
            let most = min(max(stepsLeft, 0), Int.max / ViewGraph.bytesPerStep) * ViewGraph.bytesPerStep
            var room = most
            value.draw(from: &room, isTyped: false)
            bytes = most - room
        }
        try charge(steps + bytes / ViewGraph.bytesPerStep)
    }

    /// Steps for a node and for an attribute of an answer that describes both.
    static let stepsPerDescribedNode = 40
    static let stepsPerDescribedAttribute = 80

    /// Charges the instances that a list makes before they are made.
    func chargeInstances(_ count: Int, _ each: Growth) throws(Failure) {
        let steps = count * (each.nodes * ViewGraph.stepsPerNewNode + (each.attributes + 1) * ViewGraph.stepsPerNewAttribute)
        guard steps <= growthLeft else {
            throw Failure(
                .limit, "\(count) new elements are more than one request may make nodes for",
                hint: "add them in several requests; request-cost is the limit")
        }
        growthLeft -= steps
    }

    private static let stepsPerNewNode = 60
    private static let stepsPerNewAttribute = 20

    /// Bytes of JSON that are looked at in a step.
    private static let bytesPerStep = 32
    /// Elements of a list or map that are copied in a step.
    private static let elementsPerStep = 8
    /// Steps for each binding that a write goes through.
    private static let stepsPerBinding = 4

    /// Charges a write for what it copies: the lists, maps and texts on the way to the place, and the one that stands there.
    /// - Parameter bindings: that led there.
    func chargeWrite(into whole: Value, at steps: [AttributePath.Step], through bindings: Int) throws(Failure) {
        var copied = whole.breadth
        var part = whole
        for step in steps {
            guard case .value(let next) = part.select([step]) else { break }
            part = next
            copied += part.breadth
        }
        try charge(bindings * ViewGraph.stepsPerBinding + copied / ViewGraph.elementsPerStep)
    }

    private func tooLong(_ path: AttributePath) -> Failure {
        Failure(
            .limit, "\(path) would have a value of more than \(limits.valueSize) bytes", path: path.description,
            hint: "value-size is the limit")
    }

    /// A value that is written as its type holds it, no longer than the limit; nil when it does not fit.
    /// - Parameter mayGrow: whether it may be longer than the one in whose place it comes, beside what its type adds to it.
    func accept(_ value: Value, as type: ValueType, at path: AttributePath, mayGrow: Bool, isKept: Bool) throws(Failure) -> Value? {
        if isKept { return declarations.accept(value, as: type) }
        var room = limits.valueSize
        let accepted = declarations.accept(value, as: type, within: &room)
        guard room >= 0 else { throw tooLong(path) }
        if let accepted, mayGrow || room < limits.valueSize { try refuseLong(accepted, at: path) }
        return accepted
    }
}

extension Value {
    /// How much is copied when a part is changed: elements, or bytes by the size of an element.
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
