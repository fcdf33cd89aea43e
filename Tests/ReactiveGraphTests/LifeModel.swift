import AttributeGraph
import ReactiveGraph

/// What there is to be read of an attribute.
enum Fate: Error, Equatable {
    case value(Int)
    case removed(Int)
    case failed
    case cycle
    case other(String)

    func get() throws -> Int {
        guard case .value(let value) = self else { throw self }
        return value
    }
}

/// Who lives, who made whom, and what every value must be: a table of definitions, told of everything that the closures
/// of a random graph do. What goes with what follows from the table alone, and values are computed from nothing but
/// definitions.
struct LifeModel {
    /// Where something belongs, and with what it goes.
    enum Owner: Equatable { case graph, node(Int), scope(Int) }
    enum Thing: Equatable { case node(Int), scope(Int) }
    enum Kind { case input, rule, observer }

    struct Node {
        let kind: Kind
        var owner: Owner
        /// Rules read what has a lower one: so there are no cycles unless they are wanted.
        var rank: Int
        var value = 0
        var formula = Formula(kind: .many, operands: [])
        var isAlive = true
        var runs = 0
        /// The step of the random graph in which it ran last.
        var lastRunIn = -1
        /// What its run has made; and what the cleanups before that run have.
        var made: [Thing] = []
        var madeBefore: [Thing] = []
        var ownReads: [OwnRead] = []
        /// Of an observer, what its last run computed.
        var seen: Fate?
        var hasThrown = false
    }

    /// A rule has read what its own run has made. If the same run saw it destroyed, it need not run again for that.
    struct OwnRead {
        let node: Int
        let value: Int
        var isFinal = false
    }

    struct Scope {
        var owner: Owner
        var rank: Int?
        var isAlive = true
        var made: [Thing] = []
    }

    var nodes: [Node] = []
    var scopes: [Scope] = []
    /// Cleanups that have not been done, and whose they are.
    var openCleanups: [Int: Int] = [:]
    var cleanupsEver = 0

    var living: [Int] { nodes.indices.filter { nodes[$0].isAlive } }
    var livingScopes: [Int] { scopes.indices.filter { scopes[$0].isAlive } }

    func living(_ kind: Kind) -> [Int] { nodes.indices.filter { nodes[$0].isAlive && nodes[$0].kind == kind } }

    // MARK: Making

    mutating func addNode(_ kind: Kind, to owner: Owner, before: Bool = false) -> Int {
        let node = nodes.count
        nodes.append(Node(kind: kind, owner: owner, rank: rank(in: owner) ?? node))
        give(.node(node), to: owner, before: before)
        return node
    }

    mutating func addScope(to owner: Owner, before: Bool = false) -> Int {
        let scope = scopes.count
        scopes.append(Scope(owner: owner, rank: rank(in: owner)))
        give(.scope(scope), to: owner, before: before)
        return scope
    }

    private func rank(in owner: Owner) -> Int? {
        switch owner {
        case .graph: nil
        case .node(let node): nodes[node].rank
        case .scope(let scope): scopes[scope].rank
        }
    }

    private mutating func give(_ thing: Thing, to owner: Owner, before: Bool) {
        switch owner {
        case .graph: break
        case .node(let node):
            if before { nodes[node].madeBefore.append(thing) } else { nodes[node].made.append(thing) }
        case .scope(let scope): scopes[scope].made.append(thing)
        }
    }

    /// It turns out where something that is nobody's yet belongs.
    mutating func move(_ thing: Thing, to owner: Owner, before: Bool) {
        switch thing {
        case .node(let node):
            nodes[node].owner = owner
            nodes[node].rank = rank(in: owner) ?? node
        case .scope(let scope):
            scopes[scope].owner = owner
            scopes[scope].rank = rank(in: owner)
        }
        give(thing, to: owner, before: before)
    }

    // MARK: Going

    /// A thing with all that goes with it.
    func subtree(of thing: Thing) -> [Thing] {
        var list = [thing]
        var next = 0
        while next < list.count {
            switch list[next] {
            case .node(let node): list += nodes[node].made + nodes[node].madeBefore
            case .scope(let scope): list += scopes[scope].made
            }
            next += 1
        }
        return list
    }

    /// The rule or observer whose run has made a node, perhaps in a scope.
    func maker(of node: Int) -> Int? {
        var owner = nodes[node].owner
        while true {
            switch owner {
            case .graph: return nil
            case .node(let maker): return maker
            case .scope(let scope): owner = scopes[scope].owner
            }
        }
    }

    /// Those whose run made a node, and those whose runs made these.
    func makers(of node: Int) -> [Int] {
        var list: [Int] = []
        var next = maker(of: node)
        while let maker = next {
            list.append(maker)
            next = self.maker(of: maker)
        }
        return list
    }

    /// What a rule's run has read of its own and then loses keeps its part in the result.
    mutating func end(_ thing: Thing, whileRunning running: Set<Int>) {
        switch thing {
        case .scope(let scope): scopes[scope].isAlive = false
        case .node(let node):
            guard nodes[node].isAlive else { return }
            nodes[node].isAlive = false
            guard let maker = maker(of: node), running.contains(maker), nodes[maker].kind == .rule else { return }
            for place in nodes[maker].ownReads.indices where nodes[maker].ownReads[place].node == node {
                nodes[maker].ownReads[place].isFinal = true
            }
        }
    }

    // MARK: Values

    /// What there must be to read of every node that is asked for.
    func judge() -> Judge { Judge(model: self) }

    struct Judge {
        let model: LifeModel
        private var known: [Int: Fate] = [:]
        private var waiting: Set<Int> = []

        init(model: LifeModel) { self.model = model }

        mutating func fate(of node: Int) -> Fate { compute(node).0 }

        /// The fate, and which of the waiting nodes were reached: a rule that is reached from itself is on a cycle.
        private mutating func compute(_ node: Int) -> (Fate, Set<Int>) {
            if let fate = known[node] { return (fate, []) }
            let entry = model.nodes[node]
            if waiting.contains(node) { return (.cycle, [node]) }
            guard entry.isAlive else { return (.removed(node), []) }
            if entry.kind == .input { return (.value(entry.value), []) }
            waiting.insert(node)
            var reached: Set<Int> = []
            var fate: Fate
            do {
                let value = try entry.formula.value { operand in
                    let (fate, more) = compute(operand)
                    reached.formUnion(more)
                    return try fate.get()
                }
                let own = entry.ownReads.map { read in
                    if read.isFinal { return read.value }
                    let (fate, more) = compute(read.node)
                    reached.formUnion(more)
                    return LifeModel.part(of: fate)
                }
                fate = .value(LifeModel.sum(value, own))
            } catch { fate = error as? Fate ?? .failed }
            waiting.remove(node)
            // Members of a cycle are not remembered: where they are reached from decides what they reach.
            if reached.isEmpty { known[node] = fate } else { fate = .cycle }
            reached.remove(node)
            return (fate, reached)
        }
    }

    /// What something of its own contributes to a rule.
    static func part(of fate: Fate) -> Int {
        if case .value(let value) = fate { value } else { -1 }
    }

    static func sum(_ value: Int, _ own: [Int]) -> Int { own.reduce(value) { ($0 &+ $1) % 1009 } }
}
