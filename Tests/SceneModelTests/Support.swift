import AttributeValues
import Foundation
import SceneModel
import Testing

/// A document that must be right; tells its faults if it is not.
func scene(_ text: String, context: SceneContext = SceneContext(), _ here: SourceLocation = #_sourceLocation) throws
    -> SceneDefinition
{
    do {
        return try SceneReader.read(text: text, file: "scene.yaml", context: context)
    } catch {
        Issue.record("\(error)", sourceLocation: here)
        throw error
    }
}

/// The faults of a document that must have some.
func faults(_ text: String, context: SceneContext = SceneContext(), _ here: SourceLocation = #_sourceLocation)
    -> [SceneFault]
{
    do {
        _ = try SceneReader.read(text: text, file: "scene.yaml", context: context)
        Issue.record("the document has no fault", sourceLocation: here)
        return []
    } catch {
        return error.faults
    }
}

/// `line:column message` of the only fault, with `hint` behind it if there is one.
func onlyFault(_ text: String, context: SceneContext = SceneContext(), _ here: SourceLocation = #_sourceLocation)
    -> String
{
    let found = faults(text, context: context, here)
    if found.count != 1 {
        Issue.record("not one fault but \(found.count): \(found.map(\.message))", sourceLocation: here)
    }
    guard let fault = found.first else { return "" }
    return "\(fault.position.line):\(fault.position.column) \(fault.message)" + (fault.hint.map { " | \($0)" } ?? "")
}

extension SceneDefinition {
    /// A node by the ids that lead to it.
    func node(_ ids: String...) throws -> NodeDefinition {
        var list = nodes
        var found: NodeDefinition?
        for id in ids {
            let next = try #require(
                list.first { $0.id.text == id } as NodeDefinition?, "no node \(id) among \(list.map(\.id))")
            found = next
            list = next.header + next.children + next.footer
        }
        return try #require(found)
    }
}

extension NodeDefinition {
    func attribute(_ name: String) throws -> AttributeDefinition {
        try #require(attributes.first { $0.name == name }, "no attribute \(name) among \(attributes.map(\.name))")
    }

    func type(_ name: String) throws -> ValueType { try attribute(name).type }
}

extension SceneModel.Expression {
    /// The expression as it would be written.
    var text: String {
        switch self {
        case .literal(let value): value.jsonText
        case .rule(let program): "=" + program.text
        case .selection(let selection): selection.written
        case .reference(let reference): "$" + reference.name.text + reference.steps.map(\.description).joined()
        }
    }
}

/// A file of the project, by its path from the project's root.
func projectFile(_ path: String) -> URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent(path)
}

/// The scenes of a folder of the project, by name.
func sceneFiles(in folder: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
        at: projectFile(folder).resolvingSymlinksInPath(), includingPropertiesForKeys: nil
    )
    .filter { $0.pathExtension == "yaml" && !$0.path.hasSuffix(".test.yaml") }.sorted { $0.path < $1.path }
}
