import AttributeValues
import RuleLanguage

extension SceneChecker {
    static let documentKeys = ["agd", "import", "keys", "types", "components", "nodes", "values", "dangling"]

    /// The parts of a document, in the order of their dependencies.
    enum Stage {
        case beginning
        /// Components that have not been read yet; the next one is last.
        case components([String])
        case nodes
        case done
    }

    /// Continues checking until the steps are used up. A slice ends after a node, after a component, or before the
    /// first of both.
    /// - Returns: true when everything is checked.
    func advance(_ steps: inout Int) -> Bool {
        let before = work
        let limit = steps
        defer { steps -= work - before }
        while work - before < limit {
            if !open.isEmpty {
                readNext()
                continue
            }
            switch stage {
            case .beginning: stage = begin() ? .components(componentOrder.reversed()) : .done
            case .components(var names):
                if let name = componentChain.last {
                    end(component: name)
                } else if let name = names.popLast() {
                    stage = .components(names)
                    nodeDepth = 0
                    begin(component: name)
                } else {
                    (path, treePath) = ([], [])
                    beginNodes()
                    stage = .nodes
                }
            case .nodes:
                (path, treePath) = ([], [])
                if let written = document["nodes"] { at("nodes") { checkSize(top.children, at: written) } }
                if let written = document["values"] { sceneValues = at("values") { values(written) } }
                stage = .done
            case .done: return true
            }
        }
        if case .done = stage { return true }
        return false
    }

    var scene: SceneDefinition { SceneDefinition(declarations: declared, nodes: top.children, values: sceneValues) }

    /// Checks the parts before components and nodes.
    /// - Returns: false if the document is not a scene.
    private func begin() -> Bool {
        known = context.declarations
        for key in SystemEnvironment.keys + SystemEnvironment.others where known.environment[key.name] == nil {
            known.environment[key.name] = key
        }
        typeNames = Set(known.types.keys)
        guard let entries = document.map else {
            fault(
                "a scene is a map with the keys \(SceneChecker.documentKeys.joined(separator: ", ")), not \(document.summary)",
                at: document)
            return false
        }
        for entry in entries where !SceneChecker.documentKeys.contains(entry.name) {
            let isNodeKey = NodeKey(entry.name) != nil
            at(entry.name) {
                fault(
                    "a scene has no key '\(entry.name)'", at: entry.key,
                    hint: isNodeKey
                        ? "write nodes: first, and the node as an element of its list"
                        : NearestName.hint(entry.name, among: SceneChecker.documentKeys)
                            ?? "the keys are \(SceneChecker.documentKeys.joined(separator: ", "))")
            }
        }
        let keys = document["keys"]?.map ?? []
        let named = [document["types"], document["components"]] + keys.map(\.value)
        let declared = named.reduce(0) { $0 + ($1?.count ?? 0) }
        guard declared <= SceneLimits.declarations else {
            fault(
                .limit, "at most \(SceneLimits.declarations) keys, types and components are declared, not \(declared)",
                at: document)
            return false
        }
        if let version = document["agd"] { at("agd") { check(version: version) } }
        if let written = document["import"], !written.isNull { at("import") { checkImports(written) } }
        let types = document["types"].map { node in at("types") { self.entries(node, "types") } } ?? []
        declareTypeNames(types)
        if let keys = document["keys"] { at("keys") { declareKeys(keys) } }
        at("types") { declareTypes(types) }
        if let keys = document["keys"] { at("keys") { checkDefaultObjects(keys) } }
        prepareScopes()
        if let keys = document["keys"] { at("keys") { compileReducers(keys) } }
        if let written = document["components"] { at("components") { declareComponents(written) } }
        return true
    }

    private func checkImports(_ written: DocumentNode) {
        guard context.isFile else {
            return fault(
                "a scene imports files, and nobody has sent any with this document", at: written,
                hint: "apply the file with agctl, which sends what it imports, or send that first and leave import out")
        }
        for node in SceneImports.imports(in: document) where node.string == nil {
            fault(
                "import takes the path of a file, not \(node.summary)", at: node, hint: "write import: lib/gauges.yaml")
        }
    }

    private func beginNodes() {
        // Without an existing tree, the document is applied at the root, whose attributes are the system values.
        let system = SystemEnvironment.keys.map { (name: $0.name, type: $0.type) }
        let all = context.enclosing.isEmpty ? [system] : context.enclosing
        let surroundings = all.enumerated().reversed().reduce(dangling(in: document)) { outer, node in
            let entries = node.element.map {
                ScopeEntry(name: $0.name, type: $0.type, isOutside: node.offset > SceneContext.placeOfNode)
            }
            return LexicalScope(entries, in: outer, base: baseScope)
        }
        guard let written = document["nodes"] else { return }
        at("nodes") {
            let list = elements(written, "nodes", hint: "write each node behind a '-'")
            // The nodes inside a component cannot use names from outside it.
            let place = context.existing?([]).flatMap {
                $0.component != nil ? self.surroundings(below: $0, in: surroundings) : nil
            }
            open.append(
                OpenNode(
                    node: top, place: place ?? Surroundings(enclosing: surroundings), path: path, treePath: [],
                    depth: 0,
                    lists: [OpenNode.List(key: nil, nodes: list, offset: 0, prefix: nil)]))
        }
    }

    /// A scope outside all others with the names that may be undefined.
    private func dangling(in document: DocumentNode) -> LexicalScope? {
        guard let written = document["dangling"] else { return nil }
        guard context.admitsDangling else {
            fault(
                "names that lead nowhere need the right to read the whole tree", at: written, hint: "leave dangling out"
            )
            return nil
        }
        let names = at("dangling") {
            elements(written, "dangling", hint: "list the names that may lead nowhere").filter {
                checkName($0, "a name")
            }
        }
        return LexicalScope(names.map { ScopeEntry(name: $0.text, type: .dyn) }, in: nil, base: baseScope)
    }

    /// `path: literal`. Whether a state has this path is known only after the nodes are made.
    private func values(_ written: DocumentNode) -> [(path: AttributePath, value: Value)] {
        entries(written, "values", hint: "write /node.state: value").compactMap { entry in
            at(entry.name) { () -> (path: AttributePath, value: Value)? in
                do throws(Failure) {
                    let path = try AttributePath(entry.name)
                    if path.attribute != nil { return (path, entry.value.value) }
                    fault("'\(entry.name)' names a node, not a state", at: entry.key, hint: "write /node.state: value")
                } catch {
                    fault("'\(entry.name)' is not a path: \(error.message)", at: entry.key, hint: error.hint)
                }
                return nil
            }
        }
    }

    private func check(version: DocumentNode) {
        guard case .scalar(.int(1)) = version.content else {
            fault("the version of the format is 1, not \(version.summary)", at: version)
            return
        }
    }

    private func prepareScopes() {
        let base = RuleScope(limits: context.rules)
        base.hasPast = true
        base.hasRoot = true
        for (name, type) in known.types {
            base.declareObject(
                name, properties: Dictionary(type.properties.map { ($0.name, RuleType($0.type)) }) { first, _ in first }
            )
        }
        func types(_ keys: [String: KeyDefinition]) -> [String: RuleType] { keys.mapValues { RuleType($0.type) } }
        base.declareNamespace("env", keysAre: "environment key", types(known.environment))
        base.declareNamespace("preferences", keysAre: "preference key", types(known.preference))
        base.declareNamespace("self", keysAre: "property of self", ["id": .string, "path": .string, "index": .int])
        // Lower-case names cannot collide with those of object types.
        let values = RuleType.abstract("containerValues", [])
        let subview = RuleType.abstract("subview", [])
        let subviews = RuleType.list(subview)
        base.declareObject("containerValues", properties: types(known.container), isAssembled: true)
        base.declareObject(
            "subview", properties: ["id": .string, "index": .int, "tag": .dyn, "containerValues": values],
            isAssembled: true)
        base.declareObject(
            "section",
            properties: [
                "id": .string, "index": .int, "header": subviews, "content": subviews, "footer": subviews,
                "containerValues": values,
            ], isAssembled: true)
        baseScope = base
        containerScope = RuleScope(parent: base)
        declareContainerNames(in: containerScope)
    }

    func declareContainerNames(in scope: RuleScope) {
        scope.declare("subviews", RuleType.list(.abstract("subview", [])))
        scope.declare("sections", RuleType.list(.abstract("section", [])))
    }
}

/// Environment keys that every graph has.
public enum SystemEnvironment {
    /// The root has their values as attributes.
    public static var keys: [KeyDefinition] {
        [
            KeyDefinition(name: "locale", type: .string, defaultValue: "en_US"),
            KeyDefinition(name: "timeZone", type: .string, defaultValue: "UTC"),
            KeyDefinition(name: "colorScheme", type: .string, defaultValue: "light"),
            KeyDefinition(name: "reduceMotion", type: .bool, defaultValue: false),
            KeyDefinition(name: "scenePhase", type: .string, defaultValue: "background"),
            KeyDefinition(name: "pixelLength", type: .double, defaultValue: 1.0),
            KeyDefinition(name: "calendar", type: .string, defaultValue: "gregorian"),
        ]
    }

    /// Those that only nodes set.
    public static var others: [KeyDefinition] {
        [
            KeyDefinition(name: "lineLimit", type: .nullable(.int), defaultValue: .null),
            KeyDefinition(name: "truncationMode", type: .string, defaultValue: "tail"),
        ]
    }
}
