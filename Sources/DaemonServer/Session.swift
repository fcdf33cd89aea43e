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
    /// The present line is too long: its bytes are dropped up to the next newline.
    var isDiscarding = false
    /// The fault of the dropped line, to be told after the replies to the lines before it.
    var owedFault: RequestFault?
    /// No more will be read.
    var hasEnded = false
    /// The turn in which the client last used its own portion, after the room that all clients share was used up.
    var turnOfPortion: UInt64 = 0
    /// In the list of sessions with input.
    var isReady = false
    /// Commands that a turn had no time for.
    private var postponed: [Command] = []
    /// The first postponed command waits for another client.
    var isParked = false
    /// The number of calls in this turn.
    var callsTaken = 0
    /// The client has some right. The input of a client without any right is read in small portions, because its
    /// requests are short.
    var hasRights = true
    /// The estimated size of an answer in bytes.
    var answerSize = InputBlock.smallest

    // Output.
    var replies = PendingReplies()
    var output: OutputQueue
    /// Bytes outside of the queue's runs that the ledger of all output counts for this client.
    private var counted = 0
    /// In the list of sessions with output.
    var isTouched = false
    /// `output.count` when this turn began to add output.
    var outputBefore = 0
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

    init(id: ClientID, peer: Peer, connection: Connection, sessions: Sessions, debt: Debt, now: Double) {
        self.id = id
        self.peer = peer
        self.connection = connection
        self.sessions = sessions
        self.debt = debt
        input = InputBuffer(pool: sessions.pool)
        output = OutputQueue(sessions.output)
        lastProgress = now
    }

    /// Bytes that the client could read and has not read.
    var untaken: Int { output.count + connection.pendingBytes }

    /// The same with the answers of an unfinished batch, which the client can read only when it is complete.
    var waiting: Int { untaken + replies.heldBytes }

    func updateLedger() {
        let now = output.uncounted + replies.heldBytes
        if now != counted { sessions.output.add(now - counted) }
        counted = now
    }

    func dropOutput() {
        output.removeAll()
        replies = PendingReplies()
        updateLedger()
    }

    var hasPostponed: Bool { !postponed.isEmpty }

    /// True if received requests of the client have not been performed.
    var hasRequests: Bool { input.hasLine || hasPostponed || owedFault != nil }

    func postpone(_ call: Command) {
        postponed.append(call)
        callsTaken -= 1
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
