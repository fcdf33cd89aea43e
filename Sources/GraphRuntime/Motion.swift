import AttributeGraph
import Timelines

/// How one transaction's changes move.
struct Motion {
    var isDisabled = false
    /// The transaction's own animation.
    var animation: Animation?
    /// By the state that was written through a binding with an animation.
    var bindings: [AttributeID: Animation] = [:]

    static let none = Motion()
}
