import AttributeValues

// `forEach`: one instance for each element of a list.

extension SceneChecker {
    private static let forEachKeys = ["in", "id", "as", "index", "node"]
    /// The keys of a component's use. Beside `component` inside `forEach`, they belong to the template.
    private static let templateKeys: [NodeKey] = [
        .component, .binding, .let, .environment, .transformEnvironment, .containerValues, .tag, .preferences,
        .animation, .transition, .onAppear, .onChange, .onDisappear,
        .children, .header, .content, .footer, .slots,
    ]

    /// - Parameter scope: the scope of the forEach's own node, which its instances can use.
    func forEach(_ written: DocumentNode, _ place: Surroundings, _ scope: LexicalScope?) -> ForEachDefinition? {
        guard let entries = written.map else {
            fault(
                "forEach is a map, not \(written.summary)", at: written,
                hint: "write forEach: {in: $items, component: Name}")
            return nil
        }
        checkKeys(entries, of: "forEach", allowed: SceneChecker.forEachKeys + SceneChecker.templateKeys.map(\.name))
        let idField = idField(written)
        let elementName = name(written, "as", standard: "element")
        let indexName = name(written, "index", standard: "index")
        if elementName == indexName {
            fault(.conflict, "element and index have the same name '\(elementName)'", at: written["index"] ?? written)
        }
        let data = data(written, idField: idField, place)
        let elements = [
            ScopeEntry(
                name: elementName, type: data?.element ?? .dyn,
                access: data?.isWritable ?? true ? .writable : .readOnly("an element of data that cannot be written")),
            ScopeEntry(name: indexName, type: .int, access: .readOnly("an index")),
        ]
        let inner = LexicalScope(elements, in: scope ?? place.enclosing, base: baseScope)
        let outer = treePath
        treePath = nil
        defer { treePath = outer }
        guard let template = template(written, Surroundings(enclosing: inner, elements: elements, isTemplate: true)),
            let data
        else { return nil }
        return ForEachDefinition(
            data: data.expression, idField: idField, elementName: elementName, indexName: indexName, template: template)
    }

    private func idField(_ written: DocumentNode) -> String {
        guard let node = written["id"] else { return "id" }
        guard let field = node.string, !field.isEmpty else {
            at("id") {
                fault(
                    "id names the field that identifies an element, not \(node.summary)", at: node,
                    hint: "write id: self for a list of texts or numbers")
            }
            return "id"
        }
        return field == "self" ? "" : field
    }

    private func name(_ written: DocumentNode, _ key: String, standard: String) -> String {
        guard let node = written[key] else { return standard }
        return at(key) { checkName(node, "'\(key)'") ? node.text : standard }
    }

    private struct Data {
        var expression: Expression
        var element: ValueType
        var isWritable: Bool
    }

    private func data(_ written: DocumentNode, idField: String, _ place: Surroundings) -> Data? {
        guard let node = written["in"] else {
            fault("forEach needs its data", at: written, hint: "write in: $items")
            return nil
        }
        return at("in") {
            let scope = place.scope(base: baseScope)
            var isWritable = false
            let expression: Expression
            let type: ValueType
            if case .reference(let text) = self.written(node) {
                guard let found = reference(text, in: scope, at: node) else { return nil }
                (expression, type) = (.reference(found.reference), found.type)
                if case .writable = found.entry.access { isWritable = !idField.isEmpty }
                if let object = found.object, case .state = object.property.role { isWritable = !idField.isEmpty }
            } else {
                guard let made = self.expression(node, in: scope, rules: { self.dataRules(place) }) else { return nil }
                (expression, type) = made
                noteSubviews(in: expression)
            }
            var list = type
            if case .nullable(let wrapped) = list { list = wrapped }
            switch list {
            case .dyn: return Data(expression: expression, element: .dyn, isWritable: isWritable)
            case .list(let element):
                if case .literal(.list(let elements)) = expression {
                    checkIDs(elements, idField, node)
                    let types = Set(elements.map { ValueType(of: $0) })
                    return Data(
                        expression: expression, element: types.count == 1 ? types.first ?? .dyn : .dyn,
                        isWritable: false)
                }
                return Data(expression: expression, element: element, isWritable: isWritable)
            default:
                fault(
                    .typeMismatch, "forEach needs a list, but this is \(type.withArticle)", at: node,
                    hint: node.string.map { ReservedNames.roots.contains($0) ? "write in: =\($0)" : "write in: $\($0)" }
                )
                return nil
            }
        }
    }

    /// Adds faults for mistakes that would be errors of every run.
    private func checkIDs(_ elements: ValueList, _ idField: String, _ node: DocumentNode) {
        var seen: Set<Value> = []
        for (position, element) in elements.enumerated() {
            let place = node.list.map { $0[position] } ?? node
            at(position) {
                let id = idField.isEmpty ? element : element.id(by: idField)
                switch id {
                case .string?, .int?, .uint?, .bool?: break
                default:
                    let isScalar = element.map == nil && element.list == nil
                    return fault(
                        idField.isEmpty
                            ? "\(place.summary) cannot be its own id" : "the element has no usable '\(idField)'",
                        at: place,
                        hint: isScalar
                            ? "write id: self" : "give every element its own text or number, and name it with id:")
                }
                if let id, !seen.insert(id).inserted { fault(.conflict, "two elements have the id \(id)", at: place) }
            }
        }
    }

    private func template(_ written: DocumentNode, _ place: Surroundings) -> NodeDefinition? {
        if let node = written["node"] {
            for key in SceneChecker.templateKeys {
                guard let other = written[key.name] else { continue }
                at(key.name) { fault("forEach has node already: \(key.name) belongs inside it", at: other) }
            }
            return at("node") {
                guard let fields = self.fields(node) else { return nil }
                if let id = fields[.id] {
                    at("id") {
                        fault(
                            "instances of a forEach are named by their element", at: id,
                            hint: "name the element's field with id: beside in:")
                    }
                }
                return self.node(fields, id: "", place)
            }
        }
        guard written["component"] != nil else {
            fault("forEach needs what to make of an element", at: written, hint: "write component: Name, or node: {…}")
            return nil
        }
        // Here `id` names the field of the element. Faults for unknown keys have been added already.
        let fields = NodeFields(written) { _ in }.without(
            NodeKey.allCases.filter { !SceneChecker.templateKeys.contains($0) })
        return node(fields, id: "", place)
    }
}
