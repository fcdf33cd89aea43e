import SceneModel

/// What stands at a place of a document.
indirect enum SceneShape: Sendable {
    /// A map with the keys of one of these forms, or a list of such maps.
    case forms([SceneForm])
    /// A map with names as keys.
    case named(SceneShape, what: Named)
    /// The name of a component.
    case component
    /// A kind of node.
    case kind
    case type
    /// A file.
    case file
    /// A literal, a rule or a reference.
    case expression
    case other

    /// What the names of a map are.
    enum Named: Sendable {
        case attributes(kind: String)
        /// Parameters of a component, if the node is made from one; else attributes.
        case inputs(kind: String)
        case environmentKeys, containerKeys, preferenceKeys
        case components, functions, types, targets, others
    }

    static let nodes = SceneShape.forms([.node, .ifChoice, .switchChoice, .place, .slot])
    private static let action = SceneShape.forms([.action, .steps])

    /// What stands under a key of a form.
    static func under(_ key: String, of form: SceneForm) -> SceneShape {
        switch (form, key) {
        case (.scene, "import"): .file
        case (.scene, "functions"): .named(.expression, what: .functions)
        case (.scene, "keys"): .forms([.keys])
        case (.scene, "types"): .named(.forms([.type]), what: .types)
        case (.scene, "components"): .named(.forms([.node]), what: .components)
        case (.keys, "preference"): .named(.forms([.preferenceKey]), what: .others)
        case (.keys, _): .named(.forms([.key]), what: .others)
        case (.node, "component"), (.forEach, "component"): .component
        case (.node, "kind"): .kind
        case (.node, "forEach"): .forms([.forEach])
        case (.forEach, "node"): .forms([.node])
        case (_, "nodes"), (_, "children"), (_, "header"), (_, "content"), (_, "footer"), (_, "then"), (_, "else"),
            (.slot, "default"), (.switchChoice, "default"):
            nodes
        case (_, "slots"), (_, "cases"): .named(nodes, what: .others)
        case (.node, "state"), (.type, "state"): .named(.forms([.state]), what: .attributes(kind: "state"))
        case (.node, "computed"), (.type, "computed"):
            .named(.forms([.computed]), what: .attributes(kind: "computed"))
        case (_, "binding"): .named(.forms([.binding, .computedBinding]), what: .inputs(kind: "binding"))
        case (_, "let"): .named(.expression, what: .inputs(kind: "let"))
        case (.node, "inherit"): .named(.expression, what: .attributes(kind: "inherit"))
        case (.node, "clock"):
            .named(.forms([.clock, .dailyClock, .animationClock]), what: .attributes(kind: "clock"))
        case (.node, "actions"): .named(.forms([.action, .steps, .onChange]), what: .attributes(kind: "action"))
        case (_, "onAppear"), (_, "onDisappear"), (.onChange, "perform"), (.steps, "steps"): action
        case (_, "onChange"): .forms([.onChange])
        case (_, "environment"), (_, "transformEnvironment"): .named(.expression, what: .environmentKeys)
        case (_, "containerValues"): .named(.expression, what: .containerKeys)
        case (_, "preferences"): .named(.expression, what: .preferenceKeys)
        case (.node, "animation"), (.forEach, "animation"): .forms([.animation])
        case (.state, "entries"): .forms([.entries])
        case (_, "type"): .type
        case (.animationClock, "animation"): .forms([.animationInterval])
        case (.action, "parameters"), (.steps, "parameters"): .named(.forms([.parameter]), what: .others)
        case (.action, "do"), (.action, "toggle"), (.action, "remove"): .named(.expression, what: .targets)
        case (.action, "when"), (.action, "animation"): .expression
        case (.action, _): .named(.expression, what: .targets)
        case (.computedBinding, "set"): .named(.expression, what: .targets)
        case (.scene, _), (_, "id"), (_, "as"), (_, "index"), (_, "transition"): .other
        default: .expression
        }
    }
}
