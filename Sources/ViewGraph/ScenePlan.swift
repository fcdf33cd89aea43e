import AttributeValues
import SceneModel

/// How a document changes a tree: worked out completely before anything is changed.
public struct ScenePlan {
    var declarations: Declarations
    var creations: [(parent: UInt32, definition: NodeDefinition, slot: Slot, isContent: Bool)] = []
    var removals: [UInt32] = []
    var updates: [(row: UInt32, definition: NodeDefinition, isReplacing: Bool, isContent: Bool)] = []
    /// Updated nodes that differ from the document.
    var changes: [UInt32] = []
    /// Children that the document puts into another part of their section.
    var slots: [(row: UInt32, slot: Slot)] = []
    /// Nodes whose children shall stand in the document's order.
    var orders: [(parent: UInt32, definitions: [NodeDefinition])] = []
    /// The `forEach` nodes that get another template, whether they have instances or not.
    var templates: Set<UInt32> = []
    /// `forEach` nodes whose instances cannot be kept.
    var restarts: [UInt32] = []
    /// Nodes whose new definition comes from a template, not from the document.
    var remade: Set<UInt32> = []
    /// Places in `creations` of the nodes that such nodes get.
    var remadeCreations: Set<Int> = []
    /// The node to which the document is applied.
    var top: UInt32
    /// States to set at the end.
    var values: [(path: AttributePath, value: Value)] = []

    /// Paths, for people.
    public internal(set) var added: [String] = []
    public internal(set) var removed: [String] = []
    public internal(set) var changed: [String] = []
    /// The changes of nodes that stay, one line each.
    public internal(set) var differences: [String] = []
    var untoldDifferences = 0
}

public enum ApplyMode {
    /// Every node must be new.
    case create
    /// Nodes that exist are completed by the document. What the document does not mention stays.
    case merge
    /// As merge, but below the place of application nothing stays that the document does not
    /// mention.
    case replace
}
