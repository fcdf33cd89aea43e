import AttributeValues
import RuleLanguage

// Reads `forEach`: one instance for each element of a list, or each entry of a map.
extension NodeReader {
    /// The keys of a component's use. Beside `component` inside `forEach`, they belong to the template.
    static let templateKeys: [NodeKey] = [
        .component, .binding, .let, .environment, .transformEnvironment, .containerValues, .tag, .preferences,
        .animation, .transition, .past, .onAppear, .onChange, .onDisappear, .children, .header, .content, .footer,
        .slots,
    ]

    /// A `forEach` without its template.
    struct ForEachHead {
        /// nil after adding a fault.
        fileprivate var data: ForEachData?
        fileprivate var idField: String
        /// Element and index.
        fileprivate(set) var elements: [ScopeEntry]

        func complete(with template: NodeDefinition, by author: PartAuthor) -> ForEachDefinition? {
            data.map {
                var made = ForEachDefinition(
                    data: $0.expression, idField: idField, elementName: elements[0].name, indexName: elements[1].name,
                    template: template)
                made.author = author
                return made
            }
        }
    }

    /// - Parameter scope: the names that the data can use.
    func readForEach(_ written: DocumentNode, in scope: LexicalScope) -> ForEachHead? {
        guard let entries = written.map else {
            return cursor.refuse(
                "forEach is a map, not \(written.summary)", at: written,
                hint: "write forEach: {in: $items, component: Name}")
        }
        cursor.checkKeys(entries, of: "forEach", allowed: SceneForm.forEach.keys)
        let elementName = name(written, "as", standard: "element")
        let idField = idField(written, of: elementName)
        let indexName = name(written, "index", standard: "index")
        if elementName == indexName {
            cursor.fault(
                .conflict, "element and index have the same name '\(elementName)'", at: written["index"] ?? written)
        }
        let data = data(written, idField: idField, scope)
        let elements = [
            ScopeEntry(
                name: elementName, type: data?.element ?? .dyn,
                access: data?.isWritable ?? true ? .writable : .readOnly("an element of data that cannot be written"),
                outside: data?.outside),
            ScopeEntry(name: indexName, type: .int, access: .readOnly("an index")),
        ]
        return ForEachHead(data: data, idField: idField, elements: elements)
    }

    private func idField(_ written: DocumentNode, of element: String) -> String {
        guard let node = written["id"] else { return "id" }
        guard let field = node.string, !field.isEmpty else {
            cursor.fault(
                under: "id", "id names the field that identifies an element, not \(node.summary)", at: node,
                hint: "write id: self for a list of texts or numbers")
            return "id"
        }
        if field == "self" { return "" }
        guard !cursor.isKept else { return field }
        var name = field.drop { $0 == "=" || $0 == "$" || $0 == " " }
        let hasSign = name.count < field.count
        if name.hasPrefix(element + ".") { name = name.dropFirst(element.count + 1) }
        let hint = "write id: \(name.elementsEqual(element) ? "self" : name)"
        if hasSign {
            cursor.fault(
                under: "id", "id names a field of an element, and is neither a rule nor a reference", at: node,
                hint: hint)
        } else if name.count < field.count {
            cursor.at("id") {
                cursor.warn(
                    "'\(field)' looks for a field '\(element)' in each element: the name of the element is left out",
                    at: node, hint)
            }
        }
        return field
    }

    private func name(_ written: DocumentNode, _ key: String, standard: String) -> String {
        guard let node = written[key] else { return standard }
        return cursor.at(key) { cursor.checkName(node, "'\(key)'") ? node.text : standard }
    }

    fileprivate struct ForEachData {
        var expression: Expression
        var element: ValueType
        var isWritable: Bool
        /// See `ScopeEntry`.
        var outside: Name?
    }

    private func data(_ written: DocumentNode, idField: String, _ scope: LexicalScope) -> ForEachData? {
        guard let node = written["in"] else {
            return cursor.refuse("forEach needs its data", at: written, hint: "write in: $items")
        }
        return cursor.at("in") {
            var isWritable = false
            var outside: Name?
            let expression: Expression
            let type: ValueType
            if case .reference(let text) = node.form {
                guard let found = expressions.resolve(text, in: scope, at: node) else { return nil }
                (expression, type) = (.reference(found.reference), found.type)
                outside = found.entry.outside
                if case .writable = found.entry.access { isWritable = !idField.isEmpty }
                if let object = found.property, case .state = object.property.role { isWritable = !idField.isEmpty }
            } else {
                guard let made = expressions.expression(node, in: expressions.dataScope(scope)) else { return nil }
                (expression, type) = made
                components.noteSubviews(in: expression)
            }
            var list = type
            if case .nullable(let wrapped) = list { list = wrapped }
            switch list {
            case .dyn:
                return ForEachData(
                    expression: expression, element: .dyn, isWritable: isWritable, outside: outside)
            case .list(let element):
                if case .literal(.list(let elements)) = expression {
                    checkIDs(elements, idField, node)
                    let types = Set(elements.map { ValueType(of: $0) })
                    return ForEachData(
                        expression: expression, element: types.count == 1 ? types.first ?? .dyn : .dyn,
                        isWritable: false)
                }
                return ForEachData(
                    expression: expression, element: element, isWritable: isWritable, outside: outside)
            case .map(_, let element):
                return ForEachData(
                    expression: expression, element: element, isWritable: isWritable, outside: outside)
            default:
                return cursor.refuse(
                    .typeMismatch, "forEach needs a list or a map, but this is \(type.withArticle)", at: node,
                    hint: hint(forData: node, in: scope))
            }
        }
    }

    /// The hint for data that is no list: how to write it right.
    private func hint(forData node: DocumentNode, in scope: LexicalScope) -> String {
        if case .literal(.string(let text)) = node.form {
            let known = expressions.dataScope(scope)
            if ReservedNames.roots.contains(text) { return "write in: =\(text)" }
            if scope.find(text) != nil { return "write in: $\(text)" }
            if Rule.reading(text, in: known.rules) != nil { return "write in: =\(text)" }
        }
        let lists = scope.names.filter { name in
            switch scope.find(name)?.type {
            case .list?, .map?: true
            default: false
            }
        }
        let known =
            lists.isEmpty
            ? "" : "; lists and maps in scope are \(lists.prefix(12).map { "$" + $0 }.joined(separator: ", "))"
        return
            "write a reference to a list or a map, as in: $items, or a rule that makes one, as in: =[1, 2, 3]\(known)"
    }

    /// Adds faults for ids that would be errors in every run.
    private func checkIDs(_ elements: ValueList, _ idField: String, _ node: DocumentNode) {
        var seen: Set<Value> = []
        for (position, element) in elements.enumerated() {
            let place = node.list.map { $0[position] } ?? node
            cursor.at(position) {
                let id = idField.isEmpty ? element : element.id(by: idField)
                switch id {
                case .string?, .int?, .uint?, .bool?: break
                default:
                    let isScalar = element.map == nil && element.list == nil
                    return cursor.fault(
                        idField.isEmpty
                            ? "\(place.summary) cannot be its own id" : "the element has no usable '\(idField)'",
                        at: place,
                        hint: isScalar
                            ? "write id: self" : "give every element its own text or number, and name it with id:")
                }
                if let id, !seen.insert(id).inserted {
                    cursor.fault(.conflict, "two elements have the id \(id)", at: place)
                }
            }
        }
    }
}
