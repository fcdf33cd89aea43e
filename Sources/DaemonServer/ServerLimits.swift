import AttributeValues
import WireProtocol

/// What clients may ask of the daemon's shell. Sizes in bytes, times in seconds; `config/agd.conf` gives the reasons.
public struct ServerLimits: Equatable {
    public var clients = 1000
    public var messageSize = 16 << 20
    /// Values in one message, keys of objects counted too.
    public var messageValues = RequestDecoder.defaultMaximumValues
    /// Unread bytes of all clients together.
    public var inputTotal = 256 << 20
    public var nesting = JSONParser.defaultDepth
    public var batchCalls = RequestDecoder.defaultMaximumBatch
    public var requestsPerTurn = 256
    /// Waiting output from which a client counts as behind: its news is conflated and its requests wait.
    public var outputQueue = 1 << 20
    /// Waiting output at which a client is disconnected when there is still more to say.
    public var outputMaximum = 64 << 20
    /// Waiting output of all clients together.
    public var outputTotal = 256 << 20
    /// How long a client that is behind may take nothing at all before it is disconnected.
    public var stallTime = 30.0
    /// How long a stopping daemon waits for its clients to take what is theirs.
    public var shutdownTime = 5.0

    public init() {}
}
