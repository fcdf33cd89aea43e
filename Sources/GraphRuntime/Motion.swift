import AttributeGraph
import AttributeValues
import Timelines

/// How one transaction's changes move.
struct Motion {
    var isDisabled = false
    /// The transaction's own animation.
    var animation: Animation?
    /// The same, as the client has written it.
    var written: Value?
    /// Seconds for which the animation has already been running.
    var elapsed = 0.0
    /// The animations of bindings, by the state that was written through the binding.
    var bindings: [AttributeID: Animation] = [:]
}
