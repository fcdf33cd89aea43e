import AttributeGraph
import AttributeValues
import SceneModel

/// A selection in the scope of a node.
final class BoundSelection {
    let selection: Selection
    let rule: BoundRule
    /// By number of the selection's target; nil where the target's name resolves to nothing.
    let targets: [AttributeID?]
    let row: NodeRow
    let scope: Scope

    init(
        _ selection: Selection, _ rule: BoundRule, _ targets: [AttributeID?], _ row: NodeRow, _ scope: Scope
    ) {
        self.selection = selection
        self.rule = rule
        self.targets = targets
        self.row = row
        self.scope = scope
    }

    func isSame(as other: BoundSelection) -> Bool {
        selection == other.selection && targets == other.targets && rule.readsSame(as: other.rule, at: .none)
    }

    func place(_ result: Value) throws(Failure) -> Place {
        let (number, steps) = try selection.resolve(result)
        guard let target = targets[number] else {
            throw Failure(
                .dangling, "$\(selection.targets[number].name) names no attribute of an enclosing node",
                rule: selection.text)
        }
        return Place(target, steps)
    }
}
