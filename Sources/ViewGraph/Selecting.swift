import AttributeGraph
import AttributeValues
import SceneModel

// References that a rule chooses. Readers depend on the attribute with such a reference, and are not connected to the
// chosen place, as they are with other references. So when the rule chooses another place, nothing has to be connected
// again.

extension Wiring {
    func boundSelection(_ selection: Selection, at row: UInt32, _ scope: Scope) -> Source {
        guard case .rule(let rule) = boundRule(selection.program, at: row, scope) else {
            preconditionFailure("a program that is no rule")
        }
        let targets = selection.targets.map { resolveName($0.name, from: row, scope) }
        return .selected(BoundSelection(selection, rule, targets, row, scope), steps: [], whole: nil)
    }

    /// The content of the chosen place. Its reader depends on the rule and on that place alone.
    func evaluate(_ selection: BoundSelection, _ steps: [AttributePath.Step], for attribute: AttributeID) throws
        -> Content
    {
        let result = try evaluate(selection.rule, for: attribute)
        let place: Place
        do throws(Failure) { place = try selection.place(try result.get()) } catch { return .failure(error) }
        return try engine.read(vertex(for: Place(place.attribute, place.steps + steps)))
    }
}
