import RuleLanguage
import SceneModel

/// The names in the expressions of a node's attributes and modifiers, by the scope in which they are looked up. Names
/// inside a component's body always resolve, and are left out. Names in the use of a component, and in nodes that are
/// given to it, are included.
struct ReferredNames {
    private(set) var enclosing: Set<String> = []
    private(set) var modifier: Set<String> = []
    /// Names in the modifiers at the use of a component.
    private(set) var use: Set<String> = []

    /// Names that rules can read and that are no attributes.
    private static let systemNames: Set<String> = ["subviews", "sections", "value"]

    init(in definition: NodeDefinition) {
        for attribute in definition.attributes {
            // The rules of a binding also read the value that is written.
            let known: Set<String> = if case .binding = attribute.role { [BindingTarget.newValue] } else { [] }
            for expression in attribute.inputs { ReferredNames.add(expression, to: &enclosing, except: known) }
            if case .action(let action) = attribute.role, action.isAtUse {
                ReferredNames.addInner(attribute, to: &use, except: [])
            } else {
                ReferredNames.addInner(attribute, to: &modifier, except: [])
            }
        }
        if let made = definition.forEach {
            ReferredNames.add(made.data, to: &enclosing)
            addNames(in: made)
        }
        for (expression, isAtUse) in definition.modifiers {
            if isAtUse {
                ReferredNames.add(expression, to: &use)
            } else {
                ReferredNames.add(expression, to: &modifier)
            }
        }
    }

    /// All names, whatever they are looked up in.
    var all: Set<String> { enclosing.union(modifier).union(use) }

    /// - Parameter known: names that mean something where the expression stands, below the node.
    private static func add(_ expression: Expression, to found: inout Set<String>, except known: Set<String> = []) {
        func names(in program: Program) -> [String] {
            program.inputs.filter { $0.namespace == nil && !systemNames.contains($0.name.text) }.map(\.name.text)
        }
        let names: [String] =
            switch expression {
            case .literal: []
            case .reference(let reference): [reference.name.text]
            case .selection(let selection): names(in: selection.program) + selection.targets.map(\.name)
            case .rule(let program): names(in: program)
            }
        for name in names where !known.contains(name) && !name.hasPrefix("$") { found.insert(name) }
    }

    /// Adds the names in an action, or in the beginning of a state.
    private static func addInner(
        _ attribute: AttributeDefinition, to found: inout Set<String>, except known: Set<String>
    ) {
        if let start = attribute.start { add(start, to: &found, except: known) }
        guard case .action(let action) = attribute.role else { return }
        let known = known.union(action.parameters.map(\.name) + (action.readsCaller ? [ActionDefinition.caller] : []))
        for expression in action.expressions { add(expression, to: &found, except: known) }
        for case .reference(let target) in action.steps.map(\.target) {
            add(.reference(target), to: &found, except: known)
        }
    }

    /// Adds the names in the templates of a `forEach`, which may have no instance.
    private mutating func addNames(in made: ForEachDefinition) {
        var pending: [(definition: NodeDefinition, enclosing: Set<String>, element: Set<String>)] =
            made.templates.map { ($0, [], [made.elementName, made.indexName]) }
        while let (definition, enclosing, element) = pending.popLast() {
            let around = enclosing.union(element)
            let own = around.union(definition.attributes.map(\.name))
            var inputs = definition.attributes.flatMap(\.inputs)
            if let inner = definition.forEach {
                inputs.append(inner.data)
                pending += inner.templates.map { ($0, own, [inner.elementName, inner.indexName]) }
            }
            for expression in inputs { ReferredNames.add(expression, to: &modifier, except: around) }
            let atUse = around.union(definition.attributes.map(\.name).filter { !definition.isHiddenAtUse($0) })
            for (expression, isAtUse) in definition.modifiers {
                ReferredNames.add(expression, to: &modifier, except: isAtUse ? atUse : own)
            }
            for attribute in definition.attributes {
                let isAtUse = if case .action(let action) = attribute.role { action.isAtUse } else { false }
                ReferredNames.addInner(attribute, to: &modifier, except: isAtUse ? atUse : own)
            }
            let isComponent = definition.component != nil
            let given = Set((definition.base?.slotted ?? []).map { ObjectIdentifier($0.0) })
            for (child, _) in definition.slotted where !isComponent || !given.contains(ObjectIdentifier(child)) {
                pending.append((child, isComponent ? around : own, []))
            }
        }
    }
}

extension AttributeDefinition {
    /// The expressions of a binding or a constant.
    fileprivate var inputs: [Expression] {
        switch role {
        case .binding(let target?, _): target.expressions
        case .constant(let expression?): [expression]
        default: []
        }
    }
}

extension NodeDefinition {
    /// Their expressions, and whether they are written at the use of a component.
    fileprivate var modifiers: [(Expression, isAtUse: Bool)] {
        let keyed: [KeyedExpression] = environment + containerValues + preferences
        var modifiers: [(Expression, isAtUse: Bool)] = keyed.map { ($0.expression, $0.isAtUse) }
        modifiers += environmentObjects.enumerated().map { (.reference($1.reference), $0 < objectsAtUse) }
        modifiers += transformEnvironment.map { (.rule($0.program), $0.isAtUse) }
        modifiers += animations.map { ($0.value, $0.isAtUse) }
        if let tag { modifiers.append((tag, isTagAtUse)) }
        return modifiers
    }
}
