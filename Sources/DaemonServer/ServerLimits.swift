import AttributeValues
import WireProtocol

/// Limits for clients of the server around the graph. Sizes in bytes, times in seconds; `config/agd.conf` gives the
/// reasons.
public struct ServerLimits: Equatable {
    public var clients = 1000
    public var messageSize = 16 << 20
    /// Values in one message, including keys of objects.
    public var messageValues = RequestDecoder.defaultMaximumValues
    /// Unread bytes of all clients together.
    public var inputTotal = 256 << 20
    public var nesting = JSONParser.defaultDepth
    public var batchCalls = RequestDecoder.defaultMaximumBatch
    public var requestsPerTurn = 256
    /// A client with more waiting output counts as behind: its news is conflated and its requests wait.
    public var outputQueue = 1 << 20
    /// A client with more waiting output is disconnected when there is still more to send.
    public var outputMaximum = 64 << 20
    /// Waiting output of all clients together.
    public var outputTotal = 256 << 20
    /// A client that is behind is disconnected when it has read nothing for this long.
    public var stallTime = 30.0
    /// How long a stopping daemon waits until its clients have read their output.
    public var shutdownTime = 5.0

    public init() {}
}
