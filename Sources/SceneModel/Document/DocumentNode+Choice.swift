/// The kinds of choices among the nodes of a document.
extension DocumentNode {
    private static let choices = [ForEachDefinition.Choice.if, .switch, .place, .slot].map { ($0, $0.rawValue) }

    /// The kind of choice that a node in a list of children is; nil for any other node.
    var choice: ForEachDefinition.Choice? {
        let entries: [DocumentEntry]
        switch content {
        case .map(let written), .copy(let written, _): entries = written
        case .scalar, .list: return nil
        }
        return DocumentNode.choices.first { _, name in entries.contains { $0.key.text.hasSameBytes(as: name) } }?.0
    }

    /// The lists of nodes in a choice, in the order in which they are written.
    var branches: [DocumentNode] {
        (map ?? []).flatMap { entry -> [DocumentNode] in
            switch entry.name {
            case "then", "else", "default": [entry.value]
            case "cases": (entry.value.map ?? []).map(\.value)
            default: []
            }
        }
    }
}
