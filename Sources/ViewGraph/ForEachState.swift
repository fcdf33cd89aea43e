import AttributeGraph
import AttributeValues

/// The living side of a `forEach`: one instance per element, found by the name that its id gives
/// it.
struct ForEachState {
    /// Holds the list; always watched, because the tree must be right for whoever looks at it.
    var data: AttributeID
    /// The ids in order, or why there are no instances; a rule over `order`, so that it costs
    /// nothing until somebody reads it. A choice has none.
    var elements: AttributeID?
    /// Counts up with every change of the ids and of `failure`.
    var order: AttributeID
    /// Why the data makes no instances now; those there were stay until it does again.
    var failure: Failure?
    /// The list would change without end: what it waits for to be tried again.
    var endless: EndlessData?
    /// The instances are kept beside the data that is refused: see `Persistence.noteHeld`.
    var isHeld = false
    /// Data that is a reference: where the elements live, so that instances can bind to them.
    var target: Place?
    /// The data as the instances show it, and the id of each element. The node's children stand in
    /// the same order.
    var list: ValueList = []
    var ids: ValueList = []
    /// Some instance's index is a vertex that must be kept right.
    var hasIndices = false
}

/// What the data of an endless list depends on within its loop.
struct EndlessData {
    var rules: [AttributeID]
    /// How often they had run when the list was given up.
    var runs: UInt32
}
