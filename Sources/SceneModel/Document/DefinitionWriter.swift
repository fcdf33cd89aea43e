import AttributeValues
import RuleLanguage

/// Writes definitions back in the form of documents.
public enum DefinitionWriter {
    /// The attribute's group (`state`, `computed`, …) and the value under its name.
    public static func attribute(_ definition: AttributeDefinition) -> (group: String, value: Value) {
        switch definition.role {
        case .state(let initial, let isTransient):
            ("state", stateForm(initial, definition.type, isTransient, of: definition, start: definition.start))
        case .binding(let target, let animation): ("binding", binding(target, animation))
        case .constant(let value): ("let", value.map(expression) ?? .null)
        case .computed(let program): ("computed", computed(program, definition))
        case .inherit(let key): ("inherit", .string(key))
        case .inheritObject(let type, let isOptional): ("inherit", .string(isOptional ? type + "?" : type))
        case .clock(let schedule): ("clock", clock(schedule))
        case .action(let action): ("actions", action.document)
        }
    }

    /// Writes all of a definition but its id and children, if it is not written as the use of a component.
    /// - Parameters:
    ///   - isUse: as for `addData`.
    ///   - value: what is written of an attribute instead of its definition; nil: the definition.
    public static func addMembers(
        of node: NodeDefinition, into fields: inout ValueMap, isUse: (NodeDefinition) -> Bool = { _ in true },
        value: (AttributeDefinition) -> Value? = { _ in nil }
    ) {
        if !node.kind.isTransparent { fields["kind"] = .string(node.kind.rawValue) }
        var groups = MemberGroups()
        for attribute in node.attributes {
            let written = self.attribute(attribute)
            groups.add(written.group, attribute.name, value(attribute) ?? written.value)
        }
        groups.add(to: &fields)
        addModifiers(of: node, beyond: nil, into: &fields)
        if let data = node.forEach { addData(of: data, into: &fields, isUse: isUse) }
    }

    /// A literal if that suffices, else the long form.
    public static func stateForm(
        _ value: Value, _ type: ValueType, _ isTransient: Bool, of definition: AttributeDefinition? = nil,
        start: Expression? = nil
    ) -> Value {
        let isForm = value.map.map { map in map["initial"] != nil || map["type"] != nil } ?? false
        let isInferred = ValueType(of: value.literal(as: type)) == type
        let (history, expires, entries) = (definition?.history, definition?.expires, definition?.entries)
        let isLeftOut = definition?.isLeftOutOfPast == true
        if start == nil, !isTransient, !isForm, isInferred, history == nil, expires == nil, entries == nil, !isLeftOut {
            return literal(value, type)
        }
        var form = ValueMap([(.string("initial"), start.map(expression) ?? literal(value, type))])
        if start != nil || !isInferred || isForm { form["type"] = .string(type.description) }
        if isTransient { form["transient"] = true }
        if isLeftOut { form["past"] = false }
        if let history { form["history"] = .string(history.description) }
        if let expires { form["expires"] = .string(expires.description) }
        if let entries { form["entries"] = entries.document }
        return .map(form)
    }

    private static func computed(_ program: Program, _ definition: AttributeDefinition) -> Value {
        let isInferred = program.resultType.valueType == definition.type
        if isInferred, definition.history == nil { return .string(program.text) }
        var form = ValueMap([(.string("rule"), .string(program.text))])
        if !isInferred { form["type"] = .string(definition.type.description) }
        if let history = definition.history { form["history"] = .string(history.description) }
        return .map(form)
    }

    private static func binding(_ target: BindingTarget?, _ animation: String?) -> Value {
        let to: Value
        switch target {
        case .reference(let reference)?: to = .string(text(reference))
        case .selection(let selection)?: to = .string(selection.written)
        case .rules(let get, let set)?:
            var form = ValueMap([("get", .string(get.text))])
            form["set"] = .map(ValueMap(set.map { (.string(text($0.target)), expression($0.value)) }))
            if let animation { form["animation"] = .string(animation) }
            return .map(form)
        case .constant(.string(let text))? where Rule.reading(text) != nil || text.hasPrefix("/"): to = typed(text)
        case .constant(let value)? where isMistakable(value): to = [TypedLiteral.key: value.typedJSON]
        case .constant(let value)?: to = literal(value)
        case nil: to = .null
        }
        guard let animation else {
            // A constant map that would be read as this form is written inside it.
            let isForm = to.map?.contains { $0.key == "to" || $0.value.string?.hasPrefix("$") == true } ?? false
            return isForm ? ["to": to] : to
        }
        return ["to": to, "animation": .string(animation)]
    }

    private static func text(_ reference: Reference) -> String {
        (reference.name.pathFromRoot == nil ? "$" : "") + reference.name.text
            + reference.steps.map(\.description).joined()
    }

    public static func expression(_ expression: Expression) -> Value {
        switch expression {
        case .literal(let value) where isMistakable(value): [TypedLiteral.key: value.typedJSON]
        case .literal(let value): literal(value)
        case .rule(let program): .string("=" + program.text)
        case .reference(let reference): .string(text(reference))
        case .selection(let selection): .string(selection.written)
        }
    }

    /// True for a text that reads like a rule, and for a list or a map with such a text. The depth limit of admitted
    /// values bounds the recursion.
    private static func isMistakable(_ value: Value, isInside: Bool = false) -> Bool {
        switch value {
        case .string(let text) where isInside: text.hasPrefix("=") || text.hasPrefix("$")
        case .string(let text):
            Rule.reading(text.replacing("$", with: "")) == .operation
                || text.hasSuffix("]") && ExpressionReader.isSelection(text)
        case .list(let list): list.contains { isMistakable($0, isInside: true) }
        case .map(let map): map.contains { isMistakable($0.value, isInside: true) }
        default: false
        }
    }

    /// A text that could be mistaken for a rule.
    private static func typed(_ text: String) -> Value { [TypedLiteral.key: Value.string(text).typedJSON] }

    /// A literal. In a text that would be read as a rule or a reference, the first character is doubled.
    /// - Parameter type: the type required at its position; `dyn` if it is inferred.
    static func literal(_ value: Value, _ type: ValueType = .dyn) -> Value {
        let value = value.literal(as: type)
        guard case .string(let text) = value, let first = text.first, first == "=" || first == "$" else { return value }
        return .string("\(first)\(text)")
    }

    private static func clock(_ schedule: ClockSchedule) -> Value {
        switch schedule {
        case .every(let span, nil): .string("every \(span)")
        case .every(let span, let start?):
            ["every": .string(span.description), "start": Value.timestamp(start).literal(as: .timestamp)]
        case .everyMinute: "everyMinute"
        case .animation(nil): "animation"
        case .animation(let interval?): ["animation": ["minimumInterval": .string(interval.description)]]
        case .daily(let daily): self.daily(daily)
        case .everyValue(let reference): ["every": .string(text(reference))]
        case .dates(let dates): .list(dates.map { Value.timestamp($0).literal(as: .timestamp) })
        }
    }

    private static func daily(_ schedule: DailySchedule) -> Value {
        var fields = ValueMap([(.string("at"), .list(schedule.times.map { .string(DailySchedule.text(of: $0)) }))])
        if schedule.days != DailySchedule.everyDay {
            let days = DailySchedule.dayNames.enumerated().filter { schedule.days >> $0.offset & 1 == 1 }
            fields["on"] = .list(days.map { .string($0.element) })
        }
        if let zone = schedule.timeZone { fields["timeZone"] = .string(zone) }
        return .map(fields)
    }

    // MARK: Modifiers

    /// - Parameter body: the component whose own modifiers are omitted.
    public static func addModifiers(of node: NodeDefinition, beyond body: NodeDefinition?, into fields: inout ValueMap)
    {
        func path(_ key: String, _ steps: [AttributePath.Step]) -> Value {
            .string(key + steps.map(\.description).joined())
        }
        func keyed(_ entries: some Sequence<KeyedExpression>) -> ValueMap {
            ValueMap(entries.map { (path($0.key, $0.steps), expression($0.expression)) })
        }
        func put(_ name: String, _ members: ValueMap) { if !members.isEmpty { fields[name] = .map(members) } }
        var environment = keyed(node.environment.dropLast(body?.environment.count ?? 0))
        let objects = node.environmentObjects.dropLast(body?.environmentObjects.count ?? 0)
        if !objects.isEmpty { environment["objects"] = .list(objects.map { .string(text($0.reference)) }) }
        put("environment", environment)
        let transforms = node.transformEnvironment.dropLast(body?.transformEnvironment.count ?? 0)
        put("transformEnvironment", ValueMap(transforms.map { (path($0.key, $0.steps), .string($0.program.text)) }))
        put("containerValues", keyed(node.containerValues.dropLast(body?.containerValues.count ?? 0)))
        if body?.tag == nil, let tag = node.tag { fields["tag"] = expression(tag) }
        if let transition = node.transition, transition != body?.transition {
            fields["transition"] = .string(transition.text)
        }
        if node.isLeftOutOfPast, body?.isLeftOutOfPast != true { fields["past"] = false }
        // An outer preference replaces an inner one, so the use's are last.
        put("preferences", keyed(node.preferences.dropFirst(body?.preferences.count ?? 0)))
        let animations = node.animations.dropLast(body?.animations.count ?? 0).map { modifier -> Value in
            ["curve": modifier.animation.map { .string($0) } ?? .null, "value": expression(modifier.value)]
        }
        if animations.count == 1 {
            fields["animation"] = animations[0]
        } else if !animations.isEmpty {
            fields["animation"] = .list(animations)
        }
    }

    /// Moves actions that were written under `onAppear`, `onChange` and `onDisappear` back to these keys.
    public static func moveReactions(in fields: inout ValueMap) {
        guard let actions = fields["actions"]?.map else { return }
        var others = ValueMap()
        var changes: [Value] = []
        for (name, action) in actions {
            let text = (name.string ?? "").prefix { !$0.isNumber }
            switch (text, action.map?["on"]) {
            case ("onAppear", "appear"?) where fields["onAppear"] == nil: fields["onAppear"] = action.map?["perform"]
            case ("onDisappear", "disappear"?) where fields["onDisappear"] == nil:
                fields["onDisappear"] = action.map?["perform"]
            case ("onChange", nil) where action.map?["of"] != nil: changes.append(action)
            default: others[name] = action
            }
        }
        if !changes.isEmpty { fields["onChange"] = changes.count == 1 ? changes[0] : .list(changes) }
        fields["actions"] = others.isEmpty ? nil : .map(others)
    }

    /// Writes `component`, the arguments that differ from the body's defaults, and the modifiers of the use.
    public static func addUse(of node: NodeDefinition, into fields: inout ValueMap) {
        guard let name = node.component, let body = node.base else { return }
        fields["component"] = .string(name)
        var arguments: [(String, ValueMap)] = [("binding", ValueMap()), ("let", ValueMap())]
        for attribute in node.attributes where attribute.isParameter {
            guard let inBody = body.attributes.first(where: { $0.name == attribute.name }) else { continue }
            let (group, value) = self.attribute(attribute)
            if !inBody.lacksValue, self.attribute(inBody).value == value { continue }
            if let position = arguments.firstIndex(where: { $0.0 == group }) {
                arguments[position].1[attribute.name] = value
            }
        }
        for (group, given) in arguments where !given.isEmpty { fields[group] = .map(given) }
        var reactions = ValueMap()
        for attribute in node.attributes {
            guard case .action(let action) = attribute.role, action.trigger != nil,
                !body.attributes.contains(where: { $0.name == attribute.name })
            else { continue }
            reactions[attribute.name] = action.document
        }
        if !reactions.isEmpty { fields["actions"] = .map(reactions) }
        moveReactions(in: &fields)
        addModifiers(of: node, beyond: body, into: &fields)
    }

    // MARK: forEach

    /// Writes `forEach`, or the keys of a choice.
    /// - Parameter isUse: true for an instance of a component that is written as a use instead of in full. By default,
    ///   everything is written as it was read. Another function must ensure that the result is finite and not deeper
    ///   than a document may be.
    public static func addData(
        of definition: ForEachDefinition, into fields: inout ValueMap, isUse: (NodeDefinition) -> Bool = { _ in true }
    ) {
        guard let choice = definition.choice else {
            fields["forEach"] = forEach(definition, isUse: isUse)
            return
        }
        fields[choice.rawValue] = conditionForm(definition.data)
        // Before `default`.
        if choice == .switch { fields["cases"] = .map(ValueMap()) }
        var cases = ValueMap()
        for branch in definition.templates {
            let nodes = Value.list(branch.children.map { node($0, isUse) })
            if let text = Branch.caseText(branch.id.text) {
                cases[text] = nodes
            } else {
                fields[branch.id.text] = nodes
            }
        }
        if choice == .switch { fields["cases"] = .map(cases) }
    }

    public static func conditionForm(_ data: Expression) -> Value {
        if case .literal(.string) = data { return expression(data) }
        guard case .rule(let program) = data else { return expression(data) }
        return .string(program.text)
    }

    private static func forEach(_ definition: ForEachDefinition, isUse: (NodeDefinition) -> Bool) -> Value {
        var fields = ValueMap([(.string("in"), expression(definition.data))])
        if definition.idField != "id" {
            fields["id"] = .string(definition.idField.isEmpty ? "self" : definition.idField)
        }
        if definition.elementName != "element" { fields["as"] = .string(definition.elementName) }
        if definition.indexName != "index" { fields["index"] = .string(definition.indexName) }
        guard let template = definition.templates.first else { return .map(fields) }
        if template.component != nil, isUse(template) {
            addUse(of: template, into: &fields)
            addChildren(of: template, beyond: template.base, into: &fields, isUse)
        } else {
            fields["node"] = node(template, isUse)
        }
        return .map(fields)
    }

    /// A node inside a template. `SceneLimits.nesting` bounds the recursion.
    private static func node(_ definition: NodeDefinition, _ isUse: (NodeDefinition) -> Bool) -> Value {
        var fields = ValueMap()
        if !definition.id.isEmpty { fields["id"] = .string(definition.id.text) }
        let isWhole = definition.component == nil || !isUse(definition)
        if !isWhole {
            addUse(of: definition, into: &fields)
        } else {
            addMembers(of: definition, into: &fields, isUse: isUse)
            moveReactions(in: &fields)
        }
        addChildren(of: definition, beyond: isWhole ? nil : definition.base, into: &fields, isUse)
        return .map(fields)
    }

    /// - Parameter body: the component whose own children are omitted. Without one, nothing is given to slots.
    private static func addChildren(
        of definition: NodeDefinition, beyond body: NodeDefinition?, into fields: inout ValueMap,
        _ isUse: (NodeDefinition) -> Bool
    ) {
        func add(_ key: String, _ children: ArraySlice<NodeDefinition>) {
            if !children.isEmpty { fields[key] = .list(children.map { node($0, isUse) }) }
        }
        add("header", definition.header.dropFirst(body?.header.count ?? 0))
        let children = definition.children.dropFirst(body?.children.count ?? 0)
        add(
            definition.kind == .section ? "content" : "children",
            ArraySlice(children.filter { body == nil || $0.givenSlot == nil }))
        var slots = ValueMap()
        for child in children {
            guard body != nil, let slot = child.givenSlot else { continue }
            slots[.string(slot)] = .list((slots[.string(slot)]?.list ?? []) + [node(child, isUse)])
        }
        if !slots.isEmpty { fields["slots"] = .map(slots) }
        add("footer", definition.footer.dropFirst(body?.footer.count ?? 0))
    }
}

/// Members of a definition by group and name. Each is added in place: one node may have thousands.
public struct MemberGroups {
    private static let order = [
        "state", "binding", "let", "computed", "inherit", "clock", "actions", "environment", "containerValues",
        "preferences",
    ]
    private var groups = [ValueMap](repeating: ValueMap(), count: order.count)

    public init() {}

    public mutating func add(_ group: String, _ name: String, _ value: Value) {
        guard let position = MemberGroups.order.firstIndex(of: group) else {
            preconditionFailure("no members are in a group \(group)")
        }
        groups[position][name] = value
    }

    public func add(to fields: inout ValueMap) {
        for (name, members) in zip(MemberGroups.order, groups) where !members.isEmpty { fields[name] = .map(members) }
    }
}
