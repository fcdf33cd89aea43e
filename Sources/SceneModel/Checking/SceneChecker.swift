import AttributeValues
import RuleLanguage

/// Checks a document and makes its definitions, in the order of their dependencies: keys and types, components, nodes,
/// values. Faults are collected, never thrown: after a fault, the rest is still checked.
///
/// Recursion follows the document's nesting, which `SceneLimits.nesting` bounds.
final class SceneChecker {
    private enum Stage {
        case beginning
        case components(SceneWalk)
        case nodes(SceneWalk)
        case done([NodeDefinition])
    }

    private static let keys = SceneForm.scene.keys

    private let document: DocumentNode
    private let context: SceneContext
    private let cursor: CheckCursor
    private let vocabulary: Vocabulary
    private var stage = Stage.beginning
    private var hasFormerPlaces = false
    private var values: [(path: AttributePath, value: Value)] = []

    init(_ context: SceneContext, _ faults: FaultCollector, _ document: DocumentNode) {
        self.document = document
        self.context = context
        cursor = CheckCursor(faults, isKept: context.isKept)
        cursor.authors = PartAuthors(context.author)
        vocabulary = Vocabulary(context.declarations)
    }

    /// The result; nil before the end.
    var scene: SceneDefinition? {
        guard case .done(let nodes) = stage else { return nil }
        var scene = SceneDefinition(declarations: vocabulary.declared, nodes: nodes, values: values)
        scene.written = cursor.written
        scene.hasFormerPlaces = hasFormerPlaces
        return scene
    }

    /// Continues checking until the steps are used up. A slice ends after a node, after a component, or before the
    /// first of both.
    /// - Returns: true when everything is checked.
    func advance(_ steps: inout Int) -> Bool {
        let before = cursor.work
        let limit = steps
        defer { steps -= cursor.work - before }
        while cursor.work - before < limit {
            switch stage {
            case .beginning: stage = begin().map { .components($0) } ?? .done([])
            case .components(let walk):
                if walk.readNext() || walk.readNextComponent() { continue }
                cursor.path = []
                if let written = document["nodes"] { cursor.at("nodes") { beginNodes(written, walk) } }
                stage = .nodes(walk)
            case .nodes(let walk):
                if walk.readNext() { continue }
                cursor.path = []
                walk.checkFormerPlaces()
                hasFormerPlaces = walk.hasFormerPlaces
                cursor.path = []
                let nodes = walk.top.children
                if let written = document["nodes"] { cursor.at("nodes") { walk.size.check(nodes, at: written) } }
                if let written = document["values"] { values = cursor.at("values") { values(written) } }
                stage = .done(nodes)
            case .done: return true
            }
        }
        return scene != nil
    }

    /// Checks the parts before components and nodes.
    /// - Returns: the reading of components and nodes; nil if the document is not a scene.
    private func begin() -> SceneWalk? {
        guard let entries = document.map else {
            return cursor.refuse(
                "a scene is a map with the keys \(SceneChecker.keys.joined(separator: ", ")), not \(document.summary)",
                at: document)
        }
        for entry in entries where !SceneChecker.keys.contains(entry.name) {
            let isNodeKey = NodeKey(entry.name) != nil
            cursor.fault(
                under: entry.name, "a scene has no key '\(entry.name)'", at: entry.key,
                hint: isNodeKey
                    ? "write nodes: first, and the node as an element of its list"
                    : NearestName.hint(entry.name, among: SceneChecker.keys)
                        ?? "the keys are \(SceneChecker.keys.joined(separator: ", "))")
        }
        let keys = document["keys"]?.map ?? []
        let named = [document["functions"], document["types"], document["components"]] + keys.map(\.value)
        let count = named.reduce(0) { $0 + ($1?.count ?? 0) }
        guard count <= SceneLimits.declarations else {
            return cursor.refuse(
                .limit,
                "at most \(SceneLimits.declarations) functions, keys, types and components are declared, not \(count)",
                at: document)
        }
        if let version = document["agd"] { cursor.at("agd") { check(version: version) } }
        if let written = document["import"], !written.isNull { cursor.at("import") { checkImports(written) } }
        return declare()
    }

    private func declare() -> SceneWalk {
        let expressions = ExpressionReader(cursor: cursor, vocabulary: vocabulary, valueSize: context.valueSize)
        let types = TypeReader(expressions: expressions, limits: context.rules, refusesCycles: context.refusesCycles)
        let written = document["types"].map { node in cursor.at("types") { cursor.readEntries(node, "types") } } ?? []
        cursor.at("types") { types.declareNames(written) }
        let functions =
            document["functions"].map { node in
                cursor.at("functions") { expressions.declareFunctions(node, limits: context.rules) }
            } ?? []
        if let node = document["keys"] { cursor.at("keys") { expressions.declareKeys(node) } }
        cursor.at("types") { types.declare(written) }
        if let node = document["keys"] {
            cursor.at("keys") {
                expressions.checkDefaultsOfKeys(node)
                expressions.compileReducers(node, limits: context.rules)
            }
        }
        let components = ComponentTable(cursor, vocabulary)
        if let node = document["components"] {
            cursor.at("components") { components.declare(node) }
        }
        let standard = RuleScope(standardFor: vocabulary.known, limits: context.rules)
        for (function, rule) in functions {
            cursor.at(["functions", function.head]) { expressions.check(function, rule, in: standard) }
        }
        let computed = ComputedReader(expressions, in: standard, refusesCycles: context.refusesCycles)
        let parts = PartReader(expressions: expressions, computed: computed)
        cursor.at("types") { types.readActions(written, parts) }
        return SceneWalk(parts, components, TreePosition(cursor, LexicalScope(standard), context))
    }

    private func checkImports(_ written: DocumentNode) {
        guard context.isFile else {
            return cursor.fault(
                "this document was sent without the files that it imports", at: written,
                hint: "apply the file with agctl, which sends them too, or apply them first and leave import out")
        }
        for node in SceneImports.paths(in: document) where node.string == nil {
            cursor.fault(
                "import takes the path of a file, not \(node.summary)", at: node, hint: "write import: lib/gauges.yaml")
        }
    }

    private func beginNodes(_ written: DocumentNode, _ walk: SceneWalk) {
        // Without an existing tree, the document is applied at the root, whose attributes are the system values.
        let system = SystemEnvironment.keys.map { (name: $0.name, type: $0.type) }
        let all = context.enclosing.isEmpty ? [system] : context.enclosing
        let root = walk.root
        let scope = all.enumerated().reversed().reduce(dangling(in: root) ?? root) { outer, node in
            let entries = node.element.map {
                ScopeEntry(name: $0.name, type: $0.type, outside: Name($0.name))
            }
            return LexicalScope(entries, in: outer)
        }
        walk.beginNodes(cursor.readElements(written, "nodes", hint: "write a '-' before each node"), in: scope)
    }

    /// A scope outside all others with the names that may be undefined.
    private func dangling(in root: LexicalScope) -> LexicalScope? {
        guard let written = document["dangling"] else { return nil }
        guard context.admitsDangling else {
            return cursor.refuse(
                "dangling needs the right 'read' on the whole tree", at: written, hint: "leave dangling out")
        }
        let names = cursor.at("dangling") {
            cursor.readElements(written, "dangling", hint: "list the names that may be undefined").filter {
                cursor.checkName($0, "a name")
            }
        }
        return LexicalScope(names.map { ScopeEntry(name: $0.text, type: .dyn) }, in: root)
    }

    /// `path: literal`. Whether a state has this path is known only after the nodes are made.
    private func values(_ written: DocumentNode) -> [(path: AttributePath, value: Value)] {
        cursor.readEntries(written, "values", hint: "write /node.state: value").compactMap { entry in
            cursor.at(entry.name) { () -> (path: AttributePath, value: Value)? in
                do throws(Failure) {
                    let path = try AttributePath(entry.name)
                    if path.attribute != nil {
                        cursor.warnOfSigns(
                            entry.value, "values are literals", hint: "write a literal, or a rule at the node itself")
                        return (path, entry.value.value)
                    }
                    cursor.fault(
                        "'\(entry.name)' names a node, not a state", at: entry.key, hint: "write /node.state: value")
                } catch {
                    cursor.fault("'\(entry.name)' is not a path: \(error.message)", at: entry.key, hint: error.hint)
                }
                return nil
            }
        }
    }

    private func check(version: DocumentNode) {
        guard case .scalar(.int(SceneLimits.formatVersion)) = version.content else {
            cursor.fault(
                "the version of the format is \(SceneLimits.formatVersion), not \(version.summary)", at: version)
            return
        }
    }
}
