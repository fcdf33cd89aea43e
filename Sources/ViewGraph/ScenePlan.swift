import AttributeValues
import SceneModel

/// How a document changes a living tree: worked out whole before any of it is done.
public struct ScenePlan {
    var declarations: Declarations
    var creations: [(parent: UInt32, definition: NodeDefinition, slot: Slot, isContent: Bool)] = []
    var removals: [UInt32] = []
    var updates: [(row: UInt32, definition: NodeDefinition, isReplacing: Bool, isContent: Bool)] = []
    /// Those of them that become others by it.
    var changes: [UInt32] = []
    /// Children that the document puts into another part of their section.
    var slots: [(row: UInt32, slot: Slot)] = []
    /// Nodes whose children shall stand in the document's order.
    var orders: [(parent: UInt32, definitions: [NodeDefinition])] = []
    /// The `forEach` nodes that get another template, whether they have instances or not.
    var templates: Set<UInt32> = []
    /// `forEach` nodes whose instances cannot be carried on.
    var restarts: [UInt32] = []
    /// Nodes that become what a template says, and not what the document says.
    var remade: Set<UInt32> = []
    /// Creations below these.
    var remadeCreations: Set<Int> = []
    /// Nodes below which everything is connected anew.
    var top: UInt32
    /// States to set at the end.
    var values: [(path: AttributePath, value: Value)] = []

    /// Paths, for people.
    public internal(set) var added: [String] = []
    public internal(set) var removed: [String] = []
    public internal(set) var changed: [String] = []
    /// What changes at nodes that stay, a line each.
    public internal(set) var differences: [String] = []
    var untoldDifferences = 0
}

public enum ApplyMode {
    /// Every node must be new.
    case create
    /// Nodes that exist are brought up to the document; what it does not mention stays.
    case merge
    /// As merge, but below the place of application nothing stays that the document does not
    /// mention.
    case replace
}
