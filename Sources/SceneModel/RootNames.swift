import AttributeValues
import RuleLanguage

extension SceneDefinition {
    /// The paths from the root that its rules read, and those that its bindings may write.
    public var rootNames: (read: Set<String>, written: Set<String>) {
        var (read, written): (Set<String>, Set<String>) = ([], [])
        func note(_ expression: Expression, _ names: inout Set<String>) {
            switch expression {
            case .literal: break
            case .reference(let reference): names.insert(reference.name)
            case .rule(let program): names.formUnion(program.inputs.map(\.name))
            case .selection(let selection): names.formUnion(selection.program.inputs.map(\.name))
            }
        }
        for node in (nodes + declarations.components.values).flatMap(\.withAllBelow) {
            for expression in node.expressions { note(expression, &read) }
            for attribute in node.attributes {
                guard case .binding(let target?, _) = attribute.role else { continue }
                switch target {
                case .reference(let reference): note(.reference(reference), &written)
                case .rules(_, let set): for (target, _) in set { note(.reference(target), &written) }
                case .selection, .constant: break
                }
            }
        }
        func paths(_ names: Set<String>) -> Set<String> {
            Set(names.lazy.filter { $0.hasPrefix("$/") }.map { String($0.dropFirst()) })
        }
        return (paths(read), paths(written))
    }
}
