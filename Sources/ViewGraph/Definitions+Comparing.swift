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
        tag == other.tag && transition == other.transition && isLeftOutOfPast == other.isLeftOutOfPast
            && environment == other.environment
            && containerValues == other.containerValues && preferences == other.preferences
            && environmentObjects == other.environmentObjects && transformEnvironment == other.transformEnvironment
            && animations == other.animations && objectsAtUse == other.objectsAtUse && isTagAtUse == other.isTagAtUse
    }

    /// True if the innermost modifiers of this definition equal the modifiers of the component's body. A use of the
    /// component has these, and its own around them.
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
        next.isLeftOutOfPast = body.isLeftOutOfPast
        return next.hasSameModifiers(as: body)
    }

    /// Children with their slots, in order.
    var slotted: [(NodeDefinition, Slot)] {
        header.map { ($0, .header) } + children.map { ($0, .content) } + footer.map { ($0, .footer) }
    }

    /// True if both say the same of the node itself, apart from the data of a list.
    func hasSameMembers(as other: NodeDefinition) -> Bool {
        id == other.id && kind == other.kind && component == other.component
            && isContent == other.isContent
            && givenSlot == other.givenSlot && layer == other.layer && attributes == other.attributes
            && hasSameModifiers(as: other)
    }

    /// True if both make the same subtrees. O(both); repeated components are compared by name.
    func makesSame(as other: NodeDefinition) -> Bool {
        var pending = [(self, other)]
        while let (a, b) = pending.popLast() {
            if a === b { continue }
            guard a.hasSameMembers(as: b) else { return false }
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
    /// - Parameters:
    ///   - isOfUse: its modifiers replace those of the use alone, not those of the component's body.
    func merged(over base: NodeDefinition, isOfUse: Bool = false) -> NodeDefinition {
        let merged = NodeDefinition()
        merged.id = base.id
        merged.kind = base.kind
        merged.component = component ?? base.component
        merged.body = body ?? base.body
        merged.isContent = base.isContent
        if isOfUse {
            noteModifiersAtUse()
            noteActionsAtUse()
        }
        let names = Set(texts: attributes.map(\.name))
        merged.attributes = base.attributes.filter { !names.contains($0.name) } + attributes
        if !isPlain || !base.isPlain { mergeRest(over: base, into: merged, isOfUse: isOfUse) }
        merged.children = union(children, base.children)
        return merged
    }

    private func mergeRest(over base: NodeDefinition, into merged: NodeDefinition, isOfUse: Bool) {
        merged.givenSlot = givenSlot ?? base.givenSlot
        merged.former = former ?? base.former
        merged.layer = base.layer
        merged.position = position
        merged.forEach = forEach ?? base.forEach
        let isInBody = body == nil && !isOfUse
        func over(
            _ group: KeyPath<NodeDefinition, [KeyedExpression]>
        ) -> (use: [KeyedExpression], body: [KeyedExpression]) {
            var (use, inner) = base.divided(group)
            let new = divided(group)
            for entry in new.use {
                func isSame(_ other: KeyedExpression) -> Bool { other.key == entry.key && other.steps == entry.steps }
                if isInBody, let position = inner.firstIndex(where: isSame) {
                    inner[position] = entry
                } else if let position = use.firstIndex(where: isSame) {
                    use[position] = entry
                } else {
                    use.append(entry)
                }
            }
            return (use, body == nil ? inner : new.body)
        }
        let (environment, containerValues, preferences) = (
            over(\.environment), over(\.containerValues), over(\.preferences)
        )
        merged.environment = environment.use + environment.body
        merged.containerValues = containerValues.use + containerValues.body
        // An outer preference replaces an inner one.
        merged.preferences = preferences.body + preferences.use
        let objects = environmentObjects.isEmpty ? base : self
        (merged.environmentObjects, merged.objectsAtUse) = (objects.environmentObjects, objects.objectsAtUse)
        merged.transformEnvironment = transformEnvironment.isEmpty ? base.transformEnvironment : transformEnvironment
        let outer = (transformEnvironment.isEmpty ? base : self).divided(\.environment).use.count
        for position in merged.transformEnvironment.indices {
            // A transform that a document gives the node itself is inside all overrides.
            let isInnermost = isInBody && !transformEnvironment.isEmpty
            let moved = merged.transformEnvironment[position].place + environment.use.count - outer
            merged.transformEnvironment[position].place = isInnermost ? merged.environment.count : moved
        }
        let tagged = tag == nil ? base : self
        (merged.tag, merged.isTagAtUse) = (tagged.tag, tagged.isTagAtUse)
        merged.transition = transition ?? base.transition
        merged.isLeftOutOfPast = isLeftOutOfPast || base.isLeftOutOfPast
        merged.animations = animations.isEmpty ? base.animations : animations
        merged.header = union(header, base.header)
        merged.footer = union(footer, base.footer)
    }

    /// Children of a definition, completed with those that only the base has.
    private func union(_ new: [NodeDefinition], _ old: [NodeDefinition]) -> [NodeDefinition] {
        if new.isEmpty || old.isEmpty { return old + new }
        let ids = Set(new.map(\.id))
        return old.filter { !ids.contains($0.id) } + new
    }

    /// The use of a component alone, and what documents have said of its node besides: members that neither the use nor
    /// the body has, or that replace those of the body. nil: nothing.
    func dividedUse() -> (use: NodeDefinition, others: NodeDefinition?) {
        guard let base else { return (self, nil) }
        let (use, others) = (NodeDefinition(copyOf: self, id: id), NodeDefinition())
        let inBody = Dictionary(base.attributes.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        use.attributes = []
        for attribute in attributes {
            let own = inBody[attribute.name]
            var isOfUse = own.map { $0.isParameter || $0 == attribute } ?? false
            if own == nil, case .action(let action) = attribute.role { isOfUse = action.trigger != nil }
            if !isOfUse { others.attributes.append(attribute) }
            if let kept = isOfUse ? attribute : own { use.attributes.append(kept) }
        }
        for group in [\NodeDefinition.environment, \.containerValues, \.preferences] {
            let own = base[keyPath: group]
            let (atUse, inside) = divided(group)
            if inside.count == own.count, inside != own {
                others[keyPath: group] = inside.filter { !own.contains($0) }
                use[keyPath: group] = group == \.preferences ? own + atUse : atUse + own
            }
        }
        others.kind = kind
        others.id = id
        return others.attributes.isEmpty && others.isPlain ? (self, nil) : (use, others)
    }

    /// The modifiers of a group that are written at the use of its component, and those of the component's body.
    private func divided(
        _ group: KeyPath<NodeDefinition, [KeyedExpression]>
    ) -> (use: [KeyedExpression], body: [KeyedExpression]) {
        let (all, count) = (self[keyPath: group], body?[keyPath: group].count ?? 0)
        if group == \.preferences { return (Array(all.dropFirst(count)), Array(all.prefix(count))) }
        return (all.dropLast(count), all.suffix(count))
    }
}

extension ForEachDefinition {
    func hasSameData(as other: ForEachDefinition) -> Bool {
        choice == other.choice && idField == other.idField && elementName == other.elementName
            && indexName == other.indexName && data == other.data && !author.replaces(other.author)
    }

    func isSame(as other: ForEachDefinition) -> Bool {
        hasSameData(as: other) && templates.count == other.templates.count
            && zip(templates, other.templates).allSatisfy { $0.makesSame(as: $1) }
    }
}
