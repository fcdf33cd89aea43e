import AttributeValues
import RuleLanguage

/// A name that expressions can use, with its properties.
struct ScopeEntry {
    /// Whether a binding can write through the name.
    enum Access {
        case writable
        /// With the kind, for messages: "computed", "a let". A value that is handed down may be an object, whose
        /// properties can be written.
        case readOnly(String, mayHoldObject: Bool = false)
    }

    var name: String
    var type: ValueType
    var access: Access = .writable
    /// Belongs to a node around the one to which the document is applied.
    var isOutside = false
}

extension ScopeEntry {
    init(_ attribute: AttributeDefinition) {
        let access: Access =
            switch attribute.role {
            case .state, .binding: .writable
            case .constant: .readOnly("a let", mayHoldObject: true)
            case .computed: .readOnly("computed")
            case .inherit, .inheritObject: .readOnly("inherited", mayHoldObject: true)
            case .clock: .readOnly("a clock")
            case .action: .readOnly("an action")
            }
        self.init(name: attribute.name, type: attribute.type, access: access)
    }
}

/// The attributes of one node, inside those of the nodes around it, up to the root of the component that contains them.
final class LexicalScope {
    let enclosing: LexicalScope?
    let entries: [ScopeEntry]
    private let base: RuleScope
    private var made: RuleScope?

    /// - Parameter base: the names that rules can use besides the attributes.
    init(_ entries: [ScopeEntry], in enclosing: LexicalScope?, base: RuleScope) {
        self.entries = entries
        self.enclosing = enclosing
        self.base = base
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
        var scope: LexicalScope? = self
        while let here = scope, here.made == nil {
            chain.append(here)
            scope = here.enclosing
        }
        var parent = scope?.made
        for here in chain.reversed() {
            let rules = RuleScope(parent: parent ?? here.base)
            for entry in here.entries { rules.declare(entry.name, entry.type) }
            here.made = rules
            parent = rules
        }
        return parent ?? base
    }
}
