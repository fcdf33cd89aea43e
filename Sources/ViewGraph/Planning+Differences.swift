import AttributeValues
import SceneModel

// What a document would change, in words, for people who check before they apply it.

extension ScenePlan {
    /// So many lines are told; further ones are counted.
    static let toldDifferences = 1000
}

extension Planning {
    /// One line per attribute or group of modifiers: `+` for a new one, `-` for one that goes, `~` for a change; with
    /// the old and the new text.
    ///
    /// A line also tells which named layer says the attribute now.
    /// - Parameter target: what the node becomes.
    func describeDifferences(_ row: NodeRow, _ target: NodeDefinition) -> [String] {
        let path = graph.nodes.path(of: row)
        func said(_ attribute: AttributeDefinition) -> String {
            let (group, value) = DefinitionWriter.attribute(attribute)
            return "\(group) \(value.jsonText)"
        }
        func layer(_ name: String) -> String {
            graph.description.layerSaying(name, of: row).map { ", of the layer \($0.name) at \($0.at)" } ?? ""
        }
        var lines: [String] = []
        for attribute in target.attributes {
            let name = "\(path).\(attribute.name)"
            guard let existing = graph.ownAttribute(attribute.name, of: row),
                let old = graph.record(existing).definition
            else {
                lines.append("+ \(name): \(said(attribute))")
                continue
            }
            if old == attribute { continue }
            var line = "~ \(name): \(said(old)) → \(said(attribute))"
            if case (.state, .state) = (old.role, attribute.role) {
                line += old.type == attribute.type ? ", keeps its value" : ", starts from its initial value"
            }
            lines.append(line + layer(attribute.name))
        }
        let names = Set(target.attributes.map(\.name))
        for (name, attribute) in graph.nodes[row].attributes where !names.contains(name) {
            if graph.nodes[row].instances?.elements == attribute { continue }
            let old = graph.record(attribute).definition.map { ": \(said($0))" } ?? ""
            lines.append("- \(path).\(name)\(old)\(layer(name))")
        }
        var (before, after) = (ValueMap(), ValueMap())
        DefinitionWriter.addModifiers(of: graph.nodes[row].definition, beyond: nil, into: &before)
        DefinitionWriter.addModifiers(of: target, beyond: nil, into: &after)
        if let old = graph.nodes[row].definition.forEach { DefinitionWriter.addData(of: old, into: &before) }
        if let new = target.forEach { DefinitionWriter.addData(of: new, into: &after) }
        for case .string(let key) in before.keys where after[key] == nil {
            lines.append("- \(path) \(key): \(before[key]?.jsonText ?? "")")
        }
        for case .string(let key) in after.keys where before[key] != after[key] {
            let old = before[key].map { "\($0.jsonText) → " }
            lines.append("\(old == nil ? "+" : "~") \(path) \(key): \(old ?? "")\(after[key]?.jsonText ?? "")")
        }
        return lines
    }
}
