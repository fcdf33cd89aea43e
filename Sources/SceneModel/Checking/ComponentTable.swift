import AttributeValues
import RuleLanguage

/// The components of a document, and those whose bodies are being read.
final class ComponentTable {
    final class Component {
        enum Progress { case untouched, reading, done }

        let entry: DocumentEntry
        let definition = NodeDefinition()
        fileprivate(set) var progress = Progress.untouched
        /// Its instances would be endless; the fault has been added.
        fileprivate(set) var isEndless = false

        fileprivate init(_ entry: DocumentEntry) { self.entry = entry }
    }

    private let cursor: CheckCursor
    private let vocabulary: Vocabulary
    private var components: [String: Component] = [:]
    /// Names, with used components before their users.
    private(set) var order: [String] = []
    /// The components whose bodies are being read, outermost first.
    private(set) var reading: [String] = []
    /// Reads the body of a component that is used before its turn.
    var readBody: (Component) -> Void = { _ in }

    init(_ cursor: CheckCursor, _ vocabulary: Vocabulary) {
        self.cursor = cursor
        self.vocabulary = vocabulary
    }

    subscript(name: String) -> Component? { components[name] }

    func declare(_ written: DocumentNode) {
        var names: [String] = []
        cursor.visitEntries(written, "components", hint: "write Name: and its body below") { entry in
            guard cursor.checkName(entry.key, "a component") else { return }
            components[entry.name] = Component(entry)
            names.append(entry.name)
        }
        if !cursor.isKept { names += declareUsers(ofAny: names) }
        let uses = components.mapValues { ComponentUses(of: $0.entry.value) }
        refuseEndless(names, uses)
        order = ComponentUses.order(names, uses)
    }

    /// Declares components of the graph again that use components of which the document has others, so that their next
    /// uses have these.
    /// - Returns: the names.
    private func declareUsers(ofAny names: [String]) -> [String] {
        let known = vocabulary.known
        let changed = Set(
            names.filter { name in
                known.written.components[name].map { $0 != components[name]?.entry.value.value } ?? false
            })
        if changed.isEmpty { return [] }
        let users = known.components.filter { components[$0.key] == nil && $0.value.uses(anyOf: changed) }
        for name in users.keys {
            guard let written = known.written.components[name] else { continue }
            components[name] = Component(
                DocumentEntry(key: DocumentNode(scalar: .string(name)), value: DocumentNode(written)))
        }
        return users.keys.sorted()
    }

    /// Adds faults for components that contain themselves other than through the elements of a list.
    private func refuseEndless(_ names: [String], _ uses: [String: ComponentUses]) {
        for name in names where components[name]?.isEndless == false {
            guard let chain = ComponentUses.findChain(from: name, backTo: name, uses) else { continue }
            for member in chain { components[member]?.isEndless = true }
            guard let entry = components[name]?.entry else { continue }
            cursor.fault(
                under: name, "\(name) contains itself without end: \((chain + [name]).joined(separator: " → "))",
                at: entry.key, hint: "a component may repeat itself for the elements of a list that ends, with forEach")
        }
    }

    // MARK: Reading

    func begin(_ component: Component) {
        component.progress = .reading
        reading.append(component.entry.name)
    }

    /// Called when all nodes below a component's root have been read.
    func end(_ component: Component) {
        reading.removeLast()
        component.progress = .done
        let written = component.entry.value.value.withoutAuthor
        component.definition.written = written
        vocabulary.declare(component.definition, named: component.entry.name, written: written)
    }

    /// The component whose body is being checked.
    var current: NodeDefinition? { cursor.component.flatMap { components[$0]?.definition } }

    /// Notes that the body of the current component places its subviews, if the data is made from them.
    func noteSubviews(in data: Expression) {
        guard case .rule(let program) = data,
            program.inputs.contains(where: { $0.root == "subviews" || $0.root == "sections" })
        else { return }
        current?.placing.hasPlaces = true
    }

    // MARK: Use

    /// The component of a use.
    struct Base {
        var definition: NodeDefinition
        var name: String
        /// True if its body is being read: it contains the use.
        var isRepeated = false
        /// True if the document declares it.
        var isOwn = true

        var note: SceneFault.Note? {
            definition.position == .none || !isOwn
                ? nil : SceneFault.Note("\(name) is defined here", definition.position)
        }

        func declaredHere(_ parameter: AttributeDefinition) -> SceneFault.Note? {
            parameter.position == .none || !isOwn ? nil : SceneFault.Note("it is declared here", parameter.position)
        }
    }

    /// The component that a node names; nil after adding a fault.
    /// - Parameter depth: the number of nodes around the use.
    func findBase(_ written: DocumentNode, depth: Int) -> Base? {
        cursor.at("component") {
            guard let name = written.string else {
                return cursor.refuse("component takes a component's name, not \(written.summary)", at: written)
            }
            guard let component = components[name] else { return knownBase(name, at: written) }
            if component.progress == .untouched {
                guard depth <= SceneLimits.repetitionDepth else {
                    let chain = (reading + [name]).joined(separator: " → ")
                    return cursor.refuse(
                        .limit,
                        "components repeat each other more than \(SceneLimits.repetitionDepth) nodes deep: \(chain)",
                        at: component.entry.key)
                }
                readBody(component)
            }
            let isRepeated = component.progress == .reading
            return component.isEndless && isRepeated
                ? nil : Base(definition: component.definition, name: name, isRepeated: isRepeated)
        }
    }

    /// A component that the graph has already.
    private func knownBase(_ name: String, at written: DocumentNode) -> Base? {
        if let known = vocabulary.known.components[name] { return Base(definition: known, name: name, isOwn: false) }
        let names = Set(components.keys).union(vocabulary.known.components.keys)
        return cursor.refuse(
            .notFound, "there is no component '\(name)'", at: written,
            hint: NearestName.hint(name, among: names.sorted()) ?? "components are declared under components")
    }
}

extension NodeDefinition {
    /// True if a component uses one of the components, directly or through others.
    fileprivate func uses(anyOf names: Set<String>) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        var pending = [self]
        while let node = pending.popLast() {
            guard seen.insert(ObjectIdentifier(node)).inserted else { continue }
            if node !== self, let component = node.component, names.contains(component) { return true }
            if let base = node.base { pending.append(base) }
            pending += node.header + node.children + node.footer + (node.forEach?.templates ?? [])
        }
        return false
    }
}
