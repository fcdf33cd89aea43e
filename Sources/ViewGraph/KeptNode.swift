import SceneModel

/// What a store knows of a node beyond what its scene, template or component says; nodes that
/// nobody changed have none.
final class KeptNode {
    /// nil: it follows from the parent's key.
    var key: String?
    /// Its place among its siblings; nil: the one that it was made at.
    var order: String?
    /// What it was made from, where that is not its definition any more.
    var base: NodeDefinition?
    /// A client has made it: its row says all of it.
    var isOwn = false
    /// A scene makes it now in the place of a client's node, whose key it goes on with.
    var isHeir = false
    /// It stands in another part of its section than it was made in.
    var isElsewhere = false
    /// The store has a row of the node itself.
    var isStored = false
    /// Its row has to be looked at when the change at hand is done.
    var isDue = false
    private var moves: Moves?

    /// Few nodes are moved, and few lose children.
    private final class Moves {
        var home: NodeID?
        var maker: NodeID?
        var removed: Set<String> = []
    }

    private var madeMoves: Moves {
        if let moves { return moves }
        let made = Moves()
        moves = made
        return made
    }

    /// The parent that it was made in, if that is not the parent it has.
    var home: NodeID? {
        get { moves?.home }
        set { if moves != nil || newValue != nil { madeMoves.home = newValue } }
    }
    /// The instance or client's node that it is a part of, for one that was moved. nil: a scene makes it.
    var maker: NodeID? {
        get { moves?.maker }
        set { if moves != nil || newValue != nil { madeMoves.maker = newValue } }
    }
    /// Ids of those of its children that it was made with and clients removed.
    var removed: Set<String> {
        get { moves?.removed ?? [] }
        _modify { yield &madeMoves.removed }
    }
}
