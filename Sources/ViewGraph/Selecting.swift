import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// References that a rule chooses. Readers stop at the attribute that has one, and do not follow it to what it means now, as
// they do with other references. So when the rule chooses another place, nothing has to be connected again.

/// A selection in the scope of a node.
final class BoundSelection {
    let selection: Selection
    let rule: BoundRule
    /// By number of the selection's target; nil for names that lead nowhere.
    let targets: [AttributeID?]
    fileprivate let row: UInt32
    fileprivate let scope: Scope

    fileprivate init(
        _ selection: Selection, _ rule: BoundRule, _ targets: [AttributeID?], _ row: UInt32, _ scope: Scope
    ) {
        self.selection = selection
        self.rule = rule
        self.targets = targets
        self.row = row
        self.scope = scope
    }

    func isSame(as other: BoundSelection) -> Bool {
        selection.text == other.selection.text && targets == other.targets && rule.readsSame(as: other.rule)
    }

    fileprivate func place(_ result: Value) throws(Failure) -> Place {
        let (number, steps) = try selection.resolve(result)
        guard let target = targets[number] else {
            throw Failure(
                .dangling, "$\(selection.targets[number].name) names no attribute of an enclosing node",
                rule: selection.text)
        }
        return Place(target, steps)
    }
}

extension ViewGraph {
    func selected(_ selection: Selection, at row: UInt32, _ scope: Scope) -> Source {
        guard case .rule(let rule) = rule(selection.program, at: row, scope) else {
            preconditionFailure("a program that is no rule")
        }
        let targets = selection.targets.map { attribute(named: $0.name, from: row, scope) }
        return .selected(BoundSelection(selection, rule, targets, row, scope), steps: [], whole: nil)
    }

    /// What the chosen place holds. Its reader depends on the rule and on that place alone.
    func evaluate(_ selection: BoundSelection, _ steps: [AttributePath.Step], for attribute: AttributeID) throws
        -> Content
    {
        let result = try evaluate(selection.rule, for: attribute)
        let place: Place
        do throws(Failure) { place = try selection.place(try result.get()) } catch { return .failure(error) }
        return try engine.read(vertex(for: Place(place.attribute, place.steps + steps)))
    }

    /// The place that is chosen now, as the open transaction leaves it so far.
    func place(_ selection: BoundSelection) throws(Failure) -> Place {
        try selection.place(
            try evaluate(.rule(selection.selection.program), at: selection.row, selection.scope, ValueMap()))
    }

    /// Writes through a binding with rules, in the open transaction.
    /// - Parameter steps: the place inside its value that is written.
    func write(
        _ set: [(target: Reference, value: Expression)], of binding: AttributeID, at steps: [AttributePath.Step],
        _ path: AttributePath, isKept: Bool, _ animation: String?, _ change: (Value?) throws(Failure) -> Value?
    ) throws(Failure) {
        let record = record(binding)
        let whole = try contentInTransaction(at: Place(binding)).get()
        let changed: Value
        do throws(Failure) { changed = try whole.changing(steps, change) } catch {
            throw error.located(at: path.description)
        }
        guard let accepted = declarations.accept(changed, as: record.type) else {
            throw mismatch(record.type, changed, Place(binding), Place(binding, steps), path)
        }
        guard let open = transaction, open.enterBinding() else {
            throw Failure(.limit, "\(path) goes through too many bindings with rules", path: path.description)
        }
        defer { open.leaveBinding() }
        for (target, expression) in set {
            let value = try evaluate(
                expression, at: record.node, .enclosing, ValueMap([(.string(BindingTarget.newValue), accepted)]))
            guard let attribute = attribute(named: target.name, from: record.node, .enclosing) else {
                throw Failure(
                    .dangling, "$\(target.name) names no attribute of an enclosing node", path: path.description)
            }
            var inner = try AttributePath(self.path(of: attribute))
            inner.steps += target.steps
            try write(Place(attribute, target.steps), through: inner, isKept: isKept, animation: animation) {
                _ throws(Failure) in value
            }
        }
    }
}
