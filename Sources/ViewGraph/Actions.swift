import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// Calls of actions, and the writes that a call makes.

/// An action that is called, with its arguments.
public struct ActionCall {
    public let path: String
    public let attribute: AttributeID
    let row: NodeRow
    let action: ActionDefinition
    var arguments: ValueMap
    /// The object whose type has the action, and the author of the type; nil for an action of a node.
    var object: (place: Place, author: PartAuthor)?
    /// The caller, as the action's rules read it.
    public var caller: Value = .null
}

/// One write of an action's call.
public struct ActionWrite {
    public var operation: ActionDefinition.Operation
    /// The path that is written. `place` is where it leads.
    public var path: AttributePath
    public var place: Place
    public var value: Value?
    /// Of an insertion: the position in the list at the place.
    public var index: Int?
    public var animation: String?
    /// The action that writes: the one that was called, or one that it calls.
    public var action: AttributeID
    /// The author of the type that has the action, if one has.
    public var typeAuthor: PartAuthor?
}

extension TransactedWiring {
    /// - Parameters:
    ///   - place: where the path leads.
    ///   - arguments: by the names of the action's parameters.
    /// - Throws: `invalid` for a path that names no action; `invalid` and `typeMismatch` for arguments.
    public func call(
        actionAt place: Place, named text: String, _ arguments: ValueMap
    ) throws(Failure) -> ActionCall {
        if let (action, object) = actionOfType(at: place) {
            return ActionCall(
                path: text, attribute: place.attribute, row: record(place.attribute).node, action: action,
                arguments: try self.arguments(arguments, for: action, at: text), object: object)
        }
        let attribute = self.action(behind: place.attribute).action
        guard place.steps.isEmpty, case .action(let action)? = record(attribute).definition?.role else {
            throw Failure(
                .invalid, "\(text) is no action", path: text, hint: "describe shows the kind of each attribute")
        }
        return ActionCall(
            path: text, attribute: attribute, row: record(attribute).node, action: action,
            arguments: try self.arguments(arguments, for: action, at: text))
    }

    /// The action that a place names behind an object: `books[0].read`.
    private func actionOfType(at place: Place) -> (ActionDefinition, object: (place: Place, author: PartAuthor))? {
        guard case .key(let name)? = place.steps.last else { return nil }
        let object = Place(place.attribute, Array(place.steps.dropLast()))
        var type = declaredType(of: object)
        if case .nullable(let inner) = type { type = inner }
        guard let known = type.objectName.flatMap({ declarations.types[$0] }), let action = known.action(name) else {
            return nil
        }
        return (action, (object, known.author))
    }

    /// The properties of an object that an action of its type reads, as they are before the first write.
    private func properties(readBy action: ActionDefinition, of object: Place) throws(Failure) -> ValueMap {
        var found = ValueMap()
        for name in action.names where found[.string(name)] == nil {
            found[.string(name)] = try content(at: object.inside([.key(name)])).get()
        }
        return found
    }

    /// The action that an attribute hands down, with the authors of the attributes on the way: a component may get an
    /// action as a parameter.
    private func action(behind attribute: AttributeID) -> (action: AttributeID, way: [PartAuthor]) {
        var (at, way) = (attribute, [PartAuthor]())
        for _ in 0...limits.depth {
            switch attributes.source(at) {
            case .alias(let target, _)? where target.steps.isEmpty:
                way.append(author(of: at))
                at = target.attribute
            case .rooted(let reference)?:
                guard let target = try? self.place(reference), target.steps.isEmpty else { return (at, way) }
                at = target.attribute
            default: return (at, way)
            }
        }
        return (at, way)
    }

    /// The writes of a call, in order. All rules see the graph as it is before the first write.
    /// - Throws: `notFound` and `dangling` for a target that is not there, the failure of a rule, `limit`.
    public func makeWrites(of call: ActionCall) throws(Failure) -> [ActionWrite] {
        var writes: [ActionWrite] = []
        try addWrites(of: call, calledBy: [], to: &writes)
        return writes
    }

    /// How many actions may call each other. Calls nest on the stack.
    private static let mostNestedCalls = 16

    /// - Parameter callers: the paths of the actions that lead to this call.
    private func addWrites(
        of call: ActionCall, calledBy callers: [String], to writes: inout [ActionWrite]
    ) throws(Failure) {
        let text = call.path
        guard callers.count < TransactedWiring.mostNestedCalls else {
            throw Failure(
                .cycle,
                "more than \(TransactedWiring.mostNestedCalls) actions call each other: "
                    + (callers + [text]).joined(separator: " → "), path: text, hint: "let one of them write by itself")
        }
        var call = call
        if let object = call.object?.place {
            do throws(Failure) {
                let read = try properties(readBy: call.action, of: object)
                for (name, value) in read where call.arguments[name] == nil { call.arguments[name] = value }
            } catch { throw error.located(at: text).within(text) }
        }
        if call.action.readsCaller { call.arguments[.string(ActionDefinition.caller)] = call.caller }
        let scope = Scope.modifier.atUse(call.action.isAtUse)
        for step in call.action.steps {
            if !callers.isEmpty { try charge(Budget.stepsPerBinding) }
            do throws(Failure) {
                guard try isDue(step, of: call, scope) else { continue }
                if step.operation == .call {
                    try addCalls(of: step, of: call, scope, calledBy: callers + [text], to: &writes)
                    continue
                }
            } catch { throw error.located(at: text).within(text) }
            var value: Value?
            do throws(Failure) {
                if let expression = step.value { value = try evaluate(expression, at: call.row, scope, call.arguments) }
            } catch { throw error.located(at: text).within(text) }
            try forEachTarget(of: step, of: call, scope) { (path, place) throws(Failure) in
                var (path, place, index) = (path, place, Int?.none)
                if step.operation == .insert, case .index(let position)? = path.steps.popLast() {
                    place.steps.removeLast()
                    index = position
                }
                writes.append(
                    ActionWrite(
                        operation: step.operation, path: path, place: place, value: value, index: index,
                        animation: step.animation, action: call.attribute, typeAuthor: call.object?.author))
            }
        }
    }

    /// True if all conditions of a step hold.
    private func isDue(_ step: ActionDefinition.Step, of call: ActionCall, _ scope: Scope) throws(Failure) -> Bool {
        for condition in step.conditions {
            let value = try evaluate(condition, at: call.row, scope, call.arguments)
            guard case .bool(let holds) = value else {
                throw Failure(
                    .typeMismatch, "when is a condition, but gives a value of type '\(value.shortTypeName)'",
                    rule: condition.program?.text, hint: "write a rule that is true or false")
            }
            if !holds { return false }
        }
        return true
    }

    private func addCalls(
        of step: ActionDefinition.Step, of call: ActionCall, _ scope: Scope, calledBy callers: [String],
        to writes: inout [ActionWrite]
    ) throws(Failure) {
        var arguments = ValueMap()
        for (name, value) in step.arguments {
            arguments[.string(name)] = try evaluate(value, at: call.row, scope, call.arguments)
        }
        var called: [(path: AttributePath, place: Place)] = []
        try forEachTarget(of: step, of: call, scope) { called.append(($0, $1)) }
        for (path, place) in called {
            try charge(Budget.stepsPerBinding)
            let (target, way) = self.action(behind: place.attribute)
            let end = try AttributePath(self.path(of: target))
            for author in [self.author(of: call.attribute)] + way { try writeGuard?.checkCall(end, author) }
            var inner = try self.call(actionAt: place, named: path.description, arguments)
            inner.caller = call.caller
            let first = writes.count
            try addWrites(of: inner, calledBy: callers, to: &writes)
            guard let animation = step.animation else { continue }
            for at in writes.indices[first...] where writes[at].animation == nil { writes[at].animation = animation }
        }
    }

    /// Finds the places that a step names.
    private func forEachTarget(
        of step: ActionDefinition.Step, of call: ActionCall, _ scope: Scope,
        _ body: (AttributePath, Place) throws(Failure) -> Void
    ) throws(Failure) {
        func named(_ name: String, _ steps: [AttributePath.Step]) throws(Failure) {
            if let object = call.object?.place {
                var path = try AttributePath(self.path(of: object.attribute))
                let steps = object.steps + [.key(name)] + steps
                path.steps += steps
                return try body(path, Place(object.attribute, steps))
            }
            guard let target = resolveName(name, from: call.row, scope) else {
                throw Failure(
                    .dangling, "\(call.path): $\(name) names no attribute of an enclosing node", path: call.path)
            }
            var path = try AttributePath(self.path(of: target))
            path.steps += steps
            try body(path, Place(target, steps))
        }
        switch step.target {
        case .reference(let reference): try named(reference.name.text, reference.steps)
        case .selection(let selection):
            let (number, steps): (Int, [AttributePath.Step])
            do throws(Failure) {
                let result = try evaluate(.rule(selection.program), at: call.row, scope, call.arguments)
                (number, steps) = try selection.resolve(result)
            } catch { throw error.located(at: call.path).within(call.path) }
            try named(selection.targets[number].name, steps)
        case .pattern(let pattern):
            if let exact = pattern.exact { return try body(exact, try locate(exact)) }
            try PatternSearch(pattern, in: self).forEachAttribute { (attribute, whole) throws(Failure) in
                if step.operation == .call {
                    let isAction = if case .action? = record(attribute).definition?.role { true } else { false }
                    guard isAction || actionOfType(at: Place(attribute, pattern.steps)) != nil else { return }
                }
                var path = try AttributePath(whole)
                path.steps += pattern.steps
                try body(path, Place(attribute, pattern.steps))
            }
        }
    }

    private func arguments(
        _ given: ValueMap, for action: ActionDefinition, at path: String
    ) throws(Failure) -> ValueMap {
        let names = action.parameters.map(\.name)
        for (key, _) in given where key.string.map({ !names.contains($0) }) ?? true {
            let name = key.string ?? "\(key)"
            throw Failure(
                .invalid, "\(path) has no parameter '\(name)'", path: path,
                hint: NearestName.hint(name, among: names)
                    ?? (names.isEmpty ? "it takes none" : "it takes \(names.joined(separator: ", "))"))
        }
        var values = ValueMap()
        for parameter in action.parameters {
            guard let value = given[parameter.name] ?? parameter.standard else {
                throw Failure(
                    .invalid, "\(path) needs the parameter '\(parameter.name)'", path: path,
                    hint: "it takes " + action.parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", "))
            }
            guard let accepted = declarations.accept(value, as: parameter.type) else {
                throw Failure(
                    .typeMismatch,
                    "\(path): '\(parameter.name)' takes \(parameter.type), not \(value.shortTypeName)",
                    path: path)
            }
            values[parameter.name] = accepted
        }
        return values
    }

    /// Evaluates an expression in a scope of a node. States have the values that the open transaction has written so
    /// far.
    /// - Parameter arguments: values by name. They hide names of the scope.
    func evaluate(
        _ expression: Expression, at row: NodeRow, _ scope: Scope, _ arguments: ValueMap
    ) throws(Failure) -> Value {
        switch expression {
        case .literal(let value): return value
        case .reference(let reference):
            if let value = arguments[reference.name.text] {
                return try value.select(reference.steps).get()
            }
            guard let found = resolveName(reference.name.text, from: row, scope) else {
                throw Failure(.dangling, "$\(reference.name) names no attribute of an enclosing node")
            }
            return try contentInTransaction(at: Place(found, reference.steps)).get()
        case .rule(let program):
            var values = arguments
            for input in program.inputs where values[input.variable] == nil {
                guard case .attribute(let attribute) = evaluationSource(input, at: row, scope) else { continue }
                values[input.variable] = try contentInTransaction(at: Place(attribute)).get()
            }
            return try evaluate(program, bindings: values).get()
        case .selection(let selection):
            let chosen = try evaluate(.rule(selection.program), at: row, scope, arguments)
            let (number, steps) = try selection.resolve(chosen)
            let name = selection.targets[number].name
            return try evaluate(.reference(Reference(name: Name(name), steps: steps)), at: row, scope, arguments)
        }
    }
}
