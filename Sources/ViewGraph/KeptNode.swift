import AttributeValues
import SceneModel

/// What a store has to know about a node beyond its definition in a scene, template or component. Nodes that nobody
/// changed have none.
final class KeptNode {
    /// nil: it follows from the parent's key.
    var key: OwnKey?
    /// The key of its place among its siblings; nil: the place where it was made.
    var order: String?
    /// True if a client has made it: its row contains its whole definition.
    var isOwn = false
    /// True if a scene or template now makes this node, which a client had made. The node keeps its key.
    var isHeir = false
    /// True if it is in another part of its section than it was made in.
    var isElsewhere = false
    /// True if the store has a row of the node itself.
    var isStored = false
    /// True while the node waits in `Persistence` for its row to be worked out.
    var isDue = false
    private var rare: Rare?

    /// Few nodes are moved or defined anew, and few lose children.
    private final class Rare {
        var base: NodeDefinition?
        var home: NodeID?
        var maker: NodeID?
        var removed: Set<Name> = []
    }

    private var madeRare: Rare {
        if let rare { return rare }
        let made = Rare()
        rare = made
        return made
    }

    /// The definition that it was made from; nil: its present definition.
    var base: NodeDefinition? {
        get { rare?.base }
        set { if rare != nil || newValue != nil { madeRare.base = newValue } }
    }
    /// The parent that it was made in, if it has another one now.
    var home: NodeID? {
        get { rare?.home }
        set { if rare != nil || newValue != nil { madeRare.home = newValue } }
    }
    /// For a moved node: the instance or client's node that it is a part of. nil: a scene makes it.
    var maker: NodeID? {
        get { rare?.maker }
        set { if rare != nil || newValue != nil { madeRare.maker = newValue } }
    }
    /// Ids of children that it was made with and that clients have removed.
    var removed: Set<Name> {
        get { rare?.removed ?? [] }
        _modify { yield &madeRare.removed }
    }
}
