import AttributeValues

/// The names a rule can use, with their types. Made once per set of names and shared by all rules over it; a scope can
/// stand on another one, whose names it adds to and hides.
public final class RuleScope {
    public let parent: RuleScope?
    /// Names are tried below this namespace first: in `a.b` the name `x` means `a.b.x`, else `a.x`, else `x`.
    public let container: String
    public let limits: RuleLimits
    private var variables: [String: RuleType] = [:]
    private var namespaces: [String: String] = [:]
    private var objects: [String: [String: RuleType]] = [:]
    private var assembled: Set<String> = []
    private var functions: [String: FunctionDeclaration] = [:]
    /// Whether a variable of this scope itself has a dotted name.
    private var hasDottedNames = false

    public init(parent: RuleScope? = nil, container: String? = nil, limits: RuleLimits? = nil) {
        self.parent = parent
        self.container = container ?? parent?.container ?? ""
        self.limits = limits ?? parent?.limits ?? RuleLimits()
    }

    /// The name may be dotted; the longest declared prefix of a chain of selects is the variable.
    public func declare(_ name: String, _ type: RuleType) {
        variables[name] = type
        if name.utf8.contains(UInt8(ascii: ".")) { hasDottedNames = true }
    }
    public func declare(_ name: String, _ type: ValueType) { declare(name, RuleType(type)) }

    /// A root that is no value itself, but has one variable per key: `env.locale`. A key that is not declared is a fault.
    /// - Parameter noun: what a key is called in messages, as "environment key".
    public func declareNamespace(_ name: String, keysAre noun: String, _ keys: [String: RuleType] = [:]) {
        namespaces[name] = noun
        hasDottedNames = true
        for (key, type) in keys { variables["\(name).\(key)"] = type }
    }

    /// Adds a key to a namespace of this scope or one below it.
    public func declareKey(_ key: String, in namespace: String, _ type: RuleType) {
        declare("\(namespace).\(key)", type)
    }

    /// The properties of a type that variables are declared with, as `.abstract(name, [])`.
    /// - Parameter isAssembled: values of the type are put together from parts that change apart, and readers may be given the
    ///   parts alone that a rule names: see `RuleInput.parts`.
    public func declareObject(_ name: String, properties: [String: RuleType], isAssembled: Bool = false) {
        objects[name] = properties
        if isAssembled { assembled.insert(name) }
    }

    /// A function that rules may name; calls are checked, but fail when they run.
    public func declareFunction(_ name: String, _ overloads: [Overload]) {
        functions[name] = FunctionDeclaration(name: name, function: nil, overloads: overloads)
    }

    // MARK: look-up

    func variable(_ name: String) -> RuleType? { variables[name] ?? parent?.variable(name) }
    func namespace(_ name: String) -> String? { namespaces[name] ?? parent?.namespace(name) }
    func properties(of object: String) -> [String: RuleType]? { objects[object] ?? parent?.properties(of: object) }

    /// Whether values of an assembled type are, or stand in, values of a type.
    func isAssembled(_ type: RuleType) -> Bool {
        switch type {
        case .list(let inner), .wrapper(let inner): isAssembled(inner)
        case .map(_, let value): isAssembled(value)
        case .abstract(let name, let parameters): isAssembledObject(name) || parameters.contains { isAssembled($0) }
        default: false
        }
    }

    private func isAssembledObject(_ name: String) -> Bool { assembled.contains(name) || parent?.isAssembledObject(name) ?? false }

    func function(_ name: String) -> FunctionDeclaration? {
        functions[name] ?? parent?.function(name) ?? FunctionTable.standard[name]
    }

    /// Whether a chain of selects on the name could be one dotted name, as a look-up of all of it would find.
    func mayQualify(_ root: String?) -> Bool {
        guard let root else { return false }
        return !container.isEmpty || declaresDottedNames || root == "google" || root == "net"
    }

    /// As `mayQualify`, for the name of a function.
    func mayQualifyFunction(_ root: String?) -> Bool {
        guard let root else { return false }
        return !container.isEmpty || declaresFunctions || FunctionTable.namespaces.contains(root)
    }

    private var declaresDottedNames: Bool { hasDottedNames || parent?.declaresDottedNames ?? false }
    private var declaresFunctions: Bool { !functions.isEmpty || parent?.declaresFunctions ?? false }

    /// All variables' names, for the search of a near one.
    var variableNames: [String] { Array(variables.keys) + (parent?.variableNames ?? []) }
    var namespaceNames: [String] { Array(namespaces.keys) + (parent?.namespaceNames ?? []) }
    var functionNames: [String] {
        Array(functions.keys) + (parent?.functionNames ?? FunctionTable.standard.keys.filter { !$0.hasPrefix("_") })
    }

    /// What stands behind a dotted prefix in those of the names that have it.
    func names(below prefix: String, among names: [String]) -> [String] {
        let prefix = prefix + "."
        return names.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    /// The names that a name may stand for, longest first.
    func candidates(_ name: String, isRooted: Bool) -> [String] {
        if isRooted || container.isEmpty { return [name] }
        var found: [String] = []
        var prefix = container[...]
        while true {
            found.append("\(prefix).\(name)")
            guard let dot = prefix.lastIndex(of: ".") else { break }
            prefix = prefix[..<dot]
        }
        found.append(name)
        return found
    }

    /// The types that can be named in a rule, by their names.
    static func typeValue(_ name: String) -> RuleType? {
        // None is shorter; most names are.
        guard name.utf8.count >= 3 else { return nil }
        return switch name {
        case "list": .list(.dyn)
        case "map": .map(.dyn, .dyn)
        case "type": .type(.dyn)
        case "optional_type": .optional(.dyn)
        case "net.IP": .ip
        case "net.CIDR": .cidr
        case "color", "angle", "vector": .abstract(name, [])
        default: ScalarType(typeName: name).map { .scalar($0) }
        }
    }
}
