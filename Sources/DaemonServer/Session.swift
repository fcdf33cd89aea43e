import AttributeValues
import EventLoop
import GraphRuntime
import Logging
import WireProtocol

/// One client: its unprocessed input, its unwritten output, and its state.
///
/// Bytes arrive and leave through `Session+Connection`; the turn takes calls out (`Session+Calls`) and puts replies and
/// events in (`Outbox`).
final class Session {
    let id: ClientID
    let peer: Peer
    let connection: Connection
    unowned(unsafe) let sessions: Sessions
    /// Shared with the other connections of the client's process.
    let debt: Debt

    // Input.
    var input: InputBuffer
    var share: RequestShare
    /// The fault of a line that was too long, to be told after the replies to the lines before it.
    var owedFault: RequestFault?
    /// No more will be read.
    var hasEnded = false
    /// The turn in which the client last used its own portion, after the bytes that all clients share were used up.
    var turnOfPortion: UInt64 = 0
    /// In the list of sessions with input.
    var isReady = false
    /// Commands that a turn had no time for.
    private var postponed: [Command] = []
    /// The first postponed command waits for another client.
    var isParked = false

    // Output.
    var output: ClientOutput
    /// In the list of sessions with output.
    var isTouched = false
    /// The runtime has been told that the client does not keep up.
    var isBehind = false
    /// When the client last read a byte, or was not behind; on the monotonic clock.
    var lastProgress: Double
    /// The bytes in libuv and the kernel at the last check. If they have become fewer, the client reads.
    var lastUntaken = 0
    /// The connection is being closed.
    var isClosing = false
    /// Writing has failed.
    var isBroken = false

    init(
        id: ClientID, peer: Peer, connection: Connection, sessions: Sessions, debt: Debt, standing: Standing,
        now: Double
    ) {
        self.id = id
        self.peer = peer
        self.connection = connection
        self.sessions = sessions
        self.debt = debt
        input = InputBuffer(pool: sessions.pool, user: peer.uid)
        share = RequestShare(standing)
        output = ClientOutput(sessions.output)
        lastProgress = now
    }

    /// Bytes that the client could read and has not read.
    var untaken: Int { output.count + connection.pendingBytes }

    /// The same with the answers of an unfinished batch, which the client can read only when it is complete.
    var waiting: Int { untaken + output.batchBytes }

    var standing: Standing { share.standing }

    var hasPostponed: Bool { !postponed.isEmpty }

    /// True if received requests of the client have not been performed.
    var hasRequests: Bool { input.hasLine || hasPostponed || owedFault != nil }

    func postpone(_ call: Command) {
        postponed.append(call)
        share.note(requests: -1)
    }

    func takePostponed() -> [Command] {
        defer { postponed = [] }
        return postponed
    }

    /// For the log.
    var name: String { "client \(id.number) (pid \(peer.pid), uid \(peer.uid))" }

    /// The log's fields about the client.
    var details: Logger.Metadata { ["client": "\(id.number)", "pid": "\(peer.pid)", "uid": "\(peer.uid)"] }
}
