public import AttributeValues

/// A declaration of a scene: a key, an object type or a component. It applies to all scenes that are applied later.
public protocol Declaration {
    var declaration: DeclarationDraft { get }
}

/// A declaration in the form of a document. The declarations of this module make it.
public struct DeclarationDraft {
    /// The keys of the document under which it is listed: `["keys", "environment"]`.
    let section: [String]
    let name: String
    let document: Value
    let mistakes: [SceneMistake]

    fileprivate init(
        _ section: [String], _ name: String, _ document: Value, _ what: String, _ mistakes: [SceneMistake] = []
    ) {
        self.section = section
        self.name = name
        self.document = document
        let problem = SceneNames.problem(ofName: name, what)
        self.mistakes = (mistakes + (problem.map { [SceneMistake(place: "", message: $0)] } ?? [])).map {
            $0.inside((section + [name]).joined(separator: "."))
        }
    }

    fileprivate init(function head: String, _ rule: Value, problem: String?) {
        section = ["functions"]
        name = head
        document = rule
        mistakes = (problem.map { [SceneMistake(place: "", message: $0)] } ?? []).map { $0.inside("functions.\(head)") }
    }

    fileprivate init(key name: String, in group: String, _ standard: Value?, _ type: String?, reduce: String? = nil) {
        var form = ValueMap()
        form["default"] = standard ?? .null
        form["type"] = type.map { .string($0) }
        form["reduce"] = reduce.map { .string($0) }
        self.init(
            ["keys", group], name, .map(form), "a key",
            standard?.problemInDocument.map { [SceneMistake(place: "default", message: $0)] } ?? [])
    }
}

/// A key of the environment. The default determines the type unless one is given.
public struct EnvironmentKey: Declaration {
    public let declaration: DeclarationDraft

    public init(_ name: String, default standard: Value, type: String? = nil) {
        declaration = DeclarationDraft(key: name, in: "environment", standard, type)
    }

    /// A key whose type accepts null, which is its default.
    public init(_ name: String, type: String) {
        declaration = DeclarationDraft(key: name, in: "environment", nil, type)
    }
}

/// A key of container values.
public struct ContainerValueKey: Declaration {
    public let declaration: DeclarationDraft

    public init(_ name: String, default standard: Value, type: String? = nil) {
        declaration = DeclarationDraft(key: name, in: "container", standard, type)
    }

    public init(_ name: String, type: String) { declaration = DeclarationDraft(key: name, in: "container", nil, type) }
}

/// A key of preferences.
public struct PreferenceKey: Declaration {
    public let declaration: DeclarationDraft

    /// - Parameter reduce: the rule that combines two values, CEL over `value` and `next`; nil if the last value wins.
    public init(_ name: String, default standard: Value, type: String? = nil, reduce: String? = nil) {
        declaration = DeclarationDraft(key: name, in: "preference", standard, type, reduce: reduce)
    }

    public init(_ name: String, type: String, reduce: String? = nil) {
        declaration = DeclarationDraft(key: name, in: "preference", nil, type, reduce: reduce)
    }
}

/// A rule with parameters, which other rules call by its name.
///
///     Function("isLate", ["train"], rule: "train.delay >= 5")
public struct Function: Declaration {
    public let declaration: DeclarationDraft

    public init(_ name: String, _ parameters: [String], rule: String) {
        let wrong = ([name] + parameters).lazy.compactMap { SceneNames.problem(ofName: $0, "a name") }.first
        declaration = DeclarationDraft(
            function: "\(name)(\(parameters.joined(separator: ", ")))", .string(rule), problem: wrong)
    }
}

/// A type of observable objects with stored and computed properties. Each property is tracked separately.
public struct ObjectType: Declaration {
    public let declaration: DeclarationDraft

    public init(_ name: String, @PropertyBuilder _ properties: () -> [AttributeDraft]) {
        var node = NodeDraft(id: nil)
        for property in properties() { node.add(property) }
        declaration = DeclarationDraft(["types"], name, node.document, "an object type", node.mistakes)
    }
}

/// A reusable node: the root of its body. Its `Let` and `Binding` are the parameters. Modifiers belong to the body.
public struct Component: Declaration, Modifiable {
    public enum Kind: String {
        case view, container, group, section
    }

    private let name: String
    /// The root of the body.
    public var draft: NodeDraft

    /// - Parameters:
    ///   - kind: nil to infer it: a container if there are children, else a view. A use that gives children to such a
    ///     view makes it a container.
    ///   - base: the component of which this one is a variant.
    public init(
        _ name: String, kind: Kind? = nil, of base: String? = nil, @NodeBuilder content: () -> [NodePart] = { [] },
        @ChildrenBuilder header: () -> [NodeDraft] = { [] }, @ChildrenBuilder footer: () -> [NodeDraft] = { [] }
    ) {
        self.name = name
        draft = NodeDraft(id: nil, kind: kind?.rawValue, component: base)
        draft.add(header(), to: "header")
        draft.add(content(), to: "children")
        draft.add(footer(), to: "footer")
    }

    /// A component that makes one node for each element of its data.
    public init(_ name: String, _ forEach: ForEach) {
        self.name = name
        draft = forEach.draft
        if draft.id != nil { draft.tell("a component has no id; give the id where the component is used", at: "id") }
    }
}

extension Component {
    public var declaration: DeclarationDraft {
        DeclarationDraft(["components"], name, draft.document, "a component", draft.mistakes)
    }
}
