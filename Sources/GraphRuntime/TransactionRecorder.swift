import AttributeGraph
import AttributeValues
import ViewGraph

/// Hears of each transaction, and of all that a start needs to make the graph of that moment again.
///
/// The order: `begin`, then what the transaction has changed, until the next `begin`. Changes of rows that follow
/// from a transaction may come in a later turn, as those of a large subtree that is freed.
public protocol TransactionRecorder: AnyObject {
    /// - Parameters:
    ///   - revision: the transaction's; that of the one before for reports that made none.
    ///   - author: nil: the daemon itself.
    ///   - animation: as the client has written it.
    func begin(_ revision: UInt64, at time: Moment, _ author: Author?, _ label: String?, _ animation: Value?)
    /// A state was written. `StoreFeed` has its place and its value.
    /// - Parameter isReaction: nobody has asked for it: a reaction has, or the time.
    func write(_ state: AttributeID, isReaction: Bool)
    /// A row has changed: of structure, or of a state that has begun or moved.
    func add(_ change: StoreChange)
    /// A write that somebody heard of although the value may have stayed.
    func add(_ report: KeptReport)
    /// The bytes of the present value of a state that the turn has written, as `appendCompact` makes them; nil: it has
    /// none. They are valid until the recorder is told of something else.
    func bytes(of state: AttributeID) -> UnsafeBufferPointer<UInt8>?
}
