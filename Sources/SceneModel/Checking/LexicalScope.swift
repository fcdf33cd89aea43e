import AttributeValues
import RuleLanguage

/// A name that expressions can use, with its properties.
struct ScopeEntry {
    /// True if a binding can write through the name.
    enum Access {
        case writable
        /// With the kind, for messages: "computed", "a let". A let or an inherited value may be an object, whose
        /// properties can be written.
        case readOnly(String, mayBeObject: Bool = false)
    }

    var name: String
    var type: ValueType
    var access: Access = .writable
    /// The name outside the document that a write through this name reaches: of an attribute of a node around the one
    /// to which the document is applied, or of an attribute by its path. nil for names inside the document.
    var outside: Name?
}

extension ScopeEntry {
    init(_ attribute: AttributeDefinition) {
        let access: Access =
            switch attribute.role {
            case .state, .binding: .writable
            case .constant: .readOnly("a let", mayBeObject: true)
            case .computed: .readOnly("computed")
            case .inherit, .inheritObject: .readOnly("inherited", mayBeObject: true)
            case .clock: .readOnly("a clock")
            case .action: .readOnly("an action")
            }
        self.init(name: attribute.name, type: attribute.type, access: access)
    }
}

/// The attributes of one node, inside those of the nodes around it, up to the root of the component that contains them.
final class LexicalScope {
    private let enclosing: LexicalScope?
    private let entries: [ScopeEntry]
    /// The same names for rules.
    private var made: RuleScope?

    /// The scope around all others: it has only the names that every rule can use.
    init(_ rules: RuleScope) {
        enclosing = nil
        entries = []
        made = rules
    }

    init(_ entries: [ScopeEntry], in enclosing: LexicalScope) {
        self.entries = entries
        self.enclosing = enclosing
    }

    /// The nearest declaration of a name.
    func find(_ name: String) -> ScopeEntry? {
        var scope: LexicalScope? = self
        while let here = scope {
            for entry in here.entries where entry.name.hasSameBytes(as: name) { return entry }
            scope = here.enclosing
        }
        return nil
    }

    var names: [String] {
        var names: [String] = []
        var scope: LexicalScope? = self
        while let here = scope {
            names += here.entries.map(\.name)
            scope = here.enclosing
        }
        return names
    }

    /// The same names for rules. Made when the first rule needs them, outer scopes first.
    var rules: RuleScope {
        var chain: [LexicalScope] = []
        var scope = self
        while scope.made == nil, let outer = scope.enclosing {
            chain.append(scope)
            scope = outer
        }
        var rules = scope.made ?? RuleScope()
        for here in chain.reversed() {
            rules = RuleScope(parent: rules)
            for entry in here.entries { rules.declare(entry.name, entry.type) }
            here.made = rules
        }
        return rules
    }
}

/// The names that an expression can use. References can use the names of nodes, rules also those of a container.
struct ExpressionScope {
    var lexical: LexicalScope
    /// True if rules can use `subviews` and `sections`.
    var isContainer = false

    var rules: RuleScope { isContainer ? lexical.rules.withSubviews : lexical.rules }
}

extension RuleScope {
    /// A scope inside this one with the names that only a container has.
    var withSubviews: RuleScope {
        let inside = RuleScope(parent: self)
        inside.declare("subviews", RuleType.list(.abstract("subview", [])))
        inside.declare("sections", RuleType.list(.abstract("section", [])))
        return inside
    }
}
