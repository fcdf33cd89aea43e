import AttributeValues
import EventLoop
import GraphRuntime
import Logging
import WireProtocol

/// One client: what it has sent and is not read yet, what it is still owed, and what it has not taken yet.
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

    // What came in.
    var input: InputBuffer
    /// A line that is too long passes by: its bytes are dropped up to the next newline.
    var isDiscarding = false
    /// The client has yet to be told so, behind the replies to the lines before.
    var owedFault: RequestFault?
    /// Nothing more will be read.
    var hasEnded = false
    /// The turn in which the client last read its portion beyond the room that all share.
    var turnOfPortion: UInt64 = 0
    /// Stands in the list of sessions with something to read.
    var isReady = false
    /// Calls that a turn had no time for.
    private var postponed: [Command] = []
    /// The first of them waits for another client.
    var isParked = false
    /// Calls of this turn.
    var callsTaken = 0
    /// The client has a right of some kind. One without any is read in small portions: it can ask for nothing long.
    var hasRights = true
    /// Bytes of an answer, estimated.
    var answerSize = InputBlock.smallest

    // What goes out.
    var replies = PendingReplies()
    var output: OutputQueue
    /// Bytes outside of the queue's runs that the ledger of all output holds for this client.
    private var counted = 0
    /// Stands in the list of sessions with something to write.
    var isTouched = false
    /// `output.count` when this turn began to write.
    var outputBefore = 0
    /// The runtime knows that the client does not keep up.
    var isBehind = false
    /// When the client last took a byte, or was not behind; on the monotonic clock.
    var lastProgress: Double
    /// What libuv and the kernel held at the last look, to see it shrink.
    var lastUntaken = 0
    /// The connection is being closed.
    var isClosing = false
    /// Nothing can be written any more.
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

    /// Bytes that the client could take and has not.
    var untaken: Int { output.count + connection.pendingBytes }

    /// The same with the answers to a batch, which the client can only take when all of it is answered.
    var waiting: Int { untaken + replies.heldBytes }

    /// Has what was written for the client counted among the output of all.
    func count() {
        let now = output.uncounted + replies.heldBytes
        if now != counted { sessions.output.add(now - counted) }
        counted = now
    }

    /// Forgets what the client is owed.
    func dropOutput() {
        output.removeAll()
        replies = PendingReplies()
        count()
    }

    var hasPostponed: Bool { !postponed.isEmpty }

    /// Requests of the client have been received that no turn has performed.
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
