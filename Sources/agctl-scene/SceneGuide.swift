import AttributeValues
import SceneModel

/// The texts for people about the keys of scenes, in the reference and in the JSON schema. Only the checker knows which
/// keys there are (`SceneForm`).
enum SceneGuide {
    struct Row {
        /// Markdown.
        var meaning: String
        /// What the JSON schema says of the value.
        var schema: ValueMap
    }

    /// The keys of a form, in the checker's order.
    static func rows(of form: SceneForm) -> [(key: String, row: Row)] {
        form.keys.map { key in
            guard let row = rows[form.rawValue]?[key] else {
                preconditionFailure("the guide says nothing of the key '\(key)' of \(form.rawValue)")
            }
            return (key, row)
        }
    }

    /// By form and key.
    nonisolated(unsafe) private static let rows: [String: [String: Row]] = {
        var rows: [String: [String: Row]] = [:]
        var form = ""
        var last: (key: String, meaning: String)?
        for line in text.split(separator: "\n") {
            if line.hasPrefix("[") {
                form = String(line.dropFirst().dropLast())
            } else if line.hasPrefix(" "), let (key, meaning) = last {
                guard let schema = try? JSONParser.parseOnce(line.utf8).map else {
                    preconditionFailure("not JSON: \(line)")
                }
                rows[form, default: [:]][key] = Row(meaning: meaning, schema: schema)
            } else if let colon = line.firstRange(of: ": ") {
                last = (String(line[..<colon.lowerBound]), String(line[colon.upperBound...]))
            }
        }
        return rows
    }()

    /// For each form: a key with its meaning, and what the schema says of it.
    private static let text = #"""
        [scene]
        agd: The version of the format: 1. It may be left out.
          {"const": 1}
        import: A file, or a list of files, that are loaded before this one. Paths begin at its folder.
          {"anyOf": [{"type": "null"}, {"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
        functions: Rules with parameters that all rules can call: `planned(t): timestamp(t.planned)`.
          {"type": ["object", "null"], "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*\\(.*\\)$"}, "additionalProperties": {"$ref": "#/$defs/rule"}}
        keys: Keys of the environment, of container values and of preferences.
          {"$ref": "#/$defs/keys"}
        types: Object types, by name: groups of properties.
          {"type": ["object", "null"], "propertyNames": {"pattern": "^[A-Z][A-Za-z0-9_]*$"}, "additionalProperties": {"type": ["object", "null"], "$keys": "type"}}
        components: Node types that are used several times, by name. The bindings and lets of the root are the parameters.
          {"type": ["object", "null"], "propertyNames": {"$ref": "#/$defs/name"}, "additionalProperties": {"anyOf": [{"type": "null"}, {"allOf": [{"$ref": "#/$defs/node"}, {"properties": {"id": false, "was": false, "binding": {"$ref": "#/$defs/parameters"}}}]}]}}
        nodes: The trees to make, in order.
          {"$ref": "#/$defs/nodes"}
        values: States to set once the nodes are there, by their paths from the place of application.
          {"type": ["object", "null"], "propertyNames": {"pattern": "^/.*\\.."}}
        dangling: Names that may lead nowhere. An export lists those that do.
          {"type": ["array", "null"], "items": {"$ref": "#/$defs/name"}}
        [keys]
        environment: Values that a node sets for everything below it.
          {"$ref": "#/$defs/keyGroup"}
        container: Values that a node gives to the container in which it stands.
          {"$ref": "#/$defs/keyGroup"}
        preference: Values that nodes tell to the nodes above them.
          {"$ref": "#/$defs/preferenceGroup"}
        [key]
        default: The value where nothing is set. It gives the type if none is written.
          {}
        type: The type. With one that accepts null, the default may be left out.
          {"$ref": "#/$defs/type"}
        [preferenceKey]
        default: The value where nobody tells one. It gives the type if none is written.
          {}
        type: The type. With one that accepts null, the default may be left out.
          {"$ref": "#/$defs/type"}
        reduce: A rule that makes one value of `value` and `next`. Without it, the last one counts.
          {"$ref": "#/$defs/rule"}
        [type]
        state: Stored properties, as the states of a node.
          {"$ref": "#/$defs/states"}
        computed: Rules over the properties.
          {"$ref": "#/$defs/computed"}
        actions: Named groups of writes to the properties, which are called on an object.
          {"type": ["object", "null"], "propertyNames": {"$ref": "#/$defs/name"}, "additionalProperties": {"$ref": "#/$defs/calledAction"}}
        [node]
        id: A text, unique among the siblings. Without one, it is made from the kind or component and the position.
          {"type": ["string", "number", "boolean"], "minLength": 1}
        was: The id that the node had in an earlier form of the scene, or its path, as `../lamp` or `/room/lamp`: it keeps its values.
          {"type": ["string", "number", "boolean"], "minLength": 1}
        kind: `view`, `container`, `group`, `section` or `forEach`. Without one, it follows from the other keys.
          {"enum": ["view", "container", "group", "section", "forEach"]}
        component: The component from which the node is made.
          {"$ref": "#/$defs/name"}
        state: Stored values: a literal, or the long form.
          {"$ref": "#/$defs/states"}
        binding: Two-way references: `$target`, `{ to: $target, animation }`, `{ get, set }`, or a literal for a constant.
          {"$ref": "#/$defs/inputs"}
        let: Read-only inputs: a literal, a rule or a reference in the scope of the nodes around.
          {"$ref": "#/$defs/inputs"}
        computed: Rules over the node's own attributes, or `{ rule, type, history }`.
          {"$ref": "#/$defs/computed"}
        inherit: Environment keys to read: `[locale]`, `{ language: locale }`, or an object by its type, `{ library: Library }`.
          {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/name"}}, {"type": "object", "propertyNames": {"$ref": "#/$defs/name"}, "additionalProperties": {"type": "string"}}]}
        clock: Times that tick: `every 1s`, `everyMinute`, `animation`, a list of dates, or a long form.
          {"type": ["object", "null"], "propertyNames": {"$ref": "#/$defs/name"}, "additionalProperties": {"$ref": "#/$defs/clock"}}
        actions: Named groups of writes, which clients call with `agctl do`.
          {"type": ["object", "null"], "propertyNames": {"$ref": "#/$defs/name"}, "additionalProperties": {"$ref": "#/$defs/action"}}
        environment: Values for everything below the node: `key: expression`. `objects` lists objects, found by their types.
          {"$ref": "#/$defs/keyPaths", "properties": {"objects": {"type": ["array", "null"], "items": {"type": "string", "pattern": "^\\$"}}}}
        transformEnvironment: Rules over `value`, the inherited one, for everything below the node.
          {"type": ["object", "null"], "additionalProperties": {"$ref": "#/$defs/rule"}}
        containerValues: Values for the container in which the node stands.
          {"$ref": "#/$defs/keyPaths"}
        tag: A value, or a list of values of different types, by which the node is found.
          {"$ref": "#/$defs/expression"}
        preferences: Values for the nodes above.
          {"$ref": "#/$defs/keyPaths"}
        animation: Curves that apply to the node and all below it when a value changes: one, or a list.
          {"anyOf": [{"$ref": "#/$defs/animationModifier"}, {"type": "array", "items": {"$ref": "#/$defs/animationModifier"}}]}
        transition: How the node comes and goes: `opacity`, `slide`, `scale(0.5)`, `move(edge: top)`, `offset(x: 0, y: 20)`, `identity`, `asymmetric(insertion: …, removal: …)`, and `.combined(with: …)`.
          {"type": "string"}
        past: `false` leaves the values of the node and of all below it out of the archive.
          {"type": "boolean"}
        onAppear: An action that is called when the node comes into the tree.
          {"$ref": "#/$defs/action"}
        onChange: An action, or a list of actions, called when a value has changed.
          {"anyOf": [{"$ref": "#/$defs/onChange"}, {"type": "array", "items": {"$ref": "#/$defs/onChange"}}]}
        onDisappear: An action that is called when the node has gone.
          {"$ref": "#/$defs/action"}
        children: The nodes inside, in order.
          {"$ref": "#/$defs/nodes"}
        header: The nodes of a section's header.
          {"$ref": "#/$defs/nodes"}
        content: The nodes of a section's content.
          {"$ref": "#/$defs/nodes"}
        footer: The nodes of a section's footer.
          {"$ref": "#/$defs/nodes"}
        slots: Of a use of a component: nodes for its slots, by name.
          {"type": ["object", "null"], "propertyNames": {"$ref": "#/$defs/name"}, "additionalProperties": {"$ref": "#/$defs/nodes"}}
        forEach: A node for each element of a list, or each entry of a map.
          {"$ref": "#/$defs/forEach"}
        [forEach]
        in: The data: `$items`, a rule, or a literal list.
          {}
        id: What identifies an element: a field (`id` without it), a key path as `meta.uuid`, or `self` for texts and numbers.
          {"type": "string"}
        as: The element's name; `element` without it.
          {"$ref": "#/$defs/name"}
        index: The name of its position; `index` without it.
          {"$ref": "#/$defs/name"}
        node: The node for each element, without an id.
          {"allOf": [{"$ref": "#/$defs/ownNode"}, {"properties": {"id": false, "was": false}}]}
        component: The component for each element. The keys of a use may stand beside it.
          {"$ref": "#/$defs/name"}
        binding: Two-way references: `$target`, `{ to: $target, animation }`, `{ get, set }`, or a literal for a constant.
          {"$ref": "#/$defs/bindings"}
        let: Read-only inputs: a literal, a rule or a reference in the scope of the nodes around.
          {"$ref": "#/$defs/arguments"}
        environment: Values for everything below the node: `key: expression`. `objects` lists objects, found by their types.
          {"$ref": "#/$defs/keyPaths"}
        transformEnvironment: Rules over `value`, the inherited one, for everything below the node.
          {"$ref": "#/$defs/keyPaths"}
        containerValues: Values for the container in which the node stands.
          {"$ref": "#/$defs/keyPaths"}
        tag: A value, or a list of values of different types, by which the node is found.
          {"$ref": "#/$defs/expression"}
        preferences: Values for the nodes above.
          {"$ref": "#/$defs/keyPaths"}
        animation: Curves that apply to the node and all below it when a value changes: one, or a list.
          {}
        transition: How the node comes and goes: `opacity`, `slide`, `scale(0.5)`, `move(edge: top)`, `offset(x: 0, y: 20)`, `identity`, `asymmetric(insertion: …, removal: …)`, and `.combined(with: …)`.
          {"type": "string"}
        past: `false` leaves the values of the node and of all below it out of the archive.
          {"type": "boolean"}
        onAppear: An action that is called when the node comes into the tree.
          {"$ref": "#/$defs/action"}
        onChange: An action, or a list of actions, called when a value has changed.
          {"anyOf": [{"$ref": "#/$defs/onChange"}, {"type": "array", "items": {"$ref": "#/$defs/onChange"}}]}
        onDisappear: An action that is called when the node has gone.
          {"$ref": "#/$defs/action"}
        children: The nodes inside, in order.
          {"$ref": "#/$defs/nodes"}
        header: The nodes of a section's header.
          {"$ref": "#/$defs/nodes"}
        content: The nodes of a section's content.
          {"$ref": "#/$defs/nodes"}
        footer: The nodes of a section's footer.
          {"$ref": "#/$defs/nodes"}
        slots: Of a use of a component: nodes for its slots, by name.
          {"type": ["object", "null"], "propertyNames": {"$ref": "#/$defs/name"}, "additionalProperties": {"$ref": "#/$defs/nodes"}}
        [if]
        id: Tells the choice from others beside it. Paths do not contain it.
          {"type": ["string", "number", "boolean"]}
        was: The id that the choice had in an earlier form of the scene: its branches keep their values.
          {"type": ["string", "number", "boolean"], "minLength": 1}
        if: A rule that gives a bool.
          {"$ref": "#/$defs/rule"}
        then: The nodes while it is true.
          {"$ref": "#/$defs/nodes"}
        else: The nodes while it is false.
          {"$ref": "#/$defs/nodes"}
        [switch]
        id: Tells the choice from others beside it. Paths do not contain it.
          {"type": ["string", "number", "boolean"]}
        was: The id that the choice had in an earlier form of the scene: its branches keep their values.
          {"type": ["string", "number", "boolean"], "minLength": 1}
        switch: A rule that gives a text, a number or a bool.
          {"$ref": "#/$defs/rule"}
        cases: The nodes for each value, by its text.
          {"type": ["object", "null"], "additionalProperties": {"$ref": "#/$defs/nodes"}}
        default: The nodes for all other values.
          {"$ref": "#/$defs/nodes"}
        [place]
        id: Tells the place from others beside it. Paths do not contain it.
          {"type": ["string", "number", "boolean"]}
        place: In the body of a component: the subview, or the list of subviews, that stand here, as `section.content`.
          {"$ref": "#/$defs/rule"}
        [slot]
        id: Tells the slot from others beside it. Paths do not contain it.
          {"type": ["string", "number", "boolean"]}
        slot: In the body of a component: the name of the slot; `content` for the children of a use.
          {"$ref": "#/$defs/name"}
        default: The nodes that stand here if the use gives none.
          {"$ref": "#/$defs/nodes"}
        [state]
        initial: The first value: a literal, or a rule or reference that is evaluated once, when the node is made.
          {}
        type: The type. Without one, it follows from the literal.
          {"$ref": "#/$defs/type"}
        transient: `true` excludes the state from the store.
          {"type": "boolean"}
        history: For how long the least and greatest values are recorded, as `10m`: 10 ms to 31 days.
          {"$ref": "#/$defs/span"}
        expires: The time without a write after which the state is the error `stale`, as `30s`: 10 ms to 3650 days.
          {"$ref": "#/$defs/span"}
        entries: Of a map: writes make missing entries. The bounds of these entries.
          {"type": "object", "$keys": "entries"}
        past: `false` leaves the values of the state out of the archive.
          {"type": "boolean"}
        [entries]
        expires: The time after which an entry that nobody has written is removed. Without it, none is.
          {"$ref": "#/$defs/span"}
        limit: The most entries; 10,000 without it.
          {"type": "integer", "minimum": 1}
        [computed]
        rule: The rule.
          {"$ref": "#/$defs/rule"}
        type: The type, if rules cannot make it, as `color`.
          {"$ref": "#/$defs/type"}
        history: For how long the least and greatest values are recorded, as `10m`.
          {"$ref": "#/$defs/span"}
        [binding]
        to: The reference.
          {"$ref": "#/$defs/bindingTarget"}
        animation: The animation of writes through the binding.
          {"$ref": "#/$defs/animation"}
        [computedBinding]
        get: A rule that computes what is read.
          {"$ref": "#/$defs/rule"}
        set: The writes, `{ $state: =newValue }`, for each write of the binding.
          {"type": "object", "minProperties": 1, "propertyNames": {"pattern": "^\\$"}}
        animation: The animation of writes through the binding.
          {"$ref": "#/$defs/animation"}
        [clock]
        every: The period, as `1s`, or `$period` for a state with a duration.
          {"type": "string"}
        start: The date of the first tick.
          {"type": "string"}
        [dailyClock]
        at: A local time of the day, as `"03:00"`, or a list.
          {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
        on: The days (`mon`, `tue`, …): one, or a list. All days without it.
          {"anyOf": [{"$ref": "#/$defs/day"}, {"type": "array", "items": {"$ref": "#/$defs/day"}}]}
        timeZone: The time zone; `env.timeZone` without it.
          {"type": "string"}
        [animationClock]
        animation: Ticks at the display rate, or more slowly with `{ minimumInterval: 0.1s }`.
          {"type": ["object", "null"], "$keys": "animationInterval"}
        [animationInterval]
        minimumInterval: The least time between two ticks.
          {"type": "string"}
        [action]
        set: Writes values: `{ target: value }`.
          {"$ref": "#/$defs/writes"}
        toggle: Inverts bools: a target, or a list of targets.
          {"$ref": "#/$defs/targets"}
        add: Adds to numbers, durations and timestamps.
          {"$ref": "#/$defs/writes"}
        append: Appends to lists and texts.
          {"$ref": "#/$defs/writes"}
        insert: Puts a value before the element that the target names.
          {"$ref": "#/$defs/writes"}
        merge: Merges maps (RFC 7396).
          {"$ref": "#/$defs/writes"}
        remove: Removes elements and entries: a target, or a list of targets.
          {"$ref": "#/$defs/targets"}
        test: Refuses the call unless the target has this value.
          {"$ref": "#/$defs/writes"}
        do: Calls other actions: a target, a list of targets, or `{ target: { parameter: value } }`.
          {"anyOf": [{"$ref": "#/$defs/targets"}, {"type": "object", "propertyNames": {"type": "string", "pattern": "^[$/]"}, "additionalProperties": {"type": ["object", "null"]}}]}
        when: A condition. The step is left out while it is false.
          {"$ref": "#/$defs/rule"}
        animation: The animation of what the step writes.
          {}
        parameters: Names that a call gives, or `{ name: { default, type } }`. Only in the first and only step.
          {"$ref": "#/$defs/actionParameters"}
        [steps]
        parameters: Names that a call gives, or `{ name: { default, type } }`.
          {"$ref": "#/$defs/actionParameters"}
        when: A condition. Nothing is done while it is false.
          {"$ref": "#/$defs/rule"}
        steps: A list of steps, which are one transaction.
          {"type": "array", "items": {"$ref": "#/$defs/actionStep"}}
        [onChange]
        of: The value to watch: a rule.
          {"type": "string"}
        on: Under `actions`, instead of `of`: `appear` or `disappear`.
          {"enum": ["appear", "disappear"]}
        initial: `true`: the action is also called when its node appears.
          {"type": "boolean"}
        when: A condition. Nothing is done while it is false.
          {"$ref": "#/$defs/rule"}
        perform: The action. Its rules can use `oldValue` and `newValue`.
          {"$ref": "#/$defs/action"}
        [parameter]
        default: The value if none is given.
          {}
        type: The type.
          {"$ref": "#/$defs/type"}
        [animation]
        curve: An animation, as `easeInOut(duration: 1)`; null animates nothing.
          {}
        modifiers: Modifiers of the curve, in the JSON form.
          {"type": "array"}
        value: A rule or a reference. The curve applies when it changes.
          {"type": "string", "pattern": "^[=$]"}
        """#
}
