import AttributeValues

/// The names that a rule can use, with their types. Made once for a set of names and shared by all rules over it. A
/// scope may extend another one: it adds names and may hide some.
public final class RuleScope {
    public let parent: RuleScope?
    /// Names are looked up in this namespace first: in `a.b` the name `x` means `a.b.x`, else `a.x`, else `x`.
    public let container: String
    public let limits: RuleLimits
    /// True if rules may use operators over the past of attributes. A scope inherits this from the one that it extends.
    public var hasPast: Bool
    /// True if rules get the values of whole attributes, as in actions: a place in one may have no computed property. A
    /// scope inherits this, too.
    public var getsWholeValues: Bool
    /// True if rules may name attributes by their paths from the root: `$/grid/limits.high`.
    public var hasRoot: Bool
    private var variables: [String: RuleType] = [:]
    private var namespaces: [String: String] = [:]
    private var objects: [String: [String: RuleType]] = [:]
    private var propertyRules: [String: [String: DeclaredFunction]] = [:]
    private var assembled: Set<String> = []
    private var functions: [String: Function] = [:]
    private var declared: [String: DeclaredFunction] = [:]
    /// True if this scope itself declares a variable with a dotted name.
    private var hasDottedNames = false

    public init(parent: RuleScope? = nil, container: String? = nil, limits: RuleLimits? = nil) {
        self.parent = parent
        self.container = container ?? parent?.container ?? ""
        self.limits = limits ?? parent?.limits ?? RuleLimits()
        hasPast = parent?.hasPast ?? false
        hasRoot = parent?.hasRoot ?? false
        getsWholeValues = parent?.getsWholeValues ?? false
    }

    /// The name may be dotted; the longest declared prefix of a chain of selects is the variable.
    public func declare(_ name: String, _ type: RuleType) {
        variables[name] = type
        if name.utf8.contains(UInt8(ascii: ".")) { hasDottedNames = true }
    }
    public func declare(_ name: String, _ type: ValueType) { declare(name, RuleType(type)) }

    /// A root that is not a value itself, but has one variable for each key: `env.locale`. Undeclared keys are faults.
    /// - Parameter noun: the name of a key in messages, as "environment key".
    public func declareNamespace(_ name: String, keysAre noun: String, _ keys: [String: RuleType] = [:]) {
        namespaces[name] = noun
        hasDottedNames = true
        for (key, type) in keys { variables["\(name).\(key)"] = type }
    }

    /// The properties of a type with which variables are declared, as `.abstract(name, [])`.
    /// - Parameter isAssembled: true if values of the type consist of parts that change separately. Readers may then
    ///   get only the parts that a rule names: see `RuleInput.parts`.
    /// - Parameter rules: those of computed properties, as functions of the object.
    public func declareObject(
        _ name: String, properties: [String: RuleType], rules: [String: DeclaredFunction] = [:],
        isAssembled: Bool = false
    ) {
        objects[name] = properties
        if !rules.isEmpty { propertyRules[name] = rules }
        if isAssembled { assembled.insert(name) }
    }

    /// A function that rules may name. Calls are checked, but fail when they run.
    public func declareFunction(_ name: String, _ overloads: [Overload]) {
        functions[name] = Function(name, overloads)
    }

    /// A function whose rule can use the names of this scope.
    public func declare(_ function: DeclaredFunction) { declared[function.name] = function }

    // MARK: look-up

    func variable(_ name: String) -> RuleType? {
        if name.utf8.first == UInt8(ascii: "$") {
            guard hasRoot, name.utf8.contains(UInt8(ascii: ".")) else { return nil }
            return Name(name).patternFromRoot == nil ? .dyn : .map(.string, .dyn)
        }
        return variables[name] ?? parent?.variable(name)
    }
    func findNamespace(_ name: String) -> String? { namespaces[name] ?? parent?.findNamespace(name) }
    func properties(of object: String) -> [String: RuleType]? { objects[object] ?? parent?.properties(of: object) }

    /// The rule of a computed property, with the scope in which its type is declared.
    func findPropertyRule(_ property: String, of object: String) -> (function: DeclaredFunction, home: RuleScope)? {
        var scope: RuleScope? = self
        while let here = scope {
            if here.objects[object] != nil { return here.propertyRules[object]?[property].map { ($0, here) } }
            scope = here.parent
        }
        return nil
    }

    /// True if a type is assembled or contains an assembled type.
    func isAssembled(_ type: RuleType) -> Bool {
        switch type {
        case .list(let inner), .wrapper(let inner): isAssembled(inner)
        case .map(_, let value): isAssembled(value)
        case .abstract(let name, let parameters): isAssembledObject(name) || parameters.contains { isAssembled($0) }
        default: false
        }
    }

    private func isAssembledObject(_ name: String) -> Bool {
        assembled.contains(name) || parent?.isAssembledObject(name) ?? false
    }

    /// A declared function, with the scope in which it is declared.
    func findDeclared(_ name: String) -> (function: DeclaredFunction, home: RuleScope)? {
        var scope: RuleScope? = self
        while let here = scope {
            if let function = here.declared[name] { return (function, here) }
            scope = here.parent
        }
        return nil
    }

    /// True if the rules of the language give a name a meaning before parentheses.
    public static func isFunction(_ name: String) -> Bool {
        FunctionTable.standard[name] != nil || Checker.macroNames.contains(name) || TimeOperator(name: name) != nil
    }

    func findFunction(_ name: String) -> Function? {
        functions[name] ?? parent?.findFunction(name) ?? FunctionTable.standard[name]
    }

    /// True if a chain of selects on the name could be one dotted name, so that it must be looked up as a whole.
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

    /// The names of all variables, for the search of a similar one.
    var variableNames: [String] { Array(variables.keys) + (parent?.variableNames ?? []) }
    var namespaceNames: [String] { Array(namespaces.keys) + (parent?.namespaceNames ?? []) }
    var functionNames: [String] {
        Array(functions.keys) + Array(declared.keys)
            + (parent?.functionNames ?? FunctionTable.standard.keys.filter { !$0.hasPrefix("_") })
    }

    /// The rest of each name that begins with a dotted prefix.
    func rests(below prefix: String, among names: [String]) -> [String] {
        let prefix = prefix + "."
        return names.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    /// The full names that a name may mean, longest first.
    func findCandidates(_ name: String, isRooted: Bool) -> [String] {
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

    /// The types that a rule can name, by their names.
    static func typeValue(_ name: String) -> RuleType? {
        // No type's name is shorter; most other names are.
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
