import AttributeGraph
import AttributeValues

/// The places inside one attribute's value that somebody reads, as a tree of steps; each place is a vertex of its own.
///
/// For a state the vertices are inputs, which `refresh` keeps equal to the value. It visits only the places that a
/// write can touch, so a change of `a.c` marks nothing that reads `a.b`. For other attributes the vertices are rules
/// that select a place; changes stop there if the place has an equal value.
final class ProjectionTree {
    /// A place, or a value around places. Its tree owns it while it has a vertex or contains other places.
    final class Entry: SharedUses {
        unowned let tree: ProjectionTree
        /// The value that it is in; nil for the attribute's whole value.
        unowned let parent: Entry?
        /// Leads to it from `parent`.
        fileprivate let step: AttributePath.Step
        var attribute: AttributeID?
        /// For an element: where it was last in the list.
        var position: UInt32 = 0
        /// By `.key` and `.index` steps.
        fileprivate var children = Children()
        /// Another entry that is linked in the children of `parent`.
        fileprivate var next: Entry?
        /// `.element` steps, those of each field together.
        fileprivate var fields: [Field] = []

        /// The whole value of a tree's attribute.
        fileprivate init(rootOf tree: ProjectionTree) {
            (self.tree, parent, step) = (tree, nil, .index(0))
        }

        fileprivate init(_ step: AttributePath.Step, in parent: Entry) {
            (tree, self.parent, self.step) = (parent.tree, parent, step)
        }

        var isLeaf: Bool { children.isEmpty && fields.isEmpty }

        /// The steps from the whole value to it.
        var steps: [AttributePath.Step] {
            guard let parent else { return [] }
            if parent.parent == nil { return [step] }
            var steps = [step]
            var around = parent
            while let next = around.parent {
                steps.append(around.step)
                around = next
            }
            steps.reverse()
            return steps
        }

        func field(_ name: String) -> Field? { fields.first { $0.name.hasSameBytes(as: name) } }

        func madeField(_ name: String) -> Field {
            if let field = field(name) { return field }
            let field = Field(name)
            fields.append(field)
            return field
        }

        func child(_ step: AttributePath.Step) -> Entry? {
            if case .element(let name, let id) = step { field(name)?.entry(of: id) } else { children[step] }
        }

        /// The children that a step leads to, whether they are named by position or by id.
        fileprivate func children(at step: AttributePath.Step, in value: Value?) -> [Entry] {
            var found = child(step).map { [$0] } ?? []
            guard case .list(let list)? = value else { return found }
            let position: Int? =
                switch step {
                case .index(let index): list.indices.contains(index) ? index : nil
                case .element(let field, let id): list.position(of: id, by: field)
                case .key: nil
                }
            guard let position else { return found }
            let ids = fields.compactMap { field in
                list[position].id(by: field.name).map { AttributePath.Step.element(field: field.name, value: $0) }
            }
            for other in [.index(position)] + ids where other != step {
                if let entry = child(other) { found.append(entry) }
            }
            return found
        }

        func madeChild(_ step: AttributePath.Step) -> Entry {
            if case .element(let name, let id) = step { return madeField(name).madeEntry(of: id, in: self) }
            if let child = children[step] { return child }
            let made = Entry(step, in: self)
            children.add(made)
            return made
        }

        private func removeChild(_ step: AttributePath.Step) {
            guard case .element(let name, let id) = step else { return children.remove(step) }
            field(name)?.removeEntry(of: id)
            fields.removeAll { $0.entries.isEmpty }
        }

        /// Takes its vertex from it, and removes what contains no other place.
        func removeVertex() {
            attribute = nil
            var entry = self
            while let parent = entry.parent, entry.attribute == nil, entry.isLeaf {
                parent.removeChild(entry.step)
                entry = parent
            }
        }

        fileprivate func knownPosition(of id: Value, by field: String, in list: ValueList) -> Int? {
            let place = Int(position)
            return place < list.count && list[place].id(by: field) == id ? place : nil
        }

        /// Its content, given that of the value around it. As `Content.selecting`, but a long list is not searched
        /// again for each element that is asked for by id.
        func select(in around: Content) -> Content {
            guard case .element(let name, let id) = step, case .value(.list(let list)) = around,
                list.count > ElementLocator.scanned, let field = parent?.field(name)
            else { return around.selecting(step) }
            tree.noteSearch(of: field)
            guard let place = field.findElement(id, self, in: list) else {
                return .failure(ProjectionTree.missing(step))
            }
            return .value(list[place])
        }

        /// The vertices of this entry and of all inside it, each before those inside it.
        func forEachAttribute(_ body: (AttributeID) -> Void) {
            var pending = [self]
            while let entry = pending.popLast() {
                if let attribute = entry.attribute { body(attribute) }
                entry.children.forEach { pending.append($0) }
                for field in entry.fields { pending.append(contentsOf: field.entries.values) }
            }
        }
    }

    /// Entries by their steps, in no particular order. Few are linked to each other and searched one by one.
    fileprivate struct Children {
        private static let linked = 8

        private var first: Entry?
        private var many: [AttributePath.Step: Entry] = [:]

        var isEmpty: Bool { first == nil && many.isEmpty }
        var areMany: Bool { !many.isEmpty }

        subscript(step: AttributePath.Step) -> Entry? {
            if areMany { return many[step] }
            var entry = first
            while let other = entry, other.step != step { entry = other.next }
            return entry
        }

        func forEach(_ body: (Entry) -> Void) {
            for entry in many.values { body(entry) }
            var entry = first
            while let linked = entry {
                body(linked)
                entry = linked.next
            }
        }

        /// Adds an entry whose step has none.
        mutating func add(_ entry: Entry) {
            if areMany {
                many[entry.step] = entry
                return
            }
            (entry.next, first) = (first, entry)
            var count = 0
            forEach { _ in count += 1 }
            if count > Children.linked {
                while let linked = first {
                    many[linked.step] = linked
                    (first, linked.next) = (linked.next, nil)
                }
            }
        }

        mutating func remove(_ step: AttributePath.Step) {
            if areMany {
                many[step] = nil
            } else if let head = first, head.step == step {
                first = head.next
            } else {
                var before = first
                while let entry = before, let next = entry.next, next.step != step { before = next }
                before?.next = before?.next?.next
            }
        }
    }

    /// The elements of a list that are found by one field.
    final class Field {
        let name: String
        private(set) var entries: [Value: Entry] = [:]
        private var locator = ElementLocator()

        init(_ name: String) { self.name = name }

        func entry(of id: Value) -> Entry? { entries[id] }

        /// - Parameter list: the entry that the field belongs to.
        func madeEntry(of id: Value, in list: Entry) -> Entry {
            func existing(_ entry: inout Entry) -> Entry { entry }
            return existing(&entries[id, default: Entry(.element(field: name, value: id), in: list)])
        }

        fileprivate func removeEntry(of id: Value) { entries[id] = nil }

        /// True while `ProjectionTree.locating` has it.
        fileprivate var isLocating = false

        fileprivate func findElement(_ id: Value, _ entry: Entry, in list: ValueList) -> Int? {
            if isKnown(list), let place = entry.knownPosition(of: id, by: name, in: list) { return place }
            return locator.findElement(id, name, in: list)
        }

        /// True if each id is known to occur once in a list.
        fileprivate func isKnown(_ list: ValueList) -> Bool {
            locator.isUnique && locator.list?.isIdentical(to: list) == true
        }

        /// Notes that each id occurs once in a list. This is known until the list is replaced.
        /// - Parameter more: about so many entries will be made.
        func noteUnique(_ list: ValueList, expecting more: Int) {
            locator = ElementLocator(unique: list)
            entries.reserveCapacity(entries.count + more)
        }

        fileprivate func releaseSearches() {
            isLocating = false
            locator.releaseSearches()
        }

        /// Forgets the list, which is about to be replaced.
        /// - Returns: whether it is known that each id occurs once in it.
        fileprivate func forgetList(_ list: ValueList) -> Bool {
            defer { locator = ElementLocator() }
            return isKnown(list)
        }
    }

    /// The attribute, and its name.
    let whole: AttributeID
    let name: String
    private(set) lazy var root = Entry(rootOf: self)
    /// Fields whose locators contain a list.
    private var locating: [Field] = []
    var hasLocators: Bool { !locating.isEmpty }

    init(of whole: AttributeID, name: String) { (self.whole, self.name) = (whole, name) }

    /// True if it has no vertex.
    var isEmpty: Bool { root.attribute == nil && root.isLeaf }

    func entry(at steps: [AttributePath.Step]) -> Entry { steps.reduce(root) { $0.madeChild($1) } }

    func existing(at steps: [AttributePath.Step]) -> AttributeID? { entryIfAny(at: steps)?.attribute }

    func entryIfAny(at steps: [AttributePath.Step]) -> Entry? {
        var entry = root
        for step in steps {
            guard let next = entry.child(step) else { return nil }
            entry = next
        }
        return entry
    }

    private func noteSearch(of field: Field) {
        if !field.isLocating { locating.append(field) }
        field.isLocating = true
    }

    /// The position of an element of the attribute's list, if it is known.
    func knownPosition(of id: Value, by field: String, in list: ValueList) -> Int? {
        guard let field = root.field(field), field.isKnown(list) else { return nil }
        return field.entry(of: id)?.knownPosition(of: id, by: field.name, in: list)
    }

    private static func missing(_ step: AttributePath.Step) -> Failure {
        guard case .failure(let failure) = Value.list([]).select(step) else {
            preconditionFailure("an empty list has no element")
        }
        return failure
    }

    /// Releases the lists that were searched.
    func forgetLocators() {
        for field in locating { field.releaseSearches() }
        locating = []
    }

    func forEachAttribute(_ body: (AttributeID) -> Void) { root.forEachAttribute(body) }

    /// The vertices of a place, of the values around it, and of the places in it.
    /// - Parameter value: that of the attribute. It says which positions and ids name the same element.
    func forEachAttribute(
        touching steps: [AttributePath.Step], in value: Value?, _ body: (AttributeID) -> Void
    ) {
        var reached = [root]
        var content = value
        for step in steps {
            for entry in reached { if let attribute = entry.attribute { body(attribute) } }
            reached = reached.flatMap { $0.children(at: step, in: content) }
            if reached.isEmpty { return }
            content = content?.child(step)
        }
        for entry in reached { entry.forEachAttribute(body) }
    }

    /// Calls `set` with every place that may differ between two values of the attribute, and its new content.
    /// Cost: O(children of the containers that differ) at worst, O(changed elements) for lists whose elements are
    /// shared.
    func refresh(from old: Value, to new: Value, _ set: (AttributeID, Content) -> Void) {
        var pending: [(Entry, Value?, Content)] = [(root, old, .value(new))]
        while let (entry, old, content) = pending.popLast() {
            if let attribute = entry.attribute { set(attribute, content) }
            if entry.isLeaf { continue }
            let new = content.value
            if let old, let new, old.isIdentical(to: new) { continue }
            if entry.children.areMany, let old, let new {
                if refreshChanged(entry, old, new, &pending) {
                    for field in entry.fields { refreshElements(field, old, content, &pending) }
                    continue
                }
            }
            entry.children.forEach { child in
                let before = old?.child(child.step)
                let after = content.selecting(child.step)
                if let before, case .value(let value) = after, before.isIdentical(to: value) { return }
                pending.append((child, before, after))
            }
            for field in entry.fields { refreshElements(field, old, content, &pending) }
        }
    }

    /// For containers in which many places are read: visits the parts of the container that differ, instead of all
    /// places that are read.
    /// - Returns: whether the containers could be compared place by place.
    private func refreshChanged(
        _ entry: Entry, _ old: Value, _ new: Value, _ pending: inout [(Entry, Value?, Content)]
    ) -> Bool {
        switch (old, new) {
        case (.list(let before), .list(let after)):
            var position = 0
            while position < max(before.count, after.count) {
                defer { position += 1 }
                if position < min(before.count, after.count) {
                    position += IdenticalRun.countFrom(
                        before, from: position, after, from: position, count: min(before.count, after.count) - position)
                }
                let (x, y) = (
                    position < before.count ? before[position] : nil, position < after.count ? after[position] : nil
                )
                if let x, let y, x.isIdentical(to: y) { continue }
                let step = AttributePath.Step.index(position)
                guard let child = entry.children[step] else { continue }
                pending.append((child, x, y.map { .value($0) } ?? new.select(step)))
            }
            return true
        case (.map(let before), .map(let after)):
            // A write to one entry keeps the order of all entries.
            guard before.count == after.count else { return false }
            var found: [(Entry, Value?, Content)] = []
            for position in 0..<before.count {
                let (x, y) = (before.entry(at: position), after.entry(at: position))
                guard case .string(let key) = x.key, x.key == y.key else { return false }
                if x.value.isIdentical(to: y.value) { continue }
                if let child = entry.children[.key(key)] { found.append((child, x.value, .value(y.value))) }
            }
            pending.append(contentsOf: found)
            return true
        default: return false
        }
    }

    /// Refreshes elements that are read by id: only those in the stretch that differs.
    private func refreshElements(
        _ field: Field, _ old: Value?, _ content: Content, _ pending: inout [(Entry, Value?, Content)]
    ) {
        guard case .list(let before)? = old, case .value(.list(let after)) = content else {
            _ = field.forgetList([])
            for (id, entry) in field.entries {
                let step = AttributePath.Step.element(field: field.name, value: id)
                pending.append((entry, old?.child(step), content.selecting(step)))
            }
            return
        }
        let isUnique = field.forgetList(before)
        let shorter = min(before.count, after.count)
        let prefix = IdenticalRun.countFrom(before, from: 0, after, from: 0, count: shorter)
        let suffix = IdenticalRun.countFromEnd(before, after, count: shorter - prefix)
        if let rotation = ListChange.rotation(
            from: before, prefix..<before.count - suffix, to: after, prefix..<after.count - suffix)
        {
            // Nothing changes for readers by id, unless the element that has moved has passed one with the same id.
            guard !isUnique, let id = after[prefix + rotation.moved].id(by: field.name),
                let entry = field.entry(of: id),
                let first = after.position(of: id, by: field.name).map({ after[$0] }),
                let oldFirst = before.position(of: id, by: field.name).map({ before[$0] }),
                !oldFirst.isIdentical(to: first)
            else { return }
            pending.append((entry, oldFirst, .value(first)))
            return
        }
        var touched: [Value: (Value?, Value?)] = [:]
        for element in before[prefix..<before.count - suffix].reversed() {
            if let id = element.id(by: field.name) { touched[id] = (element, nil) }
        }
        for element in after[prefix..<after.count - suffix].reversed() {
            if let id = element.id(by: field.name) { touched[id] = (touched[id]?.0, element) }
        }
        var locator = ElementLocator()
        for (id, (oldElement, newElement)) in touched {
            guard let entry = field.entry(of: id) else { continue }
            // If there may be a twin with the same id outside the stretch, the first of both counts.
            let hasNoTwin = isUnique && oldElement != nil
            let first = hasNoTwin ? newElement : locator.findElement(id, field.name, in: after).map { after[$0] }
            guard let first else {
                let failure = ProjectionTree.missing(.element(field: field.name, value: id))
                pending.append((entry, oldElement, .failure(failure)))
                continue
            }
            if oldElement?.isIdentical(to: first) != true { pending.append((entry, oldElement, .value(first))) }
        }
    }
}

extension Content {
    func selecting(_ step: AttributePath.Step) -> Content {
        guard case .value(let value) = self else { return self }
        return value.select(step)
    }

    func selecting(_ steps: some Collection<AttributePath.Step>) -> Content {
        guard case .value(let value) = self else { return self }
        return value.select(steps)
    }
}
