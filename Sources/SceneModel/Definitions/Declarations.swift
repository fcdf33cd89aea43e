import AttributeValues
import RuleLanguage

public enum KeyGroup: String, CaseIterable, Sendable { case environment, container, preference }

/// A declared environment, container-value or preference key.
/// Equal keys have the same type, default and rule.
public struct KeyDefinition: Equatable {
    public var name: String
    public var type: ValueType
    public var defaultValue: Value
    /// The default as it was declared. Of objects it says only what differs from their types.
    let written: Value
    /// For preferences, the rule that combines two values, over `value` and `next`.
    public var reduce: Program?

    public init(name: String, type: ValueType, defaultValue: Value, reduce: Program? = nil) {
        self.name = name
        self.type = type
        self.defaultValue = defaultValue
        written = defaultValue
        self.reduce = reduce
    }

    public static func == (a: KeyDefinition, b: KeyDefinition) -> Bool {
        a.type == b.type && a.defaultValue == b.defaultValue && a.reduce == b.reduce
    }
}

/// An observable-object type with stored and computed properties. Each property is tracked separately.
public final class ObjectTypeDefinition: Equatable {
    public let name: String
    /// Only the roles `state` and `computed`.
    public let properties: [AttributeDefinition]
    /// Its methods. Their names are those of properties.
    public internal(set) var actions: [AttributeDefinition] = []
    /// The author of the declaration.
    public internal(set) var author = PartAuthor.daemon
    /// The names of all of them, which are known before the actions.
    let actionNames: [String]

    public init(name: String, properties: [AttributeDefinition], actionNames: [String] = []) {
        self.name = name
        self.properties = properties
        self.actionNames = actionNames
    }

    public func action(_ name: String) -> ActionDefinition? {
        guard let found = actions.first(where: { $0.name.hasSameBytes(as: name) }),
            case .action(let action) = found.role
        else { return nil }
        return action
    }

    /// True if they are the same, whoever has declared them.
    func saysSame(as other: ObjectTypeDefinition) -> Bool {
        properties == other.properties && actions == other.actions
    }

    /// The rules of its computed properties, for objects that are values. They have the limits of the rules themselves.
    private(set) lazy var rules: [String: DeclaredFunction] = {
        var rules: [String: DeclaredFunction] = [:]
        for property in properties {
            guard case .computed(let program) = property.role else { continue }
            rules[property.name] = try? DeclaredFunction(
                property: property.name, of: name, program.text, limits: program.ruleLimits)
        }
        return rules
    }()

    public static func == (a: ObjectTypeDefinition, b: ObjectTypeDefinition) -> Bool {
        a.saysSame(as: b) && a.author == b.author
    }
}

/// The declarations of a document. They also apply to all later documents.
public struct Declarations {
    public var environment: [String: KeyDefinition] = [:]
    public var container: [String: KeyDefinition] = [:]
    public var preference: [String: KeyDefinition] = [:]
    public var types: [String: ObjectTypeDefinition] = [:]
    public var components: [String: NodeDefinition] = [:]
    public var functions: [String: DeclaredFunction] = [:]
    /// The same as written, so that the tree can be written as a document again.
    public var written = WrittenDeclarations()

    public init() {}

    public subscript(group: KeyGroup) -> [String: KeyDefinition] {
        get { self[keyPath: Declarations.member(group)] }
        // In place: a copy for each key would take a time that grows with the square of their number.
        _modify { yield &self[keyPath: Declarations.member(group)] }
    }

    private static func member(_ group: KeyGroup) -> WritableKeyPath<Declarations, [String: KeyDefinition]> {
        switch group {
        case .environment: \.environment
        case .container: \.container
        case .preference: \.preference
        }
    }

    public var isEmpty: Bool {
        environment.isEmpty && container.isEmpty && preference.isEmpty && types.isEmpty && components.isEmpty
            && functions.isEmpty
    }
}

/// Declarations in the form of documents, by name.
public struct WrittenDeclarations {
    /// By group: `environment`, `container`, `preference`.
    public var keys: [String: [String: Value]] = [:]
    public var types: [String: Value] = [:]
    public var components: [String: Value] = [:]
    /// By their heads: `planned(t)`.
    public var functions: [String: Value] = [:]

    public init() {}

    /// Later declarations replace earlier ones with the same name.
    public mutating func merge(_ other: WrittenDeclarations) {
        keys.merge(other.keys) { $0.merging($1) { $1 } }
        types.merge(other.types) { $1 }
        components.merge(other.components) { $1 }
        for head in outdatedFunctions(by: other) { functions[head] = nil }
        functions.merge(other.functions) { $1 }
    }

    /// The functions that others replace which have the same names and other parameters.
    public func outdatedFunctions(by other: WrittenDeclarations) -> [String] {
        if functions.isEmpty { return [] }
        func name(_ head: String) -> Substring { head.prefix { $0 != "(" } }
        let names = Set(other.functions.keys.map(name))
        return functions.keys.filter { names.contains(name($0)) && other.functions[$0] == nil }.sorted()
    }
}

extension Declarations {
    /// Adds the declarations of another document, for checks of documents that follow it.
    package mutating func add(_ other: Declarations) {
        environment.merge(other.environment) { $1 }
        container.merge(other.container) { $1 }
        preference.merge(other.preference) { $1 }
        types.merge(other.types) { $1 }
        components.merge(other.components) { $1 }
        functions.merge(other.functions) { $1 }
    }
}
