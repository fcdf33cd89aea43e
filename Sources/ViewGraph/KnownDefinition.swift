import AttributeGraph
import AttributeValues
import SceneModel

/// All nodes that are made from one definition share this. Most nodes of a large tree are instances of few definitions:
/// the first ones are connected by their names, and the others like them.
private final class KnownDefinition: SharedByNodes {
    let names: AttributeNames
    private var references = Own<OwnReferences>.unseen
    private var rules = Own<[BoundRule?]>.unseen
    /// Made with the first row of a node that needs them.
    fileprivate var written: Value?
    fileprivate var referredNames: Value??

    private enum Own<Connections> {
        /// No node has been connected.
        case unseen
        /// Something reads more than the node's own attributes.
        case others
        /// All read attributes of their own node, so they are the same for each node.
        case own(Connections)

        var connections: Connections? { if case .own(let connections) = self { connections } else { nil } }
        var isUnseen: Bool { if case .unseen = self { true } else { false } }
    }

    init(_ names: AttributeNames) { self.names = names }

    /// The references of a node, if they are the same for each node.
    var ownReferences: OwnReferences? { references.connections }

    /// The rules of a node, if they are the same for each node: by attribute, nil for those that have none.
    var ownRules: [BoundRule?]? { rules.connections }

    /// Called when the references of a node have been connected.
    func noteReferences(of node: NodeRecord, _ attributes: AttributeTable) {
        guard references.isUnseen else { return }
        references = ownReferences(of: node, attributes).map { .own($0) } ?? .others
    }

    /// Called when the rules of a node have been connected.
    func noteRules(of node: NodeRecord, _ attributes: AttributeTable) {
        guard rules.isUnseen else { return }
        rules = ownRules(of: node, attributes).map { .own($0) } ?? .others
    }

    private func ownReferences(of node: NodeRecord, _ attributes: AttributeTable) -> OwnReferences? {
        guard let run = node.attributes.run(of: names) else { return nil }
        var references = OwnReferences(elementName: node.instance?.elementName)
        for (position, attribute) in run.enumerated() {
            guard let record = attributes[attribute], record.isBare else { return nil }
            switch record.definition?.role {
            case .state?, .computed?, .constant(.rule)?: continue
            case .binding(.reference?, _)?, .constant(.reference?)?: break
            default: return nil
            }
            guard case .alias(let target, _) = record.source, target.attribute == node.attributes.element,
                !record.convertsToType
            else { return nil }
            references.list.append((position, target.steps))
        }
        return references
    }

    private func ownRules(of node: NodeRecord, _ attributes: AttributeTable) -> [BoundRule?]? {
        guard node.definition.isPlain, let run = node.attributes.run(of: names) else { return nil }
        var rules: [BoundRule?] = []
        for attribute in run {
            switch attributes.source(attribute) {
            case .state?, .alias?: rules.append(nil)
            case .rule(let rule)? where rule.readsOnly(run, at: BoundRule.Base(attribute)): rules.append(rule)
            default: return nil
            }
        }
        return rules
    }
}

extension NodeDefinition {
    fileprivate var known: KnownDefinition? { shared as? KnownDefinition }

    /// The names of the attributes of its nodes, if there are nodes.
    var knownNames: AttributeNames? { known?.names }

    /// As `Persistence.written`, for the rows of nodes.
    var writtenForRows: Value {
        if let written = known?.written { return written }
        let written = Persistence.written(self)
        known?.written = written
        return written
    }

    /// As `Persistence.names`, for the rows of nodes.
    var namesForRows: Value? {
        if let names = known?.referredNames { return names }
        let names = Persistence.names(in: self)
        known?.referredNames = .some(names)
        return names
    }

    /// Notes that a node is made from this definition.
    func noteUse(_ names: AttributeNames) {
        if isInUse { shared = KnownDefinition(names) }
        isInUse = true
    }
}

extension Wiring {
    /// Connects the references of a node, if they are the same as those of other nodes.
    /// - Returns: false if they have to be worked out.
    func connectOwnReferences(of node: NodeRecord) -> Bool {
        guard let known = node.definition.known, let references = known.ownReferences,
            let run = node.attributes.run(of: known.names), run.allSatisfy({ attributes.isBare($0) })
        else { return false }
        if references.list.isEmpty { return true }
        guard let instance = node.instance, instance.elementName == references.elementName else { return false }
        for (place, steps) in references.list {
            let source = Source.alias(Place(instance.element, steps), vertex: nil)
            if !attributes.connectNew(source, at: run[place]) { replaceSource(of: run[place], source) }
        }
        return true
    }

    func noteReferences(of node: NodeRecord) { node.definition.known?.noteReferences(of: node, attributes) }

    /// Gives a node its rules, if they are the same as those of other nodes.
    /// - Returns: false if they have to be worked out.
    func connectOwnRules(of node: NodeRecord) -> Bool {
        guard let known = node.definition.known, let rules = known.ownRules,
            let run = node.attributes.run(of: known.names)
        else { return false }
        for (attribute, rule) in zip(run, rules) {
            guard let rule else { continue }
            if !attributes.connectNew(.rule(rule), at: attribute) { replaceSource(of: attribute, .rule(rule)) }
        }
        return true
    }

    func noteRules(of node: NodeRecord) { node.definition.known?.noteRules(of: node, attributes) }
}

/// The references of an instance, if all lead to places in its element.
private struct OwnReferences {
    let elementName: String?
    /// By the position of the attribute with the reference.
    var list: [(place: Int, steps: [AttributePath.Step])] = []
}
