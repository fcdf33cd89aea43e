import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// Calls of actions, and the writes that a call makes.

/// An action that is called, with its arguments.
public struct ActionCall {
    public let path: String
    public let attribute: AttributeID
    let row: UInt32
    let action: ActionDefinition
    let arguments: ValueMap
}

/// One write of an action's call.
public struct ActionWrite {
    public var operation: ActionDefinition.Operation
    /// The path that is written. `place` is where it leads.
    public var path: AttributePath
    public var place: Place
    public var value: Value?
    public var animation: String?
}

extension TransactedWiring {
    /// - Parameters:
    ///   - place: where the path leads.
    ///   - arguments: by the names of the action's parameters.
    /// - Throws: `invalid` for a path that names no action; `invalid` and `typeMismatch` for arguments.
    public func call(
        actionAt place: Place, named text: String, _ arguments: ValueMap
    ) throws(Failure) -> ActionCall {
        guard place.steps.isEmpty, case .action(let action)? = record(place.attribute).definition?.role else {
            throw Failure(
                .invalid, "\(text) is no action", path: text, hint: "describe shows the kind of each attribute")
        }
        return ActionCall(
            path: text, attribute: place.attribute, row: record(place.attribute).node, action: action,
            arguments: try self.arguments(arguments, for: action, at: text))
    }

    /// The writes of a call, in order. All rules see the graph as it is before the first write.
    /// - Throws: `notFound` and `dangling` for a target that is not there, the failure of a rule, `limit`.
    public func makeWrites(of call: ActionCall) throws(Failure) -> [ActionWrite] {
        let (text, row, scope) = (call.path, call.row, Scope.modifier.atUse(call.action.isAtUse))
        var writes: [ActionWrite] = []
        for step in call.action.steps {
            var value: Value?
            do throws(Failure) {
                if let expression = step.value { value = try evaluate(expression, at: row, scope, call.arguments) }
            } catch {
                throw error.located(at: text).within(text)
            }
            func add(_ path: AttributePath, _ place: Place) {
                writes.append(
                    ActionWrite(
                        operation: step.operation, path: path, place: place, value: value, animation: step.animation))
            }
            switch step.target {
            case .reference(let reference):
                guard let target = resolveName(reference.name.text, from: row, scope) else {
                    throw Failure(
                        .dangling, "\(text): $\(reference.name) names no attribute of an enclosing node", path: text)
                }
                var path = try AttributePath(self.path(of: target))
                path.steps += reference.steps
                add(path, Place(target, reference.steps))
            case .pattern(let pattern):
                if let exact = pattern.exact {
                    add(exact, try locate(exact))
                    continue
                }
                try PatternSearch(pattern, in: self).forEachAttribute { (attribute, whole) throws(Failure) in
                    var path = try AttributePath(whole)
                    path.steps += pattern.steps
                    add(path, Place(attribute, pattern.steps))
                }
            }
        }
        return writes
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
        _ expression: Expression, at row: UInt32, _ scope: Scope, _ arguments: ValueMap
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
            guard case .selected(let bound) = boundSelection(selection, at: row, scope) else {
                return .null
            }
            return try contentInTransaction(at: try place(bound)).get()
        }
    }
}
