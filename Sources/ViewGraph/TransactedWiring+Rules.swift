import AttributeGraph
import AttributeValues
import SceneModel

// Writes through references and bindings with rules.

extension TransactedWiring {
    /// The place that is chosen now, with the writes of the open transaction.
    func place(_ selection: BoundSelection) throws(Failure) -> Place {
        try selection.place(
            try evaluate(.rule(selection.selection.program), at: selection.row, selection.scope, ValueMap()))
    }

    /// Writes through a binding with rules, in the open transaction.
    /// - Parameter steps: the place inside its value that is written.
    func write(
        _ set: [BindingTarget.Write], of binding: AttributeID, at steps: [AttributePath.Step],
        _ path: AttributePath, isKept: Bool, on basis: WriteBasis, _ animation: String?,
        _ change: (Value?) throws(Failure) -> Value?
    ) throws(Failure) {
        let record = record(binding)
        // A write of the whole needs no present value, and may be what gives the binding a value again.
        let content = contentInTransaction(at: Place(binding))
        let whole = basis == .nothing && steps.isEmpty ? content.value ?? .null : try content.get()
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
        for part in set {
            let target = part.target
            let value = try evaluate(
                part.value, at: record.node, .enclosing, ValueMap([(.string(BindingTarget.newValue), accepted)]))
            guard let attribute = resolveName(target.name.text, from: record.node, .enclosing) else {
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
