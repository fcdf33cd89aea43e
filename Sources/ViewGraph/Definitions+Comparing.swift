import AttributeValues
import SceneModel

// Comparing and merging definitions, so that a document changes only what differs.

extension AttributeDefinition {
    var kind: AttributeKind {
        switch role {
        case .state: .state
        case .binding: .binding
        case .constant: .let
        case .computed: .computed
        case .inherit, .inheritObject: .inherit
        case .clock: .clock
        case .action: .action
        }
    }
}

extension NodeDefinition {
    func hasSameModifiers(as other: NodeDefinition) -> Bool {
        tag == other.tag && transition == other.transition && environment == other.environment
            && containerValues == other.containerValues && preferences == other.preferences
            && environmentObjects == other.environmentObjects && transformEnvironment == other.transformEnvironment
            && animations == other.animations
    }

    /// True if the innermost modifiers of this definition are those of the component's body, as at a use of the
    /// component.
    func hasModifiers(around body: NodeDefinition) -> Bool {
        let next = NodeDefinition()
        next.environment = environment.suffix(body.environment.count)
        next.environmentObjects = environmentObjects.suffix(body.environmentObjects.count)
        next.transformEnvironment = transformEnvironment.suffix(body.transformEnvironment.count).map { transform in
            var transform = transform
            transform.place -= environment.count - next.environment.count
            return transform
        }
        next.containerValues = containerValues.suffix(body.containerValues.count)
        next.preferences = Array(preferences.prefix(body.preferences.count))
        next.animations = animations.suffix(body.animations.count)
        next.tag = body.tag == nil ? nil : tag
        // The transition of a use replaces the body's, so it is not compared.
        next.transition = body.transition
        return next.hasSameModifiers(as: body)
    }

    /// Children with their slots, in order.
    var slotted: [(NodeDefinition, Slot)] {
        header.map { ($0, .header) } + children.map { ($0, .content) } + footer.map { ($0, .footer) }
    }

    /// True if both make the same subtrees. O(both); repeated components are compared by name.
    func makesSame(as other: NodeDefinition) -> Bool {
        var pending = [(self, other)]
        while let (a, b) = pending.popLast() {
            if a === b { continue }
            guard a.id == b.id, a.kind == b.kind, a.component == b.component, a.isContent == b.isContent,
                a.givenSlot == b.givenSlot,
                a.layer == b.layer,
                a.attributes == b.attributes, a.hasSameModifiers(as: b)
            else { return false }
            switch (a.forEach, b.forEach) {
            case (nil, nil): break
            case (let x?, let y?):
                guard x.hasSameData(as: y), x.templates.count == y.templates.count else { return false }
                pending += zip(x.templates, y.templates)
            default: return false
            }
            let (inside, others) = (a.slotted, b.slotted)
            guard inside.count == others.count, zip(inside, others).allSatisfy({ $0.1 == $1.1 }) else { return false }
            // A repeated component is not followed: it is compared where it is declared.
            if a.isRepeated || b.isRepeated { continue }
            for (x, y) in zip(inside, others) { pending.append((x.0, y.0)) }
        }
        return true
    }

    /// This definition, completed with what only `base` says.
    func merged(over base: NodeDefinition) -> NodeDefinition {
        let merged = NodeDefinition()
        merged.id = base.id
        merged.kind = base.kind
        merged.component = component ?? base.component
        merged.body = body ?? base.body
        merged.isContent = base.isContent
        merged.givenSlot = givenSlot ?? base.givenSlot
        merged.layer = base.layer
        merged.position = position
        merged.forEach = forEach ?? base.forEach
        let names = Set(attributes.map(\.name))
        merged.attributes = base.attributes.filter { !names.contains($0.name) } + attributes
        func kept(_ old: some Sequence<KeyedExpression>, _ new: [KeyedExpression]) -> [KeyedExpression] {
            old.filter { entry in !new.contains { $0.key == entry.key && $0.steps == entry.steps } }
        }
        func over(_ new: [KeyedExpression], _ old: [KeyedExpression]) -> [KeyedExpression] { kept(old, new) + new }
        merged.environment = over(environment, base.environment)
        merged.containerValues = over(containerValues, base.containerValues)
        merged.preferences = over(preferences, base.preferences)
        merged.environmentObjects = environmentObjects.isEmpty ? base.environmentObjects : environmentObjects
        merged.transformEnvironment = transformEnvironment.isEmpty ? base.transformEnvironment : transformEnvironment
        for position in merged.transformEnvironment.indices {
            // A transform behind all overrides stays behind all of them. A transform further out stays behind those of
            // its overrides that remain.
            let place = merged.transformEnvironment[position].place
            let isInnermost = !transformEnvironment.isEmpty || place == base.environment.count
            merged.transformEnvironment[position].place =
                isInnermost ? merged.environment.count : kept(base.environment.prefix(place), environment).count
        }
        merged.tag = tag ?? base.tag
        merged.transition = transition ?? base.transition
        merged.animations = animations.isEmpty ? base.animations : animations
        func union(_ new: [NodeDefinition], _ old: [NodeDefinition]) -> [NodeDefinition] {
            let ids = Set(new.map(\.id))
            return old.filter { !ids.contains($0.id) } + new
        }
        merged.children = union(children, base.children)
        merged.header = union(header, base.header)
        merged.footer = union(footer, base.footer)
        return merged
    }
}

extension ForEachDefinition {
    func hasSameData(as other: ForEachDefinition) -> Bool {
        choice == other.choice && idField == other.idField && elementName == other.elementName
            && indexName == other.indexName && data == other.data
    }

    func isSame(as other: ForEachDefinition) -> Bool {
        hasSameData(as: other) && templates.count == other.templates.count
            && zip(templates, other.templates).allSatisfy { $0.makesSame(as: $1) }
    }
}
