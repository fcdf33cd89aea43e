import AttributeValues
import SceneModel

/// Tells which definitions of components are still the declared ones. A document can only use these.
struct CurrentComponents {
    private let declared: [String: NodeDefinition]
    private var known: [ObjectIdentifier: Bool] = [:]

    init(_ declared: [String: NodeDefinition]) { self.declared = declared }

    /// True if a use of the component in a document would still make what this definition makes. The component, or one
    /// that it uses, may have been declared anew.
    mutating func isCurrent(_ component: NodeDefinition) -> Bool {
        if let known = known[ObjectIdentifier(component)] { return known }
        var seen: Set<ObjectIdentifier> = []
        var pending = [component]
        var isCurrent = isDeclared(component)
        while isCurrent, let node = pending.popLast() {
            guard seen.insert(ObjectIdentifier(node)).inserted else { continue }
            if let base = node.base, !seen.contains(ObjectIdentifier(base)) {
                isCurrent = known[ObjectIdentifier(base)] ?? isDeclared(base)
                pending.append(base)
            }
            pending += node.slotted.map(\.0)
            pending += node.forEach?.templates ?? []
        }
        known[ObjectIdentifier(component)] = isCurrent
        return isCurrent
    }

    /// The same for a node in a template. A node that repeats the component around it is always written as a use:
    /// written in full, it would have no end.
    mutating func isWrittenAsUse(_ definition: NodeDefinition) -> Bool {
        definition.isRepeated || definition.base.map { isCurrent($0) } ?? false
    }

    /// True if definitions use components, or have such uses in their lists, that are not the declared ones.
    mutating func hasOutdated(in definitions: [NodeDefinition]) -> Bool {
        var pending = definitions.flatMap { ($0.base.map { [$0] } ?? []) + ($0.forEach?.templates ?? []) }
        var seen: Set<ObjectIdentifier> = []
        while let node = pending.popLast() {
            guard seen.insert(ObjectIdentifier(node)).inserted else { continue }
            // The components themselves have their text.
            if node.written != nil {
                if !isCurrent(node) { return true }
                continue
            }
            pending += (node.base.map { [$0] } ?? []) + (node.forEach?.templates ?? []) + node.slotted.map(\.0)
        }
        return false
    }

    private func isDeclared(_ component: NodeDefinition) -> Bool {
        guard let declared = component.component.flatMap({ declared[$0] }) else { return false }
        return component === declared || component.makesSame(as: declared)
    }
}
