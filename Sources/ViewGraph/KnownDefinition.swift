import AttributeGraph
import SceneModel

/// All nodes that are made from one definition share this. Most nodes of a large tree are instances of few definitions:
/// the first ones are connected by their names, and the others like them.
final class KnownDefinition {
    let definition: NodeDefinition
    let names: AttributeNames
    /// True if its attributes are states and rules, so that there are no references to connect.
    fileprivate(set) var hasNoReferences = false
    private var inputs = Inputs.unseen

    private enum Inputs {
        /// No node has been connected.
        case unseen
        /// Something reads more than the node's own attributes.
        case others
        /// All rules read attributes of their own node: they are the same for each node. By attribute; nil for a state.
        case own([BoundRule?])
    }

    fileprivate init(_ definition: NodeDefinition, _ names: AttributeNames) {
        (self.definition, self.names) = (definition, names)
    }

    /// The rules of a node, if they are the same for each node.
    fileprivate var ownRules: [BoundRule?]? { if case .own(let rules) = inputs { rules } else { nil } }

    /// Called when a node has been connected.
    fileprivate func note(_ node: NodeRecord, _ attributes: AttributeTable) {
        if case .unseen = inputs { inputs = ownRules(of: node, attributes).map { .own($0) } ?? .others }
    }

    private func ownRules(of node: NodeRecord, _ attributes: AttributeTable) -> [BoundRule?]? {
        guard definition.isPlain, let run = node.attributes.run(of: names) else { return nil }
        var rules: [BoundRule?] = []
        for attribute in run {
            switch attributes.source(Int(attribute.index)) {
            case .state?: rules.append(nil)
            case .rule(let rule)? where rule.readsOnly(run, at: BoundRule.Base(attribute)): rules.append(rule)
            default: return nil
            }
        }
        return rules
    }
}

/// The definitions that several nodes were made from last.
struct KnownDefinitions {
    private var slots = [KnownDefinition?](repeating: nil, count: 256)
    /// The definition that a node of each slot was made from last. It is not retained: a definition that is used once
    /// may have a large document below it.
    private var last = [ObjectIdentifier?](repeating: nil, count: 256)

    private func slot(of definition: NodeDefinition) -> Int {
        Int(bitPattern: ObjectIdentifier(definition)) >> 4 & (slots.count - 1)
    }

    func lookUp(_ definition: NodeDefinition) -> KnownDefinition? {
        slots[slot(of: definition)].flatMap { $0.definition === definition ? $0 : nil }
    }

    /// Notes that a node is made from a definition that is not known.
    mutating func note(_ definition: NodeDefinition, _ names: AttributeNames) {
        let slot = slot(of: definition)
        if last[slot] == ObjectIdentifier(definition) { slots[slot] = KnownDefinition(definition, names) }
        last[slot] = ObjectIdentifier(definition)
    }
}

extension Wiring {
    /// True if the node has no references to connect, because it was made from a definition without any.
    func hasNoReferences(_ node: NodeRecord) -> Bool {
        guard let known = known.lookUp(node.definition), known.hasNoReferences,
            let run = node.attributes.run(of: known.names)
        else { return false }
        return run.allSatisfy { attributes.isBare($0.index) }
    }

    func noteNoReferences(_ definition: NodeDefinition) { known.lookUp(definition)?.hasNoReferences = true }

    /// Gives a node its rules, if they are the same as those of other nodes.
    /// - Returns: false if they have to be worked out.
    func connectOwnRules(of node: NodeRecord) -> Bool {
        guard let known = known.lookUp(node.definition), let rules = known.ownRules,
            let run = node.attributes.run(of: known.names)
        else { return false }
        for (attribute, rule) in zip(run, rules) {
            guard let rule else { continue }
            if attributes.connectNew(rule, at: attribute.index) { continue }
            replaceSource(of: attribute, .rule(rule))
        }
        return true
    }

    func noteConnected(_ node: NodeRecord) { known.lookUp(node.definition)?.note(node, attributes) }
}
