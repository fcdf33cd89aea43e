import AttributeGraph
import AttributeValues

/// The state of a `forEach`: it has one instance for each element, or each entry of a map. The id of the element gives
/// the instance its name.
struct ForEachState {
    /// The vertex of the list. It is always watched, because the tree has to follow it.
    var data: AttributeID
    /// The vertex of `elements`: the ids in order, or the error of the data. It is a rule over `order`, so it costs
    /// nothing until somebody reads it. A choice has none.
    var elements: AttributeID?
    /// Counts up with every change of the ids and of `failure`.
    var order: AttributeID
    /// Why the present data makes no instances. The former instances stay meanwhile.
    var failure: Failure?
    /// Set for an endless list: says when the list is tried again.
    var endless: EndlessData?
    /// True while the data is refused and the store has the list that the instances were made from: see
    /// `Persistence.noteFrozen`.
    var isFrozen = false
    /// The place of the list, if the data is a reference: instances bind to its elements. Of a map, it is always known.
    var target: Place?
    /// True if the data is a map, and `list` has its keys.
    var isOfMap = false
    /// The list that the instances show, and the id of each element. Both have the order of the node's children.
    var list: ValueList = []
    var ids: ValueList = []
    /// True if some instance's index is a vertex, which must be kept current.
    var hasIndices = false
}

/// The rules in the loop of an endless list.
struct EndlessData {
    var rules: [AttributeID]
    /// The sum of their runs when the list was stopped.
    var runs: UInt32
}
