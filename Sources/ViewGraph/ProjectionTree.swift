import AttributeGraph
import AttributeValues

/// The places inside one attribute's value that somebody reads, as a tree of steps; each place is a vertex of its own.
///
/// For a state the vertices are inputs, kept equal to the value by `refresh`, which visits only the places that a write
/// can touch: so a change of `a.c` marks nothing that reads `a.b`. For other attributes they are rules that select, and
/// stop at equal values.
final class ProjectionTree {
    final class Entry {
        var attribute: AttributeID?
        /// `.key` and `.index` steps.
        var children: [AttributePath.Step: Entry] = [:]
        /// `.element` steps, by field and value.
        var elements: [String: [Value: Entry]] = [:]
        /// Where elements stand in the list that was searched last, by field.
        var locators: [String: ElementLocator] = [:]

        var isLeaf: Bool { children.isEmpty && elements.isEmpty }

        func child(_ step: AttributePath.Step) -> Entry? {
            if case .element(let field, let id) = step { elements[field]?[id] } else { children[step] }
        }

        func removeChild(_ step: AttributePath.Step) {
            guard case .element(let field, let id) = step else {
                children[step] = nil
                return
            }
            elements[field]?[id] = nil
            if elements[field]?.isEmpty == true { elements[field] = nil }
        }

        /// The vertices of this entry and of all inside it, each before those inside it.
        func forEachAttribute(_ body: (AttributeID) -> Void) {
            var pending = [self]
            while let entry = pending.popLast() {
                if let attribute = entry.attribute { body(attribute) }
                pending.append(contentsOf: entry.children.values)
                for entries in entry.elements.values { pending.append(contentsOf: entries.values) }
            }
        }
    }

    let root = Entry()
    /// Entries that hold on to a list they were searched in.
    private var locating: [Entry] = []
    var hasLocators: Bool { !locating.isEmpty }

    func entry(at steps: [AttributePath.Step]) -> Entry {
        var entry = root
        for step in steps {
            if case .element(let field, let value) = step {
                let next = entry.elements[field]?[value] ?? Entry()
                entry.elements[field, default: [:]][value] = next
                entry = next
            } else {
                let next = entry.children[step] ?? Entry()
                entry.children[step] = next
                entry = next
            }
        }
        return entry
    }

    func existing(at steps: [AttributePath.Step]) -> AttributeID? { entryIfAny(at: steps)?.attribute }

    func entryIfAny(at steps: [AttributePath.Step]) -> Entry? {
        var entry = root
        for step in steps {
            guard let next = entry.child(step) else { return nil }
            entry = next
        }
        return entry
    }

    /// What the steps lead to in a value of the attribute, as `Value.select`, but without searching a long list again
    /// for every element that is asked for by id.
    func select(_ steps: [AttributePath.Step], in whole: Value) -> Content {
        var value = whole
        var entry: Entry? = root
        for step in steps {
            if case .element(let field, let id) = step, case .list(let list) = value,
                list.count > ElementLocator.scanned
            {
                if let entry, entry.locators.isEmpty { locating.append(entry) }
                guard let place = entry?.locators[field, default: ElementLocator()].position(of: id, field, in: list)
                else {
                    return .failure(ProjectionTree.missing(step))
                }
                value = list[place]
                entry = entry?.elements[field]?[id]
            } else {
                guard let next = value.child(step) else { return value.select(CollectionOfOne(step)) }
                value = next
                entry = entry?.child(step)
            }
        }
        return .value(value)
    }

    private static func missing(_ step: AttributePath.Step) -> Failure {
        guard case .failure(let failure) = Value.list([]).select(CollectionOfOne(step)) else {
            preconditionFailure("an empty list has no element")
        }
        return failure
    }

    /// Lets go of the lists that were searched.
    func forgetLocators() {
        for entry in locating { entry.locators = [:] }
        locating = []
    }

    func forEachAttribute(_ body: (AttributeID) -> Void) { root.forEachAttribute(body) }

    /// Forgets a place, and the entries on the way to it that lead nowhere else.
    func remove(at steps: [AttributePath.Step]) {
        var way = [root]
        for step in steps {
            guard let next = way[way.count - 1].child(step) else { return }
            way.append(next)
        }
        way[steps.count].attribute = nil
        for (entry, step) in zip(way, steps).reversed() {
            guard let child = entry.child(step), child.attribute == nil, child.isLeaf else { return }
            entry.removeChild(step)
        }
    }

    /// Tells every place that may differ between two values of the attribute its new content.
    /// Cost: O(children of the containers that differ) at worst, O(changed elements) for lists whose elements are
    /// shared.
    func refresh(from old: Value, to new: Value, _ set: (AttributeID, Content) -> Void) {
        var pending: [(Entry, Value?, Content)] = [(root, old, .value(new))]
        while let (entry, old, content) = pending.popLast() {
            if let attribute = entry.attribute { set(attribute, content) }
            if entry.isLeaf { continue }
            let new = content.value
            if let old, let new, old.isIdentical(to: new) { continue }
            if entry.children.count > ElementLocator.scanned, let old, let new {
                if refreshChanged(entry, old, new, &pending) {
                    for (field, entries) in entry.elements { refreshElements(field, entries, old, content, &pending) }
                    continue
                }
            }
            for (step, child) in entry.children {
                let before = old?.child(step)
                let after = content.selecting(step)
                if let before, case .value(let value) = after, before.isIdentical(to: value) { continue }
                pending.append((child, before, after))
            }
            for (field, entries) in entry.elements {
                refreshElements(field, entries, old, content, &pending)
            }
        }
    }

    /// Where many places of one container are read: looks at what differs in the container rather than at all that is
    /// read.
    /// - Returns: whether the containers could be compared place by place.
    private func refreshChanged(
        _ entry: Entry, _ old: Value, _ new: Value, _ pending: inout [(Entry, Value?, Content)]
    ) -> Bool {
        switch (old, new) {
        case (.list(let before), .list(let after)):
            var place = 0
            while place < max(before.count, after.count) {
                defer { place += 1 }
                if place < min(before.count, after.count) {
                    place += IdenticalRun.countFrom(
                        before, from: place, after, from: place, count: min(before.count, after.count) - place)
                }
                let (x, y) = (place < before.count ? before[place] : nil, place < after.count ? after[place] : nil)
                if let x, let y, x.isIdentical(to: y) { continue }
                let step = AttributePath.Step.index(place)
                guard let child = entry.children[step] else { continue }
                pending.append((child, x, y.map { .value($0) } ?? new.select(CollectionOfOne(step))))
            }
            return true
        case (.map(let before), .map(let after)):
            // A write to an entry leaves all others where they are.
            guard before.count == after.count else { return false }
            var found: [(Entry, Value?, Content)] = []
            for place in 0..<before.count {
                let (x, y) = (before.entry(at: place), after.entry(at: place))
                guard case .string(let key) = x.key, x.key == y.key else { return false }
                if x.value.isIdentical(to: y.value) { continue }
                if let child = entry.children[.key(key)] { found.append((child, x.value, .value(y.value))) }
            }
            pending.append(contentsOf: found)
            return true
        default: return false
        }
    }

    /// Elements found by id: only those whose place lies in the stretch that differs are looked up again.
    private func refreshElements(
        _ field: String, _ entries: [Value: Entry], _ old: Value?, _ content: Content,
        _ pending: inout [(Entry, Value?, Content)]
    ) {
        guard case .list(let before)? = old, case .value(.list(let after)) = content else {
            for (id, entry) in entries {
                let step = AttributePath.Step.element(field: field, value: id)
                pending.append((entry, old?.child(step), content.selecting(step)))
            }
            return
        }
        let shorter = min(before.count, after.count)
        let prefix = IdenticalRun.countFrom(before, from: 0, after, from: 0, count: shorter)
        let suffix = IdenticalRun.countFromEnd(before, after, count: shorter - prefix)
        // Elements that only changed places are where they were to who knows them by id.
        if ListChange.rotation(from: before, prefix..<before.count - suffix, to: after, prefix..<after.count - suffix)
            != nil
        {
            return
        }
        var touched: [Value: (Value?, Value?)] = [:]
        for element in before[prefix..<before.count - suffix].reversed() {
            if let id = element.id(by: field) { touched[id] = (element, nil) }
        }
        for element in after[prefix..<after.count - suffix].reversed() {
            if let id = element.id(by: field) { touched[id] = (touched[id]?.0, element) }
        }
        var locator = ElementLocator()
        for (id, (oldElement, newElement)) in touched {
            guard let entry = entries[id] else { continue }
            if let newElement {
                if oldElement?.isIdentical(to: newElement) == true { continue }
                pending.append((entry, oldElement, .value(newElement)))
                continue
            }
            // Only a twin with the same id outside the stretch can stand for one that has gone.
            let twin = locator.position(of: id, field, in: after).map { after[$0] }
            let content = twin.map { Content.value($0) }
            pending.append(
                (entry, oldElement, content ?? .failure(ProjectionTree.missing(.element(field: field, value: id)))))
        }
    }
}

/// Finds elements of one list by a field: the first few by looking through it, more by an index of it.
struct ElementLocator {
    /// Lists of up to this length, and up to this many searches of one list, are not worth an index.
    static let scanned = 8

    private var list: ValueList = []
    private var searches = 0
    private var places: [Value: Int] = [:]

    mutating func position(of id: Value, _ field: String, in list: ValueList) -> Int? {
        if !Value.list(self.list).isIdentical(to: .list(list)) {
            self.list = list
            searches = 0
            places = [:]
        }
        searches += 1
        guard searches > ElementLocator.scanned else { return list.position(of: id, by: field) }
        if places.isEmpty {
            places.reserveCapacity(list.count)
            for (place, element) in list.enumerated() {
                guard let id = element.id(by: field), places[id] == nil else { continue }
                places[id] = place
            }
        }
        return places[id]
    }
}

extension Content {
    func selecting(_ step: AttributePath.Step) -> Content {
        guard case .value(let value) = self else { return self }
        return value.select(CollectionOfOne(step))
    }

    func selecting(_ steps: some Collection<AttributePath.Step>) -> Content {
        guard case .value(let value) = self else { return self }
        return value.select(steps)
    }
}

/// What the table of attributes does not say of places inside values.
struct Places {
    /// The attribute whose value a vertex is a place in, for vertices that the engine knows no input of.
    private var owners: [AttributeID: AttributeID] = [:]
    /// States whose lists were searched by id since the tree was settled last.
    private var locating: [ProjectionTree] = []

    func owner(of place: AttributeID) -> AttributeID? { owners[place] }

    mutating func add(_ place: AttributeID, in owner: AttributeID) { owners[place] = owner }

    mutating func forget(_ place: AttributeID) { owners[place] = nil }

    mutating func noteLocators(in tree: ProjectionTree) { locating.append(tree) }

    var hasLocators: Bool { !locating.isEmpty }

    /// Lists that were searched for elements are held on to only while many elements are looked for together.
    mutating func forgetLocators() {
        for tree in locating { tree.forgetLocators() }
        locating = []
    }

    mutating func giveBack() { owners.giveBack() }
}
