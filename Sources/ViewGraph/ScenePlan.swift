import AttributeValues
import SceneModel

/// How a document changes a tree: worked out completely before anything is changed.
public struct ScenePlan {
    var declarations: Declarations
    var creations: [(parent: NodeRow, definition: NodeDefinition, slot: Slot, isContent: Bool, origin: Origin)] = []
    /// Nodes that the edits remove.
    var removals: [NodeRow] = []
    /// Nodes that the layers below the edits no longer have.
    var losses: [NodeRow] = []
    var updates: [Update] = []
    /// Updated nodes that differ from the document.
    var changes: [NodeRow] = []
    /// Children that stand in another part of their section. If the document says so, it is a part of the edits.
    var slots: [(row: NodeRow, slot: Slot, isSaid: Bool)] = []
    /// Nodes whose children shall stand in the document's order.
    var orders: [(parent: NodeRow, definitions: [NodeDefinition])] = []
    /// The children that the layers below the edits now give nodes, in order.
    var childrenBelow: [(parent: NodeRow, ids: [Name])] = []
    /// The named layers from now on, if they change, and the changes of their rows.
    var layers: NamedLayers?
    var layerChanges: [StoreChange] = []
    /// The number of the layer that the document is.
    var layer: Int?
    /// `forEach` nodes whose instances cannot be kept.
    var restarts: [NodeRow] = []

    /// The layer that makes a new node.
    enum Origin {
        case edits, below
        /// A layer below makes it, and the edits no longer remove it.
        case restored
        /// A layer below makes it, and the document completes it.
        case completed(by: NodeDefinition, over: NodeDefinition)
    }

    /// The planned change of a node that exists.
    struct Update {
        var row: NodeRow
        /// Its definition, composed from all layers.
        var definition: NodeDefinition
        /// What the edits say of it.
        var content: PartContent
        /// What the layers below say of it.
        var bottom: NodeDefinition?
        /// True if the edits say something else of it than before.
        var isSaid: Bool
    }
    /// The node to which the document is applied.
    var top: NodeRow
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
    /// The document completes nodes that exist. Everything that it does not mention stays.
    case merge
    /// As merge, but below the place of application nothing stays that the document does not
    /// mention.
    case replace
}
