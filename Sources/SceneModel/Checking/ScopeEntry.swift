import AttributeValues
import RuleLanguage

/// A name that expressions can use, with what is known of it.
struct ScopeEntry {
    /// Whether a binding to it can be written through.
    enum Access {
        case writable
        /// With what it is, for messages: "computed", "a let". What is handed down may be an object, whose properties can
        /// be written.
        case readOnly(String, mayHoldObject: Bool = false)
    }

    var name: String
    var type: ValueType
    var access: Access = .writable
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
            }
        self.init(name: attribute.name, type: attribute.type, access: access)
    }
}

/// The attributes of one node, on those of the nodes around it, up to the root of the component they are written in.
final class LexicalScope {
    let enclosing: LexicalScope?
    let entries: [ScopeEntry]
    private let base: RuleScope
    private var made: RuleScope?

    /// - Parameter base: what rules can use beside the attributes.
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

    /// The same names for rules; made when the first rule asks, outer scopes first.
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
