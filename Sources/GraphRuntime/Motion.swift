import AttributeGraph
import Timelines

/// How one transaction's changes move.
struct Motion {
    var isDisabled = false
    /// The transaction's own animation.
    var animation: Animation?
    /// Seconds for which it has run already.
    var elapsed = 0.0
    /// By the state that was written through a binding with an animation.
    var bindings: [AttributeID: Animation] = [:]

    static let none = Motion()
}
