import AttributeValues
import RuleLanguage

/// Checks a document and makes its definitions. Faults are collected, never thrown: after a fault, the rest is still
/// checked.
///
/// Recursion follows the document's nesting, which `SceneLimits.nesting` bounds.
final class SceneChecker {
    let faults: FaultCollector
    let lines: SourceLines?
    let context: SceneContext
    /// The declarations of the document, later also those of the graph and the system's keys.
    var declared = Declarations()
    var known = Declarations()
    /// The names of all object types, declared now or before. Complete before any type is read.
    var typeNames: Set<String> = []
    var components: [String: ComponentState] = [:]
    /// Components whose bodies are being read, outermost first.
    var componentChain: [String] = []
    /// Number of nodes that are being read, inside each other.
    var nodeDepth = 0
    /// The names that all rules can use: `env`, `preferences`, `self`, object types.
    var baseScope = RuleScope()
    /// The same and the names for containers: `subviews`, `sections`.
    var containerScope = RuleScope()
    var computedCache: [ComputedKey: [ComputedRule]] = [:]
    var toldOfNodeLimit = false
    /// Nodes whose children are being read, outermost first.
    var open: [OpenNode] = []
    /// The part to be checked next.
    var stage = Stage.beginning
    let document: DocumentNode
    /// The parent of the document's nodes. It is not one of them.
    let top = NodeDefinition()
    var sceneValues: [(path: AttributePath, value: Value)] = []
    /// Names of the document's components, with used ones before their users.
    var componentOrder: [String] = []
    /// Steps taken since the checking began.
    var work = 0

    /// The present position of the check, for faults.
    var path: [Step] = []
    /// Ids of the surrounding nodes, for finding the existing node; nil inside components and `forEach`.
    var treePath: [String]? = []

    enum Step {
        case key(String)
        case index(Int)
    }

    init(_ context: SceneContext, _ faults: FaultCollector, _ lines: SourceLines?, _ document: DocumentNode) {
        self.document = document
        self.context = context
        self.faults = faults
        self.lines = lines
    }

    // MARK: Faults

    func fault(
        _ message: @autoclosure () -> String, at node: DocumentNode, hint: @autoclosure () -> String? = nil,
        note: SceneFault.Note? = nil
    ) {
        fault(.invalid, message(), at: node, hint: hint(), note: note)
    }

    func fault(
        _ code: ErrorCode, _ message: @autoclosure () -> String, at node: DocumentNode,
        hint: @autoclosure () -> String? = nil, note: SceneFault.Note? = nil
    ) {
        faults.add(SceneFault(code, message(), place: place, position: node.position, hint: hint(), note: note))
    }

    /// `nodes[2].computed.symbol`
    var place: String {
        var text = ""
        for step in path {
            switch step {
            case .index(let index): text += "[\(index)]"
            case .key(let key):
                let step = AttributePath.Step.key(key).description
                text += text.isEmpty && step.hasPrefix(".") ? String(step.dropFirst()) : step
            }
        }
        return text
    }

    func at<R>(_ key: String, _ body: () -> R) -> R {
        path.append(.key(key))
        defer { path.removeLast() }
        return body()
    }

    func at<R>(_ index: Int, _ body: () -> R) -> R {
        path.append(.index(index))
        defer { path.removeLast() }
        return body()
    }

    // MARK: Shapes

    /// The entries of a map. Any other value is a fault and has none. A missing value (`state:` alone) is an empty map.
    func entries(_ node: DocumentNode, _ what: String, hint: String? = nil) -> [DocumentEntry] {
        if node.isNull { return [] }
        if let entries = node.map { return entries }
        fault("\(what) is a map, not \(node.summary)", at: node, hint: hint)
        return []
    }

    func elements(_ node: DocumentNode, _ what: String, hint: String? = nil) -> [DocumentNode] {
        if node.isNull { return [] }
        if let elements = node.list { return elements }
        fault("\(what) is a list, not \(node.summary)", at: node, hint: hint)
        return []
    }

    /// Adds faults for keys that are not allowed.
    func checkKeys(_ entries: [DocumentEntry], of what: String, allowed: [String]) {
        for entry in entries where !allowed.contains(entry.name) {
            at(entry.name) { unknownKey(entry.key, of: what, allowed: allowed) }
        }
    }

    func unknownKey(_ key: DocumentNode, of what: String, allowed: [String]) {
        fault(
            "\(what) has no key '\(key.text)'", at: key,
            hint: NearestName.hint(key.text, among: allowed) ?? "the keys are \(allowed.joined(separator: ", "))")
    }

    /// Returns true for a name that rules and paths can use; otherwise adds a fault.
    func checkName(_ node: DocumentNode, _ what: String) -> Bool {
        let name = node.text
        let isIdentifier =
            name.utf8.first.map { !(48...57).contains($0) } ?? false
            && name.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95
            }
        guard isIdentifier else {
            fault(
                "\(what) '\(name)' is not an identifier", at: node,
                hint: "a name is made of letters, digits and _, and does not begin with a digit")
            return false
        }
        guard name.utf8.count <= SceneLimits.nameLength else {
            fault(.limit, "\(what) is longer than \(SceneLimits.nameLength) bytes", at: node)
            return false
        }
        guard !ReservedNames.all.contains(name) else {
            fault("\(what) cannot be '\(name)': the word has a meaning in rules", at: node)
            return false
        }
        return true
    }

    // MARK: Types

    /// A written type; object types must be declared.
    func type(_ node: DocumentNode) -> ValueType? {
        guard let text = node.string else {
            fault("a type is a text such as double or list(string), not \(node.summary)", at: node)
            return nil
        }
        guard let type = ValueType(text) else {
            fault(
                "'\(text)' is not a type", at: node,
                hint: "types are such as int, double?, list(string), map(string, int), vector(3), color")
            return nil
        }
        for name in type.objectNames where !typeNames.contains(name) {
            fault(
                .notFound, "there is no type '\(name)'", at: node,
                hint: NearestName.hint(name, among: ValueType.builtInNames + typeNames.sorted())
                    ?? "object types are declared under types")
            return nil
        }
        return type
    }

    /// The type under the key `type`, if there is one. The outer nil means that it is faulty.
    func writtenType(_ node: DocumentNode) -> ValueType?? {
        guard let written = node["type"] else { return .some(nil) }
        guard let type = at("type", { self.type(written) }) else { return nil }
        return .some(type)
    }

    /// The type of a rule's results, as an attribute's type.
    func type(of program: Program) -> ValueType {
        program.resultType.valueType.known { typeNames.contains($0) }
    }
}

/// Names that have a meaning in every rule, or that rules cannot contain.
enum ReservedNames {
    static let roots: Set<String> = ["env", "self", "preferences", "subviews", "sections"]
    static let all: Set<String> = roots.union([
        "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
        "let", "loop", "package", "namespace", "return", "var", "void", "while",
    ])
}
