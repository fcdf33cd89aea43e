import AttributeGraph
import AttributeValues

/// What a transaction wants, before any of it has reached the engine.
struct OpenTransaction {
    /// The engine's clock when it began.
    let stamp: UInt64
    /// States that have been written, in the order in which they were first.
    var order: [AttributeID] = []
    /// What each shall hold, unless the engine has it already.
    var values: [AttributeID: Value] = [:]
    /// The engine has been told of writes ahead of the commit.
    var isAhead = false
    /// What has got, or may have got, another content since.
    var touched: [Touched] = []
    private var known: Set<AttributeID> = []
    /// Animations of the bindings that were written through, by the state they reached.
    var bindingAnimations: [AttributeID: String] = [:]

    /// A vertex as it was before.
    struct Touched {
        var attribute: AttributeID
        /// nil: its rule had never run.
        var content: Content?
        var changedAt: UInt64
    }

    init(stamp: UInt64) { self.stamp = stamp }

    /// - Returns: whether this is the first time.
    mutating func note(_ attribute: AttributeID) -> Bool { known.insert(attribute).inserted }

    func isTouched(_ attribute: AttributeID) -> Bool { known.contains(attribute) }
}
